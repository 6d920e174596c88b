#include "jit/FunctionState.h"
#include "record/Variable.h"

#include <cctype>
#include <cstring>
#include <map>
#include <set>

namespace dlc {

using detail::Entry;
using detail::FunctionState;
using record::fail;

namespace {

bool isName(const std::string &name) {
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  if (name.empty() || !letter(name[0]))
    return false;
  for (char c : name)
    if (!letter(c) && !std::isdigit(static_cast<unsigned char>(c)))
      return false;
  return true;
}

/// Elements as an MLIR attribute with the bytes in hexadecimal.
std::string denseText(trace::TypeRef type, const void *data) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string text = "dense<\"0x";
  const auto *bytes = static_cast<const unsigned char *>(data);
  for (int64_t i = 0; i < type->bytes; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  text += "\"> : tensor<";
  for (int64_t extent : type->shape)
    text += std::to_string(extent) + "x";
  return text + std::string(name(type->dtype)) + ">";
}

/// Program of an entry with the names users know, its captured tensors as variables.
class Exporter {
public:
  explicit Exporter(Where where) : where(where) {}

  trace::Program operator()(const std::string &entryName, const FunctionState &function) {
    if (!isName(entryName))
      fail(ErrorKind::Jit, "save_artifact: '" + entryName + "' is no name of an entry; expected [A-Za-z_][A-Za-z0-9_]*",
           where);
    const Entry *entry = function.entries.empty() ? nullptr : function.entries.back().get();
    if (!entry)
      fail(ErrorKind::Jit, "save_artifact: " + entryName + " has no signature; call it once before", where);
    if (entry->retraced)
      fail(ErrorKind::Jit, "save_artifact: " + entryName + " is traced again at every call and has no compiled form",
           where);
    trace::Program program = entry->program;
    program.layouts.clear(); // of one device; `dlc compile --mesh` makes one for several
    program.members = {};
    program.name = entryName;
    nameValues(program, *entry, function.options);
    for (size_t i = 0; i < program.variables.size(); ++i)
      nameVariable(program.variables[i], *entry->graph.variables[i]);
    moveCaptured(program, *entry);
    return program;
  }

private:
  void nameValues(trace::Program &program, const Entry &entry, const JitOptions &options) {
    for (size_t i = 0; i < entry.signature.types.size(); ++i)
      program.inputNames.push_back(i < options.inputs.size() ? options.inputs[i] : "arg" + std::to_string(i));
    for (size_t i = 0; i < program.outputs.size(); ++i)
      program.outputNames.push_back(i < options.outputs.size() ? options.outputs[i] : "out" + std::to_string(i));
  }

  void nameVariable(trace::VariableUse &use, record::Variable &variable) {
    use.name = variable.name();
    auto [known, isNew] = names.try_emplace(use.name, &variable);
    if (!isNew && known->second != &variable)
      fail(ErrorKind::Jit,
           "two variables are named " + use.name + " (" + record::brief({known->second->where, nullptr}) + ", " +
               record::brief({variable.where, nullptr}) + "); call set_name() on one model",
           where);
    if (!variable.pristine || variable.seed != 0)
      use.init = denseText(variable.type, hostData(*variable.place, variable.data(), variable.type->bytes));
    use.arena.clear(); // the artifact has a layout of its own
  }

  /// The generator, as it is now.
  static trace::VariableUse randomVariable(bool isOffset, trace::TypeRef type) {
    auto [seed, next] = record::randomState();
    return {
        isOffset ? "rng.offset" : "rng.seed", type, "counter", denseText(type, isOffset ? &next : &seed), "", 0, {}};
  }

  /// Each call of the entry moves the generator on.
  static void countDraws(trace::Program &program, const Entry::Random &random) {
    size_t values = program.inputs.size() + program.variables.size();
    for (const trace::ProgramStep &step : program.steps)
      values += step.results.size();
    for (size_t i = 0; i < program.variables.size(); ++i) {
      if (!random.base || program.variables[i].name != "rng.offset")
        continue;
      trace::TypeRef type = program.variables[i].type;
      auto read = static_cast<uint32_t>(program.inputs.size() + i), draws = static_cast<uint32_t>(values);
      std::string number = "dense<" + std::to_string(random.draws) + "> : tensor<i64>";
      trace::Site site = program.steps.back().site;
      program.steps.push_back(
          {trace::internOp("dl.constant"), trace::Attributes().raw("value", number).intern(), {}, {type}, site});
      program.steps.push_back({trace::internOp("dl.add"), trace::Attributes().intern(), {read, draws}, {type}, site});
      program.variables[i].written = draws + 1;
    }
  }

  /// What stands for an input that is no argument, with the value of now.
  trace::VariableUse variableOf(trace::TypeRef type, size_t input, const Entry &entry, size_t &constant) {
    for (const Entry::HostNumberRead &read : entry.hostReads)
      if (read.input == input) {
        trace::VariableUse use{"", type, read.variable->role, record::initText(*read.variable), "", 0, {}};
        nameVariable(use, *read.variable);
        return use;
      }
    const void *data = nullptr;
    for (const Entry::Capture &capture : entry.captured)
      if (capture.input == input)
        data = hostData(capture.storage->value()->at(), record::demand(*capture.storage, where), type->bytes);
    if (!data) {
      const record::Value &value = *entry.constants[constant++];
      if (entry.random.owns(value))
        return randomVariable(value.buffer == entry.random.base, type);
      data = hostData(value.at(), value.buffer->data, value.type->bytes);
    }
    return {"captured." + std::to_string(ordinal++), type, "buffer", denseText(type, data), "", 0, {}};
  }

  /// Inputs after the arguments become variables with the values of now.
  void moveCaptured(trace::Program &program, const Entry &entry) {
    size_t arguments = entry.signature.types.size(), total = program.inputs.size();
    if (total == arguments)
      return;
    std::vector<trace::VariableUse> captured;
    size_t constant = 0;
    for (size_t i = arguments; i < total; ++i)
      captured.push_back(variableOf(program.inputs[i], i, entry, constant));
    if (!entry.updates.empty())
      fail(ErrorKind::Jit,
           "save_artifact: " + program.name + " changes a captured tensor; make it a buffer of a module", where);
    // Values are numbered inputs first, then variables: captured ones keep their numbers.
    program.inputs.resize(arguments);
    program.variables.insert(program.variables.begin(), captured.begin(), captured.end());
    countDraws(program, entry.random);
  }

  /// The bytes in host memory, valid until the next call.
  const void *hostData(record::Place &place, const void *data, int64_t bytes) {
    if (place.isHost())
      return data;
    copy = record::Buffer::allocate(bytes);
    record::copyBytes(record::Place::host(), copy->data, place, data, bytes, where);
    return copy->data;
  }

  Where where;
  std::shared_ptr<record::Buffer> copy;
  std::map<std::string, record::Variable *> names;
  int ordinal = 0;
};

} // namespace

void save_artifact(const std::string &path, std::initializer_list<ArtifactEntry> entries, ArtifactOptions options,
                   Where where) {
  record::cut(where);
  std::vector<trace::Program> programs;
  Exporter exporter(where);
  std::set<std::string> names;
  for (const ArtifactEntry &entry : entries) {
    if (!names.insert(entry.name).second)
      fail(ErrorKind::Jit, "save_artifact: two entries are named " + entry.name, where);
    programs.push_back(exporter(entry.name, *entry.function));
  }
  record::check(trace::writeArtifact(programs, options.targets, path), where);
}

} // namespace dlc
