// Every op's value and gradient on the device, against what the reference evaluator gave in double when the bundle was
// made; each case twice, for the same bits.
#include "HostBuffer.h"
#include "Parts.h"

#include "Agrees.h"
#include "dlc/runtime/Float16.h"
#include "dlc/runtime/Session.h"

#include <cstring>
#include <map>

namespace dlc::gpucheck {

namespace {

template <typename T>
double elementOf(const char *from, int64_t i) {
  T value;
  std::memcpy(&value, from + i * int64_t(sizeof(T)), sizeof(T));
  return double(value);
}

double elementOf(DType dtype, const char *from, int64_t i) {
  switch (dtype) {
  case DType::F64:
    return elementOf<double>(from, i);
  case DType::F32:
    return elementOf<float>(from, i);
  case DType::F16:
    return double(float(elementOf<Float16>(from, i)));
  case DType::BF16:
    return double(float(elementOf<BFloat16>(from, i)));
  case DType::I64:
    return double(elementOf<int64_t>(from, i));
  case DType::I32:
    return elementOf<int32_t>(from, i);
  case DType::I8:
  case DType::I1:
    return elementOf<int8_t>(from, i);
  }
  return 0;
}

/// The cases of one op.
class OpCases {
public:
  static StatusOr<OpCases> load(const Context &context, const std::string &op);

  /// Runs them all.
  Row run(const std::string &op);

private:
  Status runCase(size_t entry);
  Status call(size_t entry, std::map<std::string, HostBuffer> &found);
  Status compare(const std::string &name, DType dtype, const HostBuffer &found);

