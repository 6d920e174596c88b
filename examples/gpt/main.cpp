// Trains a small GPT on the characters of a text, and writes some.
#include "Gpt.h"
#include "Progress.h"
#include "Text.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <random>

using namespace dlc;

namespace {

struct Options {
  std::string text = "/usr/share/common-licenses", output;
  int64_t steps = 1000, batch = 16, characters = 300;
  uint64_t seed = 0;
  std::string amp = "off", device = "cpu";
  double rate = 1e-3;
  double megabytes = 0; // of intermediate values; 0: as many as it takes
};

/// Of a batch of logits [N, T, vocabulary]; in nats a character.
Tensor lossOf(const Tensor &logits, const Tensor &next) {
  return nn::cross_entropy(logits.flatten(0, 1), next.flatten());
}

/// Mean over the validation part.
double validate(Gpt &model, const Text &text, int64_t batch, Device device) {
  auto evaluate = jit([&](Tensor x, Tensor y) {
    NoGrad off;
    return lossOf(model(x), y);
  });
  double sum = 0;
  auto batches = text.validation(batch, model.sizes.context);
  for (const auto &[x, y] : batches)
    sum += evaluate(x.to(device), y.to(device)).item();
  return sum / double(batches.size());
}

/// Draws one character after the other.
std::string write(Gpt &model, const Text &text, int64_t count, uint64_t seed, Device device) {
  auto next = jit([&](Tensor x) {
    NoGrad off;
    return softmax(model(x)[0][-1] * 1.25, 0); // a little bolder than it learnt
  });
  std::mt19937_64 random(seed);
  std::vector<int64_t> written(size_t(model.sizes.context), text.encode(" ")[0]);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> seen(written.end() - model.sizes.context, written.end());
    std::vector<double> chances = next(tensor(seen, {1, model.sizes.context}).to(device)).to_vector<double>();
    written.push_back(std::discrete_distribution<int64_t>(chances.begin(), chances.end())(random));
  }
  return text.decode({written.begin() + model.sizes.context, written.end()});
}

void run(const Options &options) {
  Text text(options.text);
  manual_seed(options.seed);
  Device device(options.device);
  Gpt model({.vocabulary = text.vocabulary()});
  model.to(device);
  optim::AdamW optimizer(model.parameters(), {.lr = options.rate});
  DType dtype = options.amp == "fp16" ? f16 : bf16;
  GradScaler scaler({.enabled = options.amp == "fp16"}); // bf16 has the range of f32
  auto train = [&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      Autocast scope(dtype, options.amp != "off");
      loss = lossOf(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    return loss;
  };
  auto step = jit(train, {.activation_budget = int64_t(options.megabytes * 1e6)});
  std::printf("GPT of %lld layers, %lld wide, on %s: %lld characters known\n", (long long)model.sizes.layers,
              (long long)model.sizes.width, options.text.c_str(), (long long)text.vocabulary());
  Progress progress(options.steps, options.steps * options.batch);
  for (int64_t i = 0; i < options.steps; ++i) {
    auto [x, y] = text.batch(options.batch, model.sizes.context, options.seed << 32 | uint64_t(i));
    progress.update(step(x.to(device), y.to(device)).item(), options.batch);
  }
  progress.clear();
  std::printf("%lld steps in %.1f s, with %.1f MB of intermediate values; validation loss %.5f nats a character\n",
              (long long)options.steps, progress.seconds(), double(step.report().activation_bytes) / 1e6,
              validate(model, text, options.batch, device));
  if (!options.output.empty())
    save(model.state_dict(), options.output);
  if (options.characters > 0)
    std::printf("\n%s\n", write(model, text, options.characters, options.seed, device).c_str());
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Trains a small GPT (4 layers, 128 wide, 128 characters of context) on a text and writes some.");
  app.add_option("--text", options.text, "a text file, or a folder of them")->capture_default_str();
  app.add_option("--steps", options.steps)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "pieces of text a step")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", options.rate, "learning rate of AdamW")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--amp", options.amp, "16-bit type of products: bf16, fp16 or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "fp16", "off"}));
  app.add_option("--activation-budget", options.megabytes,
                 "MB of intermediate values; what does not fit is computed again, with the same result")
      ->check(CLI::PositiveNumber);
  app.add_option("--device", options.device, "cpu, or one that `dlc devices` lists")->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, batches and what is written")->capture_default_str();
  app.add_option("--characters", options.characters, "to write in the end")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--output", options.output, "file for the trained weights (.safetensors)");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
