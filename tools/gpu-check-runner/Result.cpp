#include "Result.h"

#include "Choices.h"
#include "Clock.h"

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace dlc::gpucheck {

namespace {

std::string today() {
  std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

/// "nvidia-h200", for a file's name.
std::string slug(const std::string &name) {
  std::string text;
  for (char c : name) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      text += char(std::tolower(static_cast<unsigned char>(c)));
    else if (!text.empty() && text.back() != '-')
      text += '-';
  }
  return text.substr(0, text.find_last_not_of('-') + 1);
}

/// "12.5", "cubin for sm_90".
std::string shown(const Json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (!value.is_number_float())
    return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value.get<double>());
  return text;
}

} // namespace

Result::Result(std::string path, const Json &plan) : path(std::move(path)), terminal(::isatty(STDOUT_FILENO) != 0) {
  document = {
      {"format", 1}, {"date", today()},       {"dlc", plan.value("dlc", "")}, {"fake", plan.contains("library")},
      {"ok", false}, {"parts", Json::array()}};
}

void Result::beginPart(const Part &part) {
  partBegan = now();
  document["parts"].push_back(
      {{"name", part.name}, {"state", "runs"}, {"checks", 0}, {"failed", 0}, {"rows", Json::array()}});
  std::printf("%zu/%zu %s: %s\n", document["parts"].size(), parts().size(), part.name, part.title);
  std::fflush(stdout);
}

void Result::progress(const std::string &item) {
  if (!terminal)
    return;
  std::printf("\r\033[K  … %.70s", item.c_str());
  std::fflush(stdout);
}

void Result::add(const Json &row) {
  Json &part = document["parts"].back();
  bool ok = row.value("ok", false);
  part["rows"].push_back(row);
  part["checks"] = part["checks"].get<int>() + 1;
  part["failed"] = part["failed"].get<int>() + (ok ? 0 : 1);
  std::string values;
  Json found = row.value("values", Json::object());
  for (const auto &[key, value] : found.items())
    values += (values.empty() ? "" : ", ") + key + " " + shown(value);
  std::printf("%s  %-4s  %-28s %s%s%s\n", terminal ? "\r\033[K" : "", ok ? "ok" : "FAIL", row.value("name", "").c_str(),
              values.c_str(), values.empty() || !row.contains("message") ? "" : "; ", row.value("message", "").c_str());
  std::fflush(stdout);
}

void Result::endPart(const std::string &state, const std::string &message) {
  Json &part = document["parts"].back();
  part["state"] = state;
  part["seconds"] = now() - partBegan;
  if (!message.empty())
    part["message"] = message;
  std::printf("%s  %s: %d of %d right, %.1f s%s%s\n", terminal ? "\r\033[K" : "", state.c_str(),
              part["checks"].get<int>() - part["failed"].get<int>(), part["checks"].get<int>(),
              part["seconds"].get<double>(), message.empty() ? "" : "; ", message.c_str());
  std::fflush(stdout);
  write();
}

void Result::addChoices() {
  const Json *device = find("device", "device");
  int capability = device ? (*device)["values"].value("capability", 0) : 0;
  Json &part = document["parts"].back();
  std::vector<std::string> lines = choiceLines(part["rows"], "sm_" + std::to_string(capability));
  if (lines.empty())
    return;
  part["choices"] = lines;
  std::printf("  for codegen/library/Choices.inc:\n");
  for (const std::string &line : lines)
    std::printf("  %s\n", line.c_str());
}

const Json *Result::find(const std::string &part, const std::string &row) const {
  for (const Json &each : document["parts"])
    if (each["name"] == part)
      for (const Json &found : each["rows"])
        if (found["name"] == row)
          return &found;
  return nullptr;
}

bool Result::finish() {
  bool ok = true;
  std::printf("\n%-14s %-10s %7s %7s %8s\n", "part", "state", "checks", "failed", "seconds");
  for (const Json &part : document["parts"]) {
    ok = ok && part["state"] == "ok";
    std::printf("%-14s %-10s %7d %7d %8.1f\n", part["name"].get<std::string>().c_str(),
                part["state"].get<std::string>().c_str(), part["checks"].get<int>(), part["failed"].get<int>(),
                part["seconds"].get<double>());
  }
  document["ok"] = ok;
  write();
  std::printf("%s; %s\n", ok ? "all right" : "NOT all right", path.c_str());
  return ok;
}

void Result::write() {
  if (path.empty()) {
    const Json *device = find("device", "device");
    path =
        "gpu-check-" + (device ? slug((*device)["values"].value("name", "unknown")) : std::string("unknown")) + ".json";
  }
  // What is no file (/dev/null) is written into; it must not become one.
  bool isDevice = std::filesystem::exists(path) && !std::filesystem::is_regular_file(path);
  std::string written = isDevice ? path : path + ".new";
  std::ofstream(written) << document.dump(1) << "\n";
  if (!isDevice && std::rename(written.c_str(), path.c_str()) != 0)
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
}

} // namespace dlc::gpucheck
