#include "Commands.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace dlc::tool {

namespace {

StatusOr<std::string> readText(const std::string &path) {
  if (!std::filesystem::is_regular_file(path))
    return Status(StatusCode::InvalidInput, path + ": expected a file with MLIR text, found none");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad())
    return Status(StatusCode::InvalidInput, path + ": cannot be read");
  return text;
}

Status writeText(const std::string &path, const std::string &text) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : Status(StatusCode::InvalidInput, path + ": cannot be written");
}

codegen::Emit stageOf(const std::string &name) {
  using codegen::Emit;
  constexpr std::array<std::pair<const char *, Emit>, 7> kStages = {{{"dl", Emit::Dl},
                                                                     {"fused", Emit::Fused},
                                                                     {"rt", Emit::Rt},
                                                                     {"llvm", Emit::Llvm},
                                                                     {"asm", Emit::Asm},
                                                                     {"obj", Emit::Obj},
                                                                     {"so", Emit::So}}};
  for (auto [stage, value] : kStages)
    if (name == stage)
      return value;
  return Emit::So;
}

} // namespace

Status compile(const CompileArguments &arguments) {
  StatusOr<std::string> text = readText(arguments.module);
  if (!text.ok())
    return text.status();
  codegen::CompileOptions options = arguments.options;
  options.print = [](std::string_view pass, std::string_view module) {
    fmt::print(stderr, "// -----// after {} //----- //\n{}\n", pass, module);
  };
  codegen::Emit stage = stageOf(arguments.emit);
  if (stage != codegen::Emit::So) {
    StatusOr<std::string> result = codegen::emit(*text, arguments.module, stage, options);
    return result.ok() ? writeText(arguments.output, *result) : result.status();
  }
  StatusOr<std::unique_ptr<codegen::CompiledModule>> compiled = codegen::compile(*text, arguments.module, options);
  return compiled.ok() ? (*compiled)->writeArtifact(arguments.output) : compiled.status();
}

} // namespace dlc::tool
