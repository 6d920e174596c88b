#include "MeshCheck.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Program.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/Pipelines.h"
#include "mlir/Pass/PassManager.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::check;
using dlc::dl::ReferenceTensor;

namespace {

/// Which elements of a tensor one member holds.
class Part {
public:
  Part(dl::MeshOp mesh, RankedTensorType type, dl::ShardingAttr sharding, int64_t member)
      : type(type), local(mesh.localType(type, sharding)) {
    for (auto [extent, dim] : llvm::zip_equal(type.getShape(), sharding.getDims())) {
      SmallVector<int64_t> borders = mesh.borders(dim, extent);
      int64_t number = mesh.coordinate(member, dim.getAxes());
      starts.push_back(borders[number]);
      counts.push_back(borders[number + 1] - borders[number]);
    }
  }

  /// What the member holds of `whole`, the rest poisoned.
  ReferenceTensor of(const ReferenceTensor &whole) const {
    ReferenceTensor part(local);
    std::fill(part.floats.begin(), part.floats.end(), std::numeric_limits<double>::quiet_NaN());
    std::fill(part.integers.begin(), part.integers.end(), std::numeric_limits<int64_t>::min() + 1);
    part.wrapIntegers();
    each([&](int64_t inside, int64_t at) { copy(whole, at, part, inside); });
    return part;
  }

  /// `expected` with the member's own elements in their places.
  ReferenceTensor put(const ReferenceTensor &part, const ReferenceTensor &expected) const {
    ReferenceTensor whole = expected;
    each([&](int64_t inside, int64_t at) { copy(part, inside, whole, at); });
    return whole;
  }
  RankedTensorType getLocalType() const { return local; }

private:
  static void copy(const ReferenceTensor &from, int64_t at, ReferenceTensor &to, int64_t place) {
    if (from.isFloat())
      to.floats[place] = from.floats[at];
    else
      to.integers[place] = from.integers[at];
  }

  /// `function(position in the part, position in the whole)` of the member's own elements.
  template <class F>
  void each(F function) const {
    for (int64_t at = 0; at < type.getNumElements(); ++at) {
      int64_t rest = at, inside = 0, stride = 1;
      bool own = true;
      for (int64_t dim = type.getRank(); dim-- > 0; rest /= type.getDimSize(dim)) {
        int64_t row = rest % type.getDimSize(dim) - starts[dim];
        own &= row >= 0 && row < counts[dim];
        inside += row * stride;
        stride *= local.getDimSize(dim);
      }
      if (own)
        function(inside, at);
    }
  }

  RankedTensorType type, local;
  SmallVector<int64_t> starts, counts;
};

} // namespace

/// How an argument or result is held, and of what.
static std::pair<dl::ShardingAttr, RankedTensorType> heldAs(DictionaryAttr attributes, Type local) {
  auto type = cast<RankedTensorType>(local);
  if (attributes)
    if (auto sharding = attributes.getAs<dl::ShardingAttr>("dl.sharding"))
      return {sharding, cast<RankedTensorType>(attributes.getAs<TypeAttr>("dl.global").getValue())};
  return {dl::ShardingAttr::replicated(type.getContext(), type.getRank()), type};
}

static std::vector<dl::ReferenceShare> sharesOf(func::FuncOp function, ArrayRef<ReferenceTensor> arguments,
                                                const dl::ReferenceState &state) {
  dl::MeshOp mesh = dl::MeshOp::find(function);
  std::vector<dl::ReferenceShare> shares;
  for (int64_t member = 0; member < mesh.size(); ++member) {
    dl::ReferenceShare &share = shares.emplace_back();
    share.state = state;
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      auto [sharding, type] = heldAs(function.getArgAttrDict(index), function.getArgumentTypes()[index]);
      share.arguments.push_back(Part(mesh, type, sharding, member).of(argument));
    }
    for (Attribute name : mesh.getAxisNames()) {
      auto axis = cast<StringAttr>(name);
      ReferenceTensor coordinate(RankedTensorType::get({}, IntegerType::get(function.getContext(), 64)));
      coordinate.integers[0] = mesh.coordinate(member, axis);
      share.state.insert_or_assign(("mesh." + axis.getValue()).str(), coordinate);
    }
  }
  return shares;
}

