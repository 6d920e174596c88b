#include "JitKernel.h"
#include "targets/cpu/CompileParallel.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <vector>

using namespace dlc;
using namespace dlc::codegen;

namespace {

/// out[i] = a[i] * scale + out[i] over n elements (a multiple of 8).
std::string scaleAndAdd(const std::string &name, float scale) {
  return "llvm.func @" + name + R"((%a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 8 : i64
  %s = arith.constant dense<)" +
         std::to_string(scale) + R"(> : vector<8xf32>
  scf.for %i = %zero to %n step %step : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    %y = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    %r = math.fma %x, %s, %y : vector<8xf32>
    llvm.store %r, %q {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  }
  llvm.return
})";
}

using ScaleAndAdd = void (*)(const float *, float *, int64_t);

std::string assemblyOf(const std::string &text, const CpuTarget &target) {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module && succeeded(lowerToLLVMDialect(*module)));
  llvm::LLVMContext llvmContext;
  auto translated = translateToLlvm(*module, llvmContext);
  EXPECT_TRUE(translated.ok());
  auto assembly = emitAssembly(**translated, target);
  EXPECT_TRUE(assembly.ok()) << assembly.status().message();
  return assembly.ok() ? *assembly : "";
}

TEST(Object, KernelRuns) {
  auto code = jitKernel(scaleAndAdd("k", 2));
  ASSERT_TRUE(code);
  std::vector<float> a(64), out(64, 1);
  for (int i = 0; i < 64; ++i)
    a[i] = i;
  symbol<ScaleAndAdd>(*code, "k")(a.data(), out.data(), 64);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 2 * i + 1);
}

TEST(Object, MulAndAddAreNotFused) {
  std::string text = R"(llvm.func @k(%a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
    %m = arith.mulf %a, %b : vector<8xf32>
    %r = arith.addf %m, %b : vector<8xf32>
    llvm.return %r : vector<8xf32>
  })";
  for (const CpuTarget &target : {CpuTarget::x86_64_v3(), CpuTarget::x86_64_v4()}) {
    std::string assembly = assemblyOf(text, target);
    EXPECT_NE(assembly.find("vmulps"), std::string::npos);
    EXPECT_EQ(assembly.find("vfm"), std::string::npos) << assembly;
  }
}

TEST(Object, WideVectorsUseWideRegisters) {
  std::string text = R"(llvm.func @k(%p: !llvm.ptr) {
    %a = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %r = arith.addf %a, %a : vector<16xf32>
    llvm.store %r, %p {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    llvm.return
  })";
  EXPECT_NE(assemblyOf(text, CpuTarget::x86_64_v4()).find("zmm"), std::string::npos);
  EXPECT_EQ(assemblyOf(text, CpuTarget::x86_64_v3()).find("zmm"), std::string::npos);
}

TEST(Object, LlvmTextNamesTheTarget) {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(scaleAndAdd("k", 2), &context);
  ASSERT_TRUE(module && succeeded(lowerToLLVMDialect(*module)));
  llvm::LLVMContext llvmContext;
  auto translated = translateToLlvm(*module, llvmContext);
  ASSERT_TRUE(translated.ok());
  auto text = emitLlvm(**translated, CpuTarget::x86_64_v3());
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("define void @k("), std::string::npos) << *text;
  EXPECT_NE(text->find("\"target-cpu\"=\"x86-64-v3\""), std::string::npos) << *text;
}

TEST(Object, ClearingLoopIsNoCall) {
  std::string text = R"(llvm.func @k(%p: !llvm.ptr {llvm.noalias}, %s: !llvm.ptr {llvm.noalias}) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %n = arith.constant 100000 : i64
    %c = arith.constant 0 : i8
    scf.for %i = %zero to %n step %one : i64 {
      %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      llvm.store %c, %q : i8, !llvm.ptr
    }
    llvm.return
  })";
  EXPECT_TRUE(jitKernel(text)); // loading refuses undefined symbols
}

TEST(Object, UndefinedFunctionIsNamed) {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @fmodf(f32, f32) -> f32
    llvm.func @k(%a: f32) -> f32 {
      %r = llvm.call @fmodf(%a, %a) : (f32, f32) -> f32
      llvm.return %r : f32
    })",
                                                        &context);
  auto object = compileToObject(*module, *CpuTarget::host());
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.status().message().find("undefined 'fmodf'"), std::string::npos) << object.status().message();
}

TEST(Object, CallTheBackEndInventsIsNamed) {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(llvm.func @k(%a: f32) -> f32 {
      %r = llvm.intr.sin(%a) : (f32) -> f32
      llvm.return %r : f32
    })",
                                                        &context);
  auto object = compileToObject(*module, *CpuTarget::host());
  ASSERT_TRUE(object.ok());
  Status status = checkSelfContained(*object);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("'sinf'"), std::string::npos) << status.message();
}

TEST(CompileParallel, ModulesCallEachOther) {
  // The caller promises by hidden visibility that the callee is in the image.
  std::vector<std::string> modules = {scaleAndAdd("first", 2), scaleAndAdd("second", 3), R"(
    llvm.func hidden @first(!llvm.ptr, !llvm.ptr, i64)
    llvm.func hidden @second(!llvm.ptr, !llvm.ptr, i64)
    llvm.func @both(%a: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
      llvm.call @first(%a, %out, %n) : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.call @second(%a, %out, %n) : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.return
    })"};
  auto one = compileInParallel(modules, *CpuTarget::host(), 1), two = compileInParallel(modules, *CpuTarget::host(), 2);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status().message() << two.status().message();
  EXPECT_EQ(*one, *two) << "the objects do not depend on the number of threads";
  auto code = JitCode::load(*two);
  ASSERT_TRUE(code.ok()) << code.status().message();
  std::vector<float> a(8, 1), out(8, 0);
  symbol<ScaleAndAdd>(*code, "both")(a.data(), out.data(), 8);
  EXPECT_EQ(out, std::vector<float>(8, 5));
}

TEST(CompileParallel, TravelsAsBytecode) {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(scaleAndAdd("k", 2), &context);
  auto objects = compileInParallel(toBytecode(*module), *CpuTarget::host(), 2);
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  EXPECT_TRUE(JitCode::load(*objects)->lookup("k").ok());
}

TEST(CompileParallel, FirstErrorIsReported) {
  auto objects = compileInParallel({scaleAndAdd("k", 2), "llvm.func @broken("}, *CpuTarget::host(), 2);
  ASSERT_FALSE(objects.ok());
  EXPECT_FALSE(objects.status().message().empty());
}

TEST(Jit, UnknownSymbolIsAnError) {
  auto code = jitKernel(scaleAndAdd("k", 2));
  ASSERT_TRUE(code);
  auto missing = code->lookup("nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("nothing"), std::string::npos);
}

} // namespace
