#include "ops/Primitive.h"

#include <iomanip>
#include <sstream>

namespace dlc {

namespace {

/// Elements of a dimension; of more than 2 * edge only the ends.
constexpr int64_t edge = 3, most = 1000;

void print(std::ostream &out, const std::vector<double> &values, const std::vector<int64_t> &shape, size_t dim,
           int64_t offset, bool isReal, bool brief) {
  if (dim == shape.size()) {
    if (isReal)
      out << values[static_cast<size_t>(offset)];
    else
      out << static_cast<int64_t>(values[static_cast<size_t>(offset)]);
    return;
  }
  int64_t stride = 1;
  for (size_t i = dim + 1; i < shape.size(); ++i)
    stride *= shape[i];
  out << '[';
  for (int64_t i = 0; i < shape[dim]; ++i) {
    if (brief && i == edge && shape[dim] > 2 * edge) {
      out << ", …";
      i = shape[dim] - edge;
    }
    if (i)
      out << (dim + 1 < shape.size() ? ",\n" + std::string(dim + 1, ' ') : ", ");
    print(out, values, shape, dim + 1, offset + i * stride, isReal, brief);
  }
  out << ']';
}

} // namespace

std::ostream &operator<<(std::ostream &out, const Arg &arg) {
  if (!arg.tensor)
    return out << arg.number.real;
  const Tensor &tensor = *arg.tensor;
  if (!tensor.defined())
    return out << "undefined";
  std::ostringstream text;
  text << std::setprecision(tensor.dtype() == DType::F64 ? 9 : 6);
  print(text, tensor.to_vector<double>(arg.where), tensor.shape().vec(), 0, 0, ops::isFloat(tensor.dtype()),
        tensor.numel() > most);
  return out << text.str() << " : " << trace::str(record::implOf(tensor, arg.where).type);
}

} // namespace dlc
