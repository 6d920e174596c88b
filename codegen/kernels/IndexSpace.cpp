#include "kernels/IndexSpace.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace dlc::codegen;

AffineExpr IndexSpace::addDim(int64_t lower, int64_t upper) {
  ranges.emplace_back(lower, std::max(lower, upper));
  return getAffineDimExpr(ranges.size() - 1, context);
}

AffineExpr IndexSpace::constant(int64_t value) const { return getAffineConstantExpr(value, context); }

static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static void addTerm(LinearForm &form, AffineExpr term, int64_t coefficient) {
  if (!coefficient)
    return;
  auto *found = llvm::find_if(form.terms, [&](auto &entry) { return entry.first == term; });
  if (found == form.terms.end())
    form.terms.emplace_back(term, coefficient);
  else if (found->second + coefficient == 0)
    form.terms.erase(found);
  else
    found->second += coefficient;
}

static void addForm(LinearForm &form, const LinearForm &other, int64_t factor = 1) {
  form.constant += other.constant * factor;
  for (auto [term, coefficient] : other.terms)
    addTerm(form, term, coefficient * factor);
}

static int64_t divisorOf(AffineExpr term) {
  return cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(term).getRHS()).getValue();
}
static AffineExpr dividendOf(AffineExpr term) { return cast<AffineBinaryOpExpr>(term).getLHS(); }

std::pair<int64_t, int64_t> IndexSpace::range(const LinearForm &form) const {
  int64_t low = form.constant, high = form.constant;
  for (auto [term, coefficient] : form.terms) {
    auto [a, b] = range(term);
    low += std::min(a * coefficient, b * coefficient);
    high += std::max(a * coefficient, b * coefficient);
  }
  return {low, high};
}

std::pair<int64_t, int64_t> IndexSpace::range(AffineExpr expr) const {
  switch (expr.getKind()) {
  case AffineExprKind::Constant: {
    int64_t value = cast<AffineConstantExpr>(expr).getValue();
    return {value, value};
  }
  case AffineExprKind::DimId:
    return ranges[cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::FloorDiv: {
    auto [low, high] = range(dividendOf(expr));
    return {floorDivide(low, divisorOf(expr)), floorDivide(high, divisorOf(expr))};
  }
  case AffineExprKind::Mod: {
    int64_t divisor = divisorOf(expr);
    auto [low, high] = range(dividendOf(expr));
    int64_t period = floorDivide(low, divisor);
    if (period == floorDivide(high, divisor))
      return {low - period * divisor, high - period * divisor};
    return {0, divisor - 1};
  }
  default:
    return range(linearForm(expr));
  }
}

bool IndexSpace::contains(AffineExpr expr, int64_t lower, int64_t upper) const {
  auto [low, high] = range(expr);
  return low >= lower && high < upper;
}

LinearForm IndexSpace::linearForm(AffineExpr expr) const {
  LinearForm form;
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant = value.getValue();
  } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr); binary && expr.getKind() == AffineExprKind::Add) {
    form = linearForm(binary.getLHS());
    addForm(form, linearForm(binary.getRHS()));
  } else if (binary && expr.getKind() == AffineExprKind::Mul) {
    bool right = isa<AffineConstantExpr>(binary.getRHS());
    auto factor = cast<AffineConstantExpr>(right ? binary.getRHS() : binary.getLHS());
    addForm(form, linearForm(right ? binary.getLHS() : binary.getRHS()), factor.getValue());
  } else {
    addTerm(form, expr, 1);
  }
  return form;
}

// Canonical order of terms: dims by position, then by kind, divisor and dividend.
static int compareExprs(AffineExpr a, AffineExpr b) {
  if (a == b)
    return 0;
  if (a.getKind() != b.getKind())
    return (a.getKind() == AffineExprKind::DimId || (b.getKind() != AffineExprKind::DimId && a.getKind() < b.getKind()))
               ? -1
               : 1;
  if (auto dim = dyn_cast<AffineDimExpr>(a))
    return dim.getPosition() < cast<AffineDimExpr>(b).getPosition() ? -1 : 1;
  if (auto value = dyn_cast<AffineConstantExpr>(a))
    return value.getValue() < cast<AffineConstantExpr>(b).getValue() ? -1 : 1;
  auto left = cast<AffineBinaryOpExpr>(a), right = cast<AffineBinaryOpExpr>(b);
  if (int order = compareExprs(left.getRHS(), right.getRHS()))
    return order;
  return compareExprs(left.getLHS(), right.getLHS());
}

AffineExpr IndexSpace::build(LinearForm form) {
  llvm::sort(form.terms, [](auto &a, auto &b) { return compareExprs(a.first, b.first) < 0; });
  AffineExpr sum;
  for (auto [term, coefficient] : form.terms) {
    AffineExpr scaled = coefficient == 1 ? term : term * coefficient;
    sum = sum ? sum + scaled : scaled;
  }
  if (!sum)
    return constant(form.constant);
  return form.constant ? sum + form.constant : sum;
}

// Splits off what is a multiple of g when the rest stays in [0, g): then the rest never reaches the quotient.
static bool splitMultiples(const LinearForm &form, int64_t g, LinearForm &multiples, LinearForm &rest) {
  multiples = rest = {};
  multiples.constant = floorDivide(form.constant, g) * g;
  rest.constant = form.constant - multiples.constant;
  for (auto [term, coefficient] : form.terms)
    addTerm(coefficient % g ? rest : multiples, term, coefficient);
  return !multiples.terms.empty();
}

static LinearForm scaledDown(LinearForm form, int64_t g) {
  form.constant /= g;
  for (auto &entry : form.terms)
    entry.second /= g;
  return form;
}