  DeviceId device;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<Safetensors> file;
  Json tolerances;
  std::unique_ptr<Session> session;
  std::shared_ptr<Session::Program> program;
  double worst = 0;
};

StatusOr<OpCases> OpCases::load(const Context &context, const std::string &op) {
  OpCases cases;
  auto executable = Executable::load(context.path("ops/" + op + ".so"));
  auto file = Safetensors::open(context.path("ops/" + op + ".safetensors"));
  if (!executable.ok() || !file.ok())
    return executable.ok() ? file.status() : executable.status();
  cases.device = context.device;
  cases.executable = *executable;
  cases.file = std::make_shared<Safetensors>(*file);
  auto tolerances = file->metadata().find("tolerances");
  if (tolerances != file->metadata().end())
    cases.tolerances = Json::parse(tolerances->second, nullptr, false);
  return cases;
}

Status OpCases::compare(const std::string &name, DType dtype, const HostBuffer &found) {
  const TensorView *expected = file->find(name);
  if (!expected || !tolerances.contains(name))
    return {StatusCode::InvalidInput, "the bundle does not say what " + name + " is"};
  double tolerance = tolerances[name].get<double>();
  int64_t count = found.bytes() / byteSize(dtype);
  if (*denseByteSize(expected->dtype, expected->shape) != count * byteSize(expected->dtype))
    return {StatusCode::InvalidInput, name + " has another size in the bundle"};
  for (int64_t i = 0; i < count; ++i) {
    double wanted = elementOf(expected->dtype, static_cast<const char *>(expected->data), i),
           got = elementOf(dtype, found.data(), i),
           ratio = isFloat(dtype) ? check::difference(wanted, got, tolerance) : (wanted == got ? 0 : HUGE_VAL);
    worst = std::max(worst, ratio);
    if (ratio > 1)
      return {StatusCode::Internal, name + " at element " + std::to_string(i) + ": expected " + std::to_string(wanted) +
                                        ", got " + std::to_string(got)};
  }
  return {};
}

Status OpCases::call(size_t entry, std::map<std::string, HostBuffer> &found) {
  const EntryInfo &info = executable->manifest().entries[entry];
  for (const auto &[name, variable] : session->variables())
    if (const TensorView *state = file->find(info.name + "/state/" + name)) {
      std::span<const std::byte> bytes(static_cast<const std::byte *>(state->data),
                                       size_t(*denseByteSize(state->dtype, state->shape)));
      if (Status status = session->write(name, bytes); !status.ok())
        return status;
    }
  std::vector<HostBuffer> arguments;
  std::vector<DlcBuffer> argumentViews, resultViews;
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    const TensorView *given = file->find(info.name + "/argument/" + std::to_string(i));
    HostBuffer &buffer = arguments.emplace_back(given ? *denseByteSize(given->dtype, given->shape) : 0);
    if (given)
      std::memcpy(buffer.data(), given->data, size_t(buffer.bytes()));
    argumentViews.push_back(buffer.view());
  }
  for (size_t i = 0; i < info.results.size(); ++i) {
    const TensorType &type = info.results[i].type;
    HostBuffer buffer(type.elements() * byteSize(type.dtype));
    resultViews.push_back(buffer.view());
    found.insert_or_assign(info.name + "/result/" + std::to_string(i), std::move(buffer));
  }
  if (Status status = program->call(entry, argumentViews, resultViews); !status.ok())
    return status;
  for (const auto &[name, variable] : session->variables())
    if (file->find(info.name + "/after/" + name)) {
      HostBuffer buffer(variable.type.elements() * byteSize(variable.type.dtype));
      if (Status status = session->read(name, buffer.span()); !status.ok())
        return status;
      found.insert_or_assign(info.name + "/after/" + name, std::move(buffer));
    }
  return {};
}

Status OpCases::runCase(size_t entry) {
  if (!session) {
    auto created = Session::create({.threads = 1, .device = device});
    if (!created.ok())
      return created.status();
    session = created.take();
    auto attached = session->attach(executable);
    if (!attached.ok())
      return attached.status();
    program = *attached;
  }
  const EntryInfo &info = executable->manifest().entries[entry];
  std::map<std::string, HostBuffer> first, second;
  for (auto *found : {&first, &second})
    if (Status status = call(entry, *found); !status.ok())
      return status;
  for (const auto &[name, found] : first) {
    const Session::Variable *variable = session->find(name.substr(info.name.size() + strlen("/after/")));
    bool isResult = name.starts_with(info.name + "/result/");
    DType dtype =
        isResult ? info.results[size_t(std::strtol(name.c_str() + info.name.size() + strlen("/result/"), nullptr, 10))]
                       .type.dtype
                 : variable->type.dtype;
    if (Status status = compare(name, dtype, found); !status.ok())
      return status;
    if (std::memcmp(found.data(), second.at(name).data(), size_t(found.bytes())) != 0)
      return {StatusCode::Internal, name + ": two runs differ"};
  }
  return {};
}

Row OpCases::run(const std::string &op) {
  Row row{op};
  int failed = 0;
  size_t count = executable->manifest().entries.size();
  for (size_t entry = 0; entry < count; ++entry) {
    Status status = runCase(entry);
    if (status.ok())
      continue;
    ++failed;
    row.ok = false;
    if (row.message.empty())
      row.message = executable->manifest().entries[entry].name + ": " + status.message();
    program.reset(); // the next case begins with memory of its own
    session.reset();
    if (auto opened = runtime::Device::open(device); opened.ok() && !(*opened)->failure().ok())
      break;
  }
  row.values = {{"cases", count}, {"worst", worst}};
  if (failed)
    row.values["failed"] = failed;
  return row;
}

} // namespace

Status checkOps(const Context &context) {
  Json ops = context.plan.value("ops", Json::array());
  forEachItem(context, ops, [&](size_t index) {
    std::string op = ops[index].get<std::string>();
    if (op.ends_with(".library") && !hasLibraries(context))
      return report({op, true, "not run: cuBLASLt or cuDNN is not here"});
    StatusOr<OpCases> cases = OpCases::load(context, op);
    report(cases.ok() ? cases->run(op) : Row{op, false, cases.status().message()});
  });
  return {};
}

} // namespace dlc::gpucheck
