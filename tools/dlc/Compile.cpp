#include "Commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace dlc::tool {

StatusOr<std::string> readText(const std::string &path) {
  if (!std::filesystem::is_regular_file(path))
    return Status(StatusCode::InvalidInput, path + ": expected a file with MLIR text, found none");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad())
    return Status(StatusCode::InvalidInput, path + ": cannot be read");
  return text;
}

namespace {

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

constexpr std::pair<const char *, codegen::Emit> kStages[] = {
    {"dl", codegen::Emit::Dl},   {"local", codegen::Emit::Local}, {"fused", codegen::Emit::Fused},
    {"rt", codegen::Emit::Rt},   {"llvm", codegen::Emit::Llvm},   {"asm", codegen::Emit::Asm},
    {"obj", codegen::Emit::Obj}, {"gpu", codegen::Emit::Gpu},     {"nvvm", codegen::Emit::Nvvm},
    {"ptx", codegen::Emit::Ptx}, {"cubin", codegen::Emit::Cubin}, {"kernel-report", codegen::Emit::KernelReport},
    {"so", codegen::Emit::So}};

codegen::Emit stageOf(const std::string &name) {
  for (auto [stage, value] : kStages)
    if (name == stage)
      return value;
  return codegen::Emit::So;
}

/// "data=4,model=2", or with another sign between name and number.
Status readAxes(const std::string &text, char sign, const std::string &option,
                std::vector<std::pair<std::string, int64_t>> &axes) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string axis = text.substr(begin, end - begin);
    size_t equals = axis.find(sign);
    int64_t size = 0;
    const char *last = axis.data() + axis.size();
    auto [rest, error] = std::from_chars(equals == std::string::npos ? last : axis.data() + equals + 1, last, size);
    if (equals == 0 || error != std::errc() || rest != last || size < 1)
      return {StatusCode::InvalidInput, option + ", got '" + axis + "'"};
    axes.emplace_back(axis.substr(0, equals), size);
    begin = end + 1;
  }
  return {};
}

} // namespace

std::vector<std::string> emitStages() {
  std::vector<std::string> names;
  for (auto [stage, value] : kStages)
    names.emplace_back(stage);
  return names;
}

Status compile(const CompileArguments &arguments) {
  StatusOr<std::string> text = readText(arguments.module);
  if (!text.ok())
    return text.status();
  codegen::CompileOptions options = arguments.options;
  Status status = readAxes(arguments.mesh, '=', "--mesh: expected axis=members", options.mesh);
  if (status.ok())
    status = readAxes(arguments.invariant, ':', "--invariant: expected axis:leaves", options.leaves);
  if (status.ok() && options.mesh.empty() && !options.leaves.empty())
    status = {StatusCode::InvalidInput, "--invariant: expects --mesh, which says how many members there are"};
  if (!status.ok())
    return status;
  options.bucketBytes = int64_t(arguments.bucketMegabytes * 1e6);
  options.remark = [](std::string_view text) { fmt::print(stderr, "{}", text); };
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