LinearForm IndexSpace::divide(const LinearForm &form, int64_t divisor) {
  LinearForm multiples, rest, quotient;
  splitMultiples(form, divisor, multiples, rest);
  quotient = scaledDown(multiples, divisor);
  auto [low, high] = range(rest);
  if (low >= 0 && high < divisor)
    return quotient;
  for (auto &entry : rest.terms) {
    int64_t g = std::gcd(entry.second, divisor);
    LinearForm large, small;
    if (g <= 1 || !splitMultiples(rest, g, large, small) || range(small).first < 0 || range(small).second >= g)
      continue;
    addForm(quotient, divide(scaledDown(large, g), divisor / g));
    return quotient;
  }
  if (rest.terms.size() == 1 && !rest.constant && rest.terms[0].second == 1 &&
      rest.terms[0].first.getKind() == AffineExprKind::FloorDiv) {
    AffineExpr inner = rest.terms[0].first;
    addForm(quotient, divide(linearForm(dividendOf(inner)), divisorOf(inner) * divisor));
    return quotient;
  }
  addTerm(quotient, getAffineBinaryOpExpr(AffineExprKind::FloorDiv, build(rest), constant(divisor)), 1);
  return quotient;
}

LinearForm IndexSpace::modulo(const LinearForm &form, int64_t divisor) {
  LinearForm multiples, rest;
  splitMultiples(form, divisor, multiples, rest);
  auto [low, high] = range(rest);
  if (low >= 0 && high < divisor)
    return rest;
  for (auto &entry : rest.terms) {
    int64_t g = std::gcd(entry.second, divisor);
    LinearForm large, small;
    if (g <= 1 || !splitMultiples(rest, g, large, small) || range(small).first < 0 || range(small).second >= g)
      continue;
    addForm(small, modulo(scaledDown(large, g), divisor / g), g);
    return small;
  }
  if (rest.terms.size() == 1 && !rest.constant && rest.terms[0].second == 1 &&
      rest.terms[0].first.getKind() == AffineExprKind::Mod && divisorOf(rest.terms[0].first) % divisor == 0)
    return modulo(linearForm(dividendOf(rest.terms[0].first)), divisor);
  LinearForm result;
  AffineExpr term = getAffineBinaryOpExpr(AffineExprKind::Mod, build(rest), constant(divisor));
  addForm(result, linearForm(term));
  return result;
}

// c * (E mod q) + c * q * (E floordiv q) = c * E, and the same with (E floordiv q) mod r: what delinearizing an offset
// and linearizing it again leaves behind.
bool IndexSpace::recombine(LinearForm &form) {
  for (auto [low, coefficient] : form.terms) {
    if (low.getKind() != AffineExprKind::Mod)
      continue;
    int64_t q = divisorOf(low);
    LinearForm dividend = linearForm(dividendOf(low));
    LinearForm quotient = divide(dividend, q);
    for (auto [high, other] : form.terms) {
      if (other != coefficient * q)
        continue;
      LinearForm highForm;
      addTerm(highForm, high, 1);
      bool whole = build(quotient) == high;
      bool part = high.getKind() == AffineExprKind::Mod && build(quotient) == dividendOf(high);
      if (!whole && !part)
        continue;
      LinearForm combined = whole ? dividend : modulo(dividend, q * divisorOf(high));
      int64_t factor = coefficient;
      AffineExpr lowTerm = low, highTerm = high;
      llvm::erase_if(form.terms, [&](auto &entry) { return entry.first == lowTerm || entry.first == highTerm; });
      addForm(form, combined, factor);
      return true;
    }
  }
  return false;
}

LinearForm IndexSpace::reduce(AffineExpr expr) {
  LinearForm result;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) {
    auto [low, high] = range(expr);
    if (low == high)
      result.constant = low;
    else
      addTerm(result, expr, 1);
    return result;
  }
  if (expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul) {
    for (auto [term, coefficient] : linearForm(expr).terms)
      addForm(result, reduce(term), coefficient);
    result.constant += linearForm(expr).constant;
  } else if (expr.getKind() == AffineExprKind::CeilDiv) {
    LinearForm dividend = reduce(binary.getLHS());
    dividend.constant += divisorOf(expr) - 1;
    result = divide(dividend, divisorOf(expr));
  } else {
    LinearForm dividend = reduce(binary.getLHS());
    result = expr.getKind() == AffineExprKind::FloorDiv ? divide(dividend, divisorOf(expr))
                                                        : modulo(dividend, divisorOf(expr));
  }
  while (recombine(result)) {
  }
  return result;
}

AffineExpr IndexSpace::simplify(AffineExpr expr) {
  if (AffineExpr known = simplified.lookup(expr))
    return known;
  AffineExpr result = build(reduce(expr));
  // Two statements: what one subscript gives, another may move.
  simplified[result] = result;
  simplified[expr] = result;
  return result;
}

SmallVector<AffineExpr> IndexSpace::compose(AffineMap map, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(simplify(expr.replaceDims(index)));
  return results;
}

AffineExpr IndexSpace::linearize(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> index) {
  AffineExpr offset = constant(0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    offset = offset + index[i] * stride;
  return simplify(offset);
}

SmallVector<AffineExpr> IndexSpace::delinearize(ArrayRef<int64_t> shape, AffineExpr offset) {
  SmallVector<AffineExpr> index(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    AffineExpr quotient = offset.floorDiv(stride);
    index[i] = simplify(i ? quotient % std::max<int64_t>(shape[i], 1) : quotient);
    if (!shape[i])
      return SmallVector<AffineExpr>(shape.size(), constant(0));
  }
  return index;
}
