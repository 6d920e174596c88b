// References are std functions in a wider type: double for f32, the x87 80-bit long double for f64.
#include "JitKernel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

using namespace dlc::codegen;

namespace {

template <typename T>
constexpr const char *kTypeName = sizeof(T) == 4 ? "f32" : "f64";
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
template <typename T>
using Kernel = void (*)(const T *x, const T *y, T *out, int64_t n);

/// A loop that applies `op` (of %a, or %a and %b, to %r) to `lanes` elements at a time.
std::string loop(const std::string &op, const std::string &element, int lanes) {
  std::string type = lanes == 1 ? element : "vector<" + std::to_string(lanes) + "x" + element + ">";
  std::string text = R"(llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
    %zero = arith.constant 0 : i64
    %step = arith.constant LANES : i64
    scf.for %i = %zero to %n step %step : i64 {
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %a = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> TYPE
      %b = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> TYPE
      %r = OP : TYPE
      llvm.store %r, %o {alignment = 4 : i64} : TYPE, !llvm.ptr
    }
    llvm.return
  })";
  for (const auto &[name, value] :
       {std::pair("LANES", std::to_string(lanes)), {"ELEMENT", element}, {"TYPE", type}, {"OP", op}})
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, std::strlen(name), value);
  return text;
}

/// Error in units of the last place of the reference; a wrong class of value or sign of zero counts as infinite.
template <typename T>
double ulps(T got, Wide<T> want) {
  using Limits = std::numeric_limits<T>;
  T rounded = static_cast<T>(want);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) == std::isnan(got) ? 0 : INFINITY;
  if (std::signbit(got) != std::signbit(rounded))
    return INFINITY;
  if (got == rounded && (std::isinf(got) || want == got))
    return 0;
  // Infinity stands one unit above the largest finite value.
  auto finite = [](Wide<T> v) {
    Wide<T> limit = std::ldexp(Wide<T>(1), Limits::max_exponent);
    return std::min(std::fabs(v), limit);
  };
  int exponent;
  std::frexp(finite(want), &exponent);
  int unit = std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits);
  return double(std::fabs(finite(got) - finite(want)) / std::ldexp(Wide<T>(1), unit));
}

template <typename T>
std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T v : {T(0),
              Limits::denorm_min(),
              3 * Limits::denorm_min(),
              std::nextafter(Limits::min(), T(0)),
              Limits::min(),
              std::nextafter(T(1), T(0)),
              T(1),
              std::nextafter(T(1), T(2)),
              T(0.5),
              T(1.5),
              T(2),
              T(3),
              T(4),
              T(10),
              T(0.1),
              T(88.72284),
              T(88.7229),
              T(103.97),
              T(104.1),
              T(709.78),
              T(709.79),
              T(745.13),
              T(745.2),
              T(16777215),
              T(16777217),
              T(9007199254740991.0),
              T(9007199254740994.0),
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN()}) {
    values.push_back(v);
    values.push_back(-v);
  }
  return values;
}

/// Every exponent and sign, and dense samples of [-range, range]; a multiple of 64 values.
template <typename T>
std::vector<T> samples(T range, int count) {
  std::mt19937_64 random(7);
  std::vector<T> values = specialValues<T>();
  for (int i = 0; i < count; ++i) {
    values.push_back(std::bit_cast<T>(static_cast<Bits<T>>(random())));
    T t = std::uniform_real_distribution<T>(-range, range)(random);
    values.push_back(t);
    values.push_back(std::ldexp(t / range, -int(random() % 40)));     // around 0
    values.push_back(1 + std::ldexp(t / range, -int(random() % 40))); // around 1
  }
  values.resize((values.size() + 63) / 64 * 64, T(1));
  return values;
}

template <typename T>
struct Case {
  std::string name, op;
  std::function<Wide<T>(Wide<T>, Wide<T>)> reference;
  T range;
  double bound;
  T largest = std::numeric_limits<T>::infinity();
};

template <typename T>
double worstError(const Case<T> &test, const std::vector<T> &x, const std::vector<T> &y, int lanes, int stride) {
  auto code = jitKernel(loop(test.op, kTypeName<T>, lanes));
  if (!code)
    return INFINITY;
  std::vector<T> out(x.size());
  symbol<Kernel<T>>(*code, "k")(x.data(), y.data(), out.data(), x.size());
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); i += stride) {
    if (std::fabs(x[i]) > test.largest)
      continue;
    double error = ulps<T>(out[i], test.reference(x[i], y[i]));
    if (error > worst)
      worst = error, where = i;
  }
  if (std::getenv("DLC_TEST_PRINT_ULP"))
    printf("%-8s %s x%-2d %.3g ulp at (%.17g, %.17g): got %.17g\n", test.name.c_str(), kTypeName<T>, lanes, worst,
           double(x[where]), double(y[where]), double(out[where]));
  EXPECT_LE(worst, test.bound) << test.name << " " << kTypeName<T> << " x" << lanes << " at (" << x[where] << ", "
                               << y[where] << "): got " << out[where] << ", expected "
                               << test.reference(x[where], y[where]);
  return worst;
}

template <typename T>
void checkAccuracy(const Case<T> &test, bool binary) {
  std::vector<T> x = samples<T>(test.range, sizeof(T) == 4 ? 100000 : 40000), y(x.size());
  if (binary) { // every pair of special values, then random pairs
    std::vector<T> special = specialValues<T>();
    std::mt19937_64 random(11);
    for (T &v : y)
      v = random() % 4 ? std::uniform_real_distribution<T>(-40, 40)(random) : T(int(random() % 41) - 20);
    for (size_t i = 0; i < x.size() && i < special.size() * special.size(); ++i)
      x[i] = special[i / special.size()], y[i] = special[i % special.size()];
  }
  worstError(test, x, y, 8, 1);
  for (int lanes : {1, 2, 16, 64}) // other lane counts: the same code, so a sample is enough
    worstError(test, {x.begin(), x.begin() + 4096}, {y.begin(), y.begin() + 4096}, lanes, 1);
}

