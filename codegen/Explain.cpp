#include "dlc/codegen/Explain.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Precision.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/Pipelines.h"
#include "dlc/passes/PrecisionPasses.h"
#include "driver/ParsedModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dlc::codegen {

/// The op of the entry's block that reads the value first.
static std::string firstReader(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (!first || (user->getBlock() == first->getBlock() && user->isBeforeInBlock(first)))
      first = user;
  return first ? first->getName().getStringRef().str() : "";
}

static CastInfo describe(dl::CastOp cast, StringRef entry) {
  auto from = mlir::cast<RankedTensorType>(cast.getX().getType()), to = mlir::cast<RankedTensorType>(cast.getType());
  CastInfo info;
  info.entry = entry.str();
  info.reader = firstReader(cast);
  info.place = placeText(cast.getLoc());
  if (info.place.ends_with(": "))
    info.place.resize(info.place.size() - 2);
  llvm::raw_string_ostream text(info.value);
  for (int64_t extent : from.getShape())
    text << extent << "x";
  text << from.getElementType() << " to " << to.getElementType();
  info.reason = cast->getAttrOfType<StringAttr>(dl::kReasonAttr).str();
  info.savedBytes = std::max<int64_t>(0, dl::getStorageBytes(from) - dl::getStorageBytes(to));
  return info;
}

StatusOr<std::vector<CastInfo>> explainCasts(std::string_view text, const std::string &name,
                                             const CompileOptions &options) {
  ParsedModule parsed;
  if (Status status = parsed.parse(text, name); !status.ok())
    return status;
  PassManager manager(&parsed.context, ModuleOp::getOperationName());
  passes::PipelineOptions pipeline;
  pipeline.amp = options.amp;
  passes::buildImportPipeline(manager, pipeline);
  manager.addPass(passes::createForwardStatePass());
  manager.addPass(passes::createAutocastPass());
  if (failed(manager.run(*parsed.module)))
    return parsed.diagnostics.explain({StatusCode::InvalidInput, "the casts cannot be listed"});
  std::vector<CastInfo> casts;
  for (auto entry : parsed.module->getOps<func::FuncOp>()) {
    if (!entry->hasAttr("dl.entry"))
      continue;
    int64_t observed = 0;
    entry.walk([&](dl::CastOp cast) {
      if (!cast->hasAttr(dl::kReasonAttr))
        return;
      casts.push_back(describe(cast, entry.getSymName()));
      if (cast->getParentOp() == entry)
        casts.back().observed = observed++;
    });
  }
  return casts;
}

} // namespace dlc::codegen
