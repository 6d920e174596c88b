// Trains a small convolutional network on handwritten digits and shows what the compiler did on the way.
#include "LineChart.h"
#include "Training.h"

#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Npy.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

struct Options {
  std::string data = DIGITS_DATA, output = ".", device = "cpu";
  int epochs = 40;
};

/// Whether the text is a whole number above 0.
bool readCount(const std::string &text, int &count) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--data" && i + 1 < argc) {
      options.data = argv[++i];
    } else if (flag == "--output" && i + 1 < argc) {
      options.output = argv[++i];
    } else if (flag == "--device" && i + 1 < argc) {
      options.device = argv[++i];
    } else if (flag == "--epochs" && i + 1 < argc && readCount(argv[i + 1], options.epochs)) {
      ++i;
    } else {
      std::fprintf(stderr,
                   "usage: digits [--data digits.csv.gz] [--output FOLDER] [--epochs N] [--device cpu|sim:N|cuda:N]\n");
      std::exit(2);
    }
  }
  return options;
}

void check(const dlc::Status &status) {
  if (!status.ok())
    throw std::runtime_error(status.message());
}

void writeChart(const Training &training, const std::string &path) {
  LineChart chart{"SimpleCNN on handwritten digits", "step", "training loss", {}};
  LineChart::Series steps{"each step", "#9ecae1", 1, {}}, means{"mean of an epoch", "#d62728", 2, {}};
  for (size_t i = 0; i < training.losses.size(); ++i)
    steps.points.emplace_back(double(i + 1), training.losses[i]);
  double perEpoch = double(training.losses.size()) / double(training.epochReports.size());
  for (const auto &report : training.epochReports)
    means.points.emplace_back((report.epoch - 0.5) * perEpoch, report.loss);
  chart.series = {steps, means};
  std::ofstream file(path);
  file << chart.svg();
  file.close();
  check(file ? dlc::Status() : dlc::Status(dlc::StatusCode::InvalidInput, path + ": cannot be written"));
}

/// Saves what a program would go on with: state, predictions, chart, and the step as an artifact.
void writeFiles(Training &training, const std::string &folder) {
  dlc::StateDict state = training.model.state_dict();
  state.merge(training.optimizer.state_dict());
  dlc::save(state, folder + "/checkpoint.safetensors");
  std::vector<int64_t> predictions = training.predictions();
  check(dlc::writeNpy(folder + "/predictions.npy",
                      {"", dlc::DType::I64, {int64_t(predictions.size())}, predictions.data()}));
  writeChart(training, folder + "/loss.svg");
  dlc::save_artifact(folder + "/digits.so", {{"train_step", training.step}, {"predict", training.predict}});
  std::printf("\nwritten to %s: checkpoint.safetensors, predictions.npy, loss.svg, digits.so\n", folder.c_str());
}

void reportCompiler(const Training &training, const std::string &artifact) {
  dlc::JitReport report = training.step.report();
  std::printf("\ntracing %.2f ms, compiling %.0f ms, first step in all %.0f ms, then %.2f ms a step\n",
              report.trace_seconds * 1e3, report.compile_seconds * 1e3, training.firstStepSeconds * 1e3,
              training.medianStepSeconds * 1e3);
  auto manifest = dlc::readManifest(artifact);
  check(manifest.status());
  for (const dlc::EntryInfo &entry : manifest->entries)
    std::printf("planned peak memory of %s: %.2f MiB\n", entry.name.c_str(), double(entry.peak) / (1 << 20));
}

void run(const Options &options) {
  std::filesystem::create_directories(options.output); // before training: what cannot be written is known now
  dlc::Device device(options.device);
  std::printf("SimpleCNN on the UCI handwritten digits, on %s; test: samples whose index mod 5 is 4\n",
              device.str().c_str());
  Training training(dlc::load_digits(options.data), options.epochs, device);
  training.run();
  writeFiles(training, options.output);
  reportCompiler(training, options.output + "/digits.so");

  std::printf("\nthe harder split; test: the last fifth, other writers\n");
  dlc::manual_seed(0);
  Training harder(dlc::load_digits(options.data, dlc::DigitsSplit::LastFifth), options.epochs, device);
  harder.run();
  std::printf("\ntest accuracy on the last fifth %.4f\n", harder.accuracy());
  std::printf("test accuracy %.4f\n", training.accuracy());
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