template <typename T>
std::vector<Case<T>> unaryCases() {
  using W = Wide<T>;
  bool narrow = sizeof(T) == 4;
  T trigonometric = narrow ? INFINITY : T(0x1p49);
  auto of = [](W (*f)(W)) { return [f](W x, W) { return f(x); }; };
  return {
      {"exp", "math.exp %a", of(std::exp), T(narrow ? 110 : 760), 2},
      {"expm1", "math.expm1 %a", of(std::expm1), T(narrow ? 110 : 760), 2},
      {"log", "math.log %a", of(std::log), T(100), 2},
      {"log1p", "math.log1p %a", of(std::log1p), T(100), 2},
      {"tanh", "math.tanh %a", of(std::tanh), T(narrow ? 10 : 22), narrow ? 2. : 3.},
      {"erf", "math.erf %a", of(std::erf), T(narrow ? 5 : 7), 2},
      {"rsqrt", "math.rsqrt %a", [](W x, W) { return 1 / std::sqrt(x); }, T(100), 2},
      {"sin", "math.sin %a", of(std::sin), T(1000), 2, trigonometric},
      {"cos", "math.cos %a", of(std::cos), T(1000), 2, trigonometric},
      {"tan", "math.tan %a", of(std::tan), T(1000), 3, trigonometric},
      {"atan", "math.atan %a", of(std::atan), T(100), 3},
  };
}

TEST(VectorMath, UnaryF32) {
  for (const auto &test : unaryCases<float>())
    checkAccuracy<float>(test, false);
}

TEST(VectorMath, UnaryF64) {
  for (const auto &test : unaryCases<double>())
    checkAccuracy<double>(test, false);
}

TEST(VectorMath, Pow) {
  checkAccuracy<float>({"pow", "math.powf %a, %b", [](double x, double y) { return std::pow(x, y); }, 100, 2}, true);
  checkAccuracy<double>(
      {"pow", "math.powf %a, %b", [](long double x, long double y) { return std::pow(x, y); }, 100, 3}, true);
}

TEST(VectorMath, Atan2) {
  checkAccuracy<float>({"atan2", "math.atan2 %a, %b", [](double x, double y) { return std::atan2(x, y); }, 100, 2},
                       true);
  checkAccuracy<double>(
      {"atan2", "math.atan2 %a, %b", [](long double x, long double y) { return std::atan2(x, y); }, 100, 3}, true);
}

TEST(VectorMath, RemainderIsExact) {
  checkAccuracy<float>({"rem", "arith.remf %a, %b", [](double x, double y) { return std::fmod(x, y); }, 100, 0.5},
                       true);
  checkAccuracy<double>(
      {"rem", "arith.remf %a, %b", [](long double x, long double y) { return std::fmod(x, y); }, 100, 0.5}, true);
}

/// Results of a kernel for one target and lane count; NaN of any payload as one NaN.
template <typename T>
std::vector<T> results(const std::string &op, const std::vector<T> &x, int lanes, const CpuTarget &target) {
  auto code = jitKernel(loop(op, kTypeName<T>, lanes), target);
  std::vector<T> out(x.size());
  if (code)
    symbol<Kernel<T>>(*code, "k")(x.data(), x.data() + 1, out.data(), static_cast<int64_t>(x.size()) - 64);
  for (T &v : out)
    v = std::isnan(v) ? std::numeric_limits<T>::quiet_NaN() : v;
  return out;
}

template <typename T>
void checkSameBits() {
  std::vector<T> x = samples<T>(100, 1000);
  std::vector<std::string> ops = {"math.powf %a, %b", "math.atan2 %a, %b", "arith.remf %a, %b"};
  for (const auto &test : unaryCases<T>())
    ops.push_back(test.op);
  for (const std::string &op : ops) {
    std::vector<T> expected = results(op, x, 8, CpuTarget::x86_64_v3());
    for (int lanes : {1, 4, 16})
      EXPECT_EQ(std::memcmp(expected.data(), results(op, x, lanes, *CpuTarget::host()).data(), x.size() * sizeof(T)), 0)
          << op << " x" << lanes;
  }
}

TEST(VectorMath, BitsDependNeitherOnTargetNorOnLanes) {
  checkSameBits<float>();
  checkSameBits<double>();
}

// NUM-15 and NUM-17 of the cases every framework gets wrong once.
TEST(VectorMath, SmallArgumentsKeepTheirDigits) {
  auto one = [](const char *op, float x) {
    auto code = jitKernel(loop(op, "f32", 1));
    float out = 0;
    symbol<Kernel<float>>(*code, "k")(&x, &x, &out, 1);
    return out;
  };
  EXPECT_FLOAT_EQ(one("math.log1p %a", 1e-10f), 1e-10f);
  EXPECT_FLOAT_EQ(one("math.expm1 %a", 1e-10f), 1e-10f);
  EXPECT_FLOAT_EQ(one("math.log1p %a", 2.0611536e-9f), 2.0611536e-9f);
  EXPECT_EQ(one("math.tanh %a", 50), 1);
  EXPECT_EQ(one("math.tanh %a", -50), -1);
  EXPECT_EQ(one("math.tanh %a", 100), 1);
  EXPECT_FLOAT_EQ(one("math.tanh %a", 1e-4f), 9.9999997e-5f);
}

} // namespace
