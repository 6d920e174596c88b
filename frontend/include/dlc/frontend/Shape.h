#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

namespace dlc {

/// Extents of a tensor, outermost first.
class Shape {
public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : extents(extents) {}
  Shape(std::vector<int64_t> extents) : extents(std::move(extents)) {}

  size_t size() const { return extents.size(); }
  bool empty() const { return extents.empty(); }
  int64_t operator[](size_t i) const { return extents[i]; }
  int64_t &operator[](size_t i) { return extents[i]; }
  auto begin() const { return extents.begin(); }
  auto end() const { return extents.end(); }
  const std::vector<int64_t> &vec() const { return extents; }
  /// Product of the extents.
  int64_t numel() const;
  /// "[64, 10]".
  std::string str() const;
  bool operator==(const Shape &) const = default;
  friend std::ostream &operator<<(std::ostream &out, const Shape &shape) { return out << shape.str(); }

private:
  std::vector<int64_t> extents;
};

/// Dimensions of an operation; negative ones count from the end, none means all.
class Dims {
public:
  Dims() = default;
  template <std::integral T>
  Dims(T dim) : list{static_cast<int64_t>(dim)} {}
  Dims(std::initializer_list<int64_t> dims) : list(dims) {}
  Dims(std::vector<int64_t> dims) : list(std::move(dims)) {}
  const std::vector<int64_t> &vec() const { return list; }

private:
  std::vector<int64_t> list;
};

} // namespace dlc