/// Evaluates, and compares the results of each member.
static std::vector<dl::ReferenceShare> run(Report &report, StringRef what, func::FuncOp function,
                                           ArrayRef<ReferenceTensor> arguments, const dl::ReferenceState &state,
                                           ArrayRef<ReferenceTensor> expected, double tolerance) {
  std::vector<dl::ReferenceShare> shares = sharesOf(function, arguments, state);
  if (failed(dl::evaluateMembers(function, shares))) {
    report.fault(what + ": cannot be evaluated");
    return {};
  }
  dl::MeshOp mesh = dl::MeshOp::find(function);
  for (auto [member, share] : llvm::enumerate(shares))
    for (auto [index, got] : llvm::enumerate(share.results)) {
      auto [sharding, type] = heldAs(function.getResultAttrDict(index), function.getResultTypes()[index]);
      std::string name = (what + " member " + Twine(member) + " result " + Twine(index)).str();
      Part part(mesh, type, sharding, int64_t(member));
      if (type != expected[index].type || part.getLocalType() != got.type)
        report.fault(name + ": another type");
      else
        compare(report, name, expected[index], part.put(got, expected[index]), tolerance);
    }
  return shares;
}

/// The function alone in its module, an entry with split arguments.
static OwningOpRef<ModuleOp> entryOf(func::FuncOp function, const CheckOptions &options) {
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  for (auto other : llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
    if (other.getName() != function.getName())
      other.erase();
  func::FuncOp entry = *module->getOps<func::FuncOp>().begin();
  MLIRContext *context = entry.getContext();
  entry->setAttr("dl.entry", UnitAttr::get(context));
  auto split = dl::DimShardingAttr::get(context, StringAttr::get(context, "data"), {});
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (type.getRank() == 0 || entry.getArgAttr(i, "dl.sharding"))
      continue;
    auto sharding = dl::ShardingAttr::replicated(context, type.getRank());
    entry.setArgAttr(i, "dl.sharding", sharding.withDim(std::min(options.splitDim, type.getRank() - 1), split));
  }
  return module;
}

static LogicalResult partition(ModuleOp module, const std::string &axes) {
  // What is gathered is no fault here.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  PassManager manager(module.getContext());
  SmallVector<StringRef> list;
  StringRef(axes).split(list, ',');
  passes::SetMeshPassOptions mesh;
  mesh.axes.assign(list.begin(), list.end());
  if (dl::MeshOp given = dl::MeshOp::find(module))
    given.erase();
  manager.addPass(passes::createSetMeshPass(mesh));
  passes::buildFrontendPipeline(manager);
  passes::buildPartitionPipeline(manager);
  return manager.run(module);
}

void dlc::check::checkMesh(Report &report, func::FuncOp function, ArrayRef<ReferenceTensor> arguments,
                           const dl::ReferenceState &state, const Outcome &expected, double tolerance,
                           const CheckOptions &options) {
  if (options.mesh.empty())
    return;
  OwningOpRef<ModuleOp> module = entryOf(function, options);
  std::string what = "on " + options.mesh;
  if (failed(partition(*module, options.mesh)))
    return report.fault(what + ": cannot be partitioned");
  func::FuncOp local = *module->getOps<func::FuncOp>().begin();
  std::vector<dl::ReferenceShare> shares = run(report, what, local, arguments, state, expected.results, tolerance);
  for (auto [member, share] : llvm::enumerate(shares))
    for (const auto &[name, value] : expected.state)
      compare(report, what + " member " + Twine(member) + " variable @" + name, value, share.state.at(name), tolerance);
}

void dlc::check::checkLocal(Report &report, func::FuncOp function, ArrayRef<ReferenceTensor> arguments,
                            const dl::ReferenceState &state, ArrayRef<ReferenceTensor> expected, double tolerance) {
  if (expected.empty() || !dl::MeshOp::find(function))
    return report.fault("expects a dl.mesh and dl.expect for a function of a local module");
  run(report, "local", function, arguments, state, expected, tolerance);
}
