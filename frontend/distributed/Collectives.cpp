#include "distributed/Membership.h"
#include "dlc/frontend/Distributed.h"
#include "dlc/runtime/Float16.h"
#include "ops/Primitive.h"
#include "record/Recording.h"
#include "record/Transfer.h"
#include "record/Variable.h"

#include <cstring>

namespace dlc::distributed {

using record::Buffer;
using record::fail;
using runtime::Communicator;
using runtime::Elements;
using runtime::Op;

namespace {

/// What a rank gives to a collective, in memory of its own.
struct Given {
  trace::TypeRef type;
  std::shared_ptr<Buffer> elements;
};

Given read(const char *function, const Tensor &tensor, Where where) {
  needValues("a collective outside the graph needs a value", where);
  trace::TypeRef type = record::implOf(tensor, where).type;
  if (is_split(tensor, where))
    fail(ErrorKind::Distributed,
         std::string(function) + ": the tensor is one of the whole job, its rows split among the members; take this "
                                 "rank's with distributed::to_local",
         where);
  record::HostBytes bytes = record::readOnHost(tensor, where);
  Given given{type, Buffer::allocate(type->bytes)};
  std::memcpy(given.elements->data, bytes.data, static_cast<size_t>(type->bytes));
  return given;
}

/// The tensor's value becomes these elements.
void assign(const char *function, const Tensor &tensor, const Given &given, Where where) {
  record::Impl &self = record::implOf(tensor, where);
  if (self.chain.empty() && self.storage->variable) {
    record::hostWrite(*self.storage->variable, given.elements->data, where);
    return;
  }
  record::EnableGradScope off(false);
  record::ValueRef value = record::concrete(given.type, given.elements);
  record::write(tensor, record::transfer(value, record::placeOf(tensor, where), where), function, where);
}

runtime::Reduce kindOf(const char *function, ReduceOp op, DType dtype, Where where) {
  if (dtype == DType::I1 || (op == ReduceOp::Avg && !ops::isFloat(dtype)))
    fail(ErrorKind::Type,
         std::string(function) + ": no " + (op == ReduceOp::Avg ? "average" : "reduction") + " of " +
             std::string(name(dtype)) + " tensors; convert them first",
         where);
  return op == ReduceOp::Max ? runtime::Reduce::Max : op == ReduceOp::Min ? runtime::Reduce::Min : runtime::Reduce::Sum;
}

template <typename T, typename Wide = T>
void divide(const Given &given, int64_t by) {
  T *data = static_cast<T *>(given.elements->data);
  for (int64_t i = 0; i < given.type->elements; ++i)
    data[i] = static_cast<T>(static_cast<Wide>(data[i]) / static_cast<Wide>(by));
}

void average(const Given &given, ReduceOp op, int64_t ranks) {
  if (op != ReduceOp::Avg)
    return;
  switch (given.type->dtype) {
  case DType::F64:
    return divide<double>(given, ranks);
  case DType::F16:
    return divide<Float16, float>(given, ranks);
  case DType::BF16:
    return divide<BFloat16, float>(given, ranks);
  default:
    return divide<float>(given, ranks);
  }
}

/// Members beside a process's first take part with what changes nothing.
class Neutral {
public:
  Neutral(const record::Job &job, std::shared_ptr<Buffer> given, DType dtype, ReduceOp op)
      : given(std::move(given)), dtype(dtype) {
    auto bytes = static_cast<size_t>(this->given->bytes);
    for (int local = 1; local < job.localMembers; ++local) {
      others.push_back(Buffer::allocate(this->given->bytes));
      bool isSum = op == ReduceOp::Sum || op == ReduceOp::Avg;
      if (isSum)
        std::memset(others.back()->data, 0, bytes);
      else
        std::memcpy(others.back()->data, this->given->data, bytes);
    }
  }
  Elements of(int local) const {
    const Buffer &buffer = local ? *others[static_cast<size_t>(local) - 1] : *given;
    return {buffer.data, buffer.bytes / byteSize(dtype), dtype};
  }

private:
  std::shared_ptr<Buffer> given;
  DType dtype;
  std::vector<std::shared_ptr<Buffer>> others;
};

} // namespace

void all_reduce(const Tensor &tensor, ReduceOp op, Where where) {
  const record::Job &job = record::requireJob("all_reduce", where);
  Given given = read("all_reduce", tensor, where);
  runtime::Reduce kind = kindOf("all_reduce", op, given.type->dtype, where);
  Neutral all(job, given.elements, given.type->dtype, op);
  together(
      job, [&](Communicator &world, const Op &id, int local) { return world.allReduce(id, all.of(local), kind); },
      where);
  average(given, op, job.worldSize);
  assign("all_reduce", tensor, given, where);
}

void broadcast(const Tensor &tensor, int64_t root, Where where) {
  const record::Job &job = record::requireJob("broadcast", where);
  if (root < 0 || root >= job.worldSize)
    fail(ErrorKind::Value,
         "broadcast: there is no rank " + std::to_string(root) + " of " + std::to_string(job.worldSize), where);
  Given given = read("broadcast", tensor, where);
  Neutral all(job, given.elements, given.type->dtype, ReduceOp::Sum);
  int member = static_cast<int>(root) * job.localMembers;
  together(
      job, [&](Communicator &world, const Op &id, int local) { return world.broadcast(id, all.of(local), member); },
      where);
  if (job.rank != root)
    assign("broadcast", tensor, given, where);
}

std::vector<Tensor> all_gather(const Tensor &tensor, Where where) {
  const record::Job &job = record::requireJob("all_gather", where);
  Given given = read("all_gather", tensor, where);
  std::vector<std::shared_ptr<Buffer>> all; // of each member of this process; they are equal
  all.reserve(static_cast<size_t>(job.localMembers));
  for (int local = 0; local < job.localMembers; ++local)
    all.push_back(Buffer::allocate(given.type->bytes * job.members));
  together(
      job,
      [&](Communicator &world, const Op &id, int local) {
        Elements out{all[static_cast<size_t>(local)]->data, given.type->elements * job.members, given.type->dtype};
        return world.allGather(id, {given.elements->data, given.type->elements, given.type->dtype}, out);
      },
      where);
  std::vector<Tensor> tensors;
  tensors.reserve(static_cast<size_t>(job.worldSize));
  for (int rank = 0; rank < job.worldSize; ++rank) {
    auto part = Buffer::allocate(given.type->bytes);
    const char *from = static_cast<const char *>(all[0]->data) + given.type->bytes * rank * job.localMembers;
    std::memcpy(part->data, from, static_cast<size_t>(given.type->bytes));
    record::ValueRef value = record::concrete(given.type, std::move(part));
    tensors.push_back(record::makeTensor(record::transfer(value, record::placeOf(tensor, where), where)));
  }
  return tensors;
}

Tensor reduce_scatter(const std::vector<Tensor> &parts, ReduceOp op, Where where) {
  const record::Job &job = record::requireJob("reduce_scatter", where);
  if (parts.size() != static_cast<size_t>(job.worldSize))
    fail(ErrorKind::Value,
         "reduce_scatter: expected one tensor for each of " + std::to_string(job.worldSize) + " ranks, got " +
             std::to_string(parts.size()),
         where);
  trace::TypeRef type = record::implOf(parts[0], where).type;
  runtime::Reduce kind = kindOf("reduce_scatter", op, type->dtype, where);
  // A rank's part is shared out among its members; behind it lie zeros where they do not divide it.
  int64_t share = (type->elements + job.localMembers - 1) / job.localMembers, bytes = share * byteSize(type->dtype);
  auto whole = Buffer::allocate(bytes * job.members), own = Buffer::allocate(bytes * job.localMembers);
  std::memset(whole->data, 0, static_cast<size_t>(whole->bytes));
  for (size_t i = 0; i < parts.size(); ++i) {
    Given given = read("reduce_scatter", parts[i], where);
    if (given.type != type)
      fail(ErrorKind::Type,
           "reduce_scatter: part " + std::to_string(i) + " is " + trace::str(given.type) + ", part 0 " +
               trace::str(type),
           where);
    std::memcpy(static_cast<char *>(whole->data) + own->bytes * static_cast<int64_t>(i), given.elements->data,
                static_cast<size_t>(type->bytes));
  }
  Neutral all(job, whole, type->dtype, op);
  together(
      job,
      [&](Communicator &world, const Op &id, int local) {
        Elements out{static_cast<char *>(own->data) + bytes * local, share, type->dtype};
        return world.reduceScatter(id, all.of(local), out, kind);
      },
      where);
  Given mine{type, Buffer::allocate(type->bytes)};
  std::memcpy(mine.elements->data, own->data, static_cast<size_t>(type->bytes));
  average(mine, op, job.worldSize);
  record::ValueRef value = record::concrete(mine.type, mine.elements);
  return record::makeTensor(record::transfer(value, record::placeOf(parts[0], where), where));
}

} // namespace dlc::distributed
