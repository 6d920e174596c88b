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
  Neutral(const record::Job &job, const Given &given, ReduceOp op) {
    for (int local = 1; local < job.localMembers; ++local) {
      others.push_back(Buffer::allocate(given.type->bytes));
      bool isSum = op == ReduceOp::Sum || op == ReduceOp::Avg;
      if (isSum)
        std::memset(others.back()->data, 0, static_cast<size_t>(given.type->bytes));
      else
        std::memcpy(others.back()->data, given.elements->data, static_cast<size_t>(given.type->bytes));
    }
  }
  Elements of(int local, const Given &given) const {
    return {local ? others[static_cast<size_t>(local) - 1]->data : given.elements->data, given.type->elements,
            given.type->dtype};
  }

private:
  std::vector<std::shared_ptr<Buffer>> others;
};

void reduce(const record::Job &job, const char *function, const Given &given, ReduceOp op, Where where) {
  runtime::Reduce kind = kindOf(function, op, given.type->dtype, where);
  Neutral neutral(job, given, op);
  together(
      job,
      [&](Communicator &world, const Op &id, int local) { return world.allReduce(id, neutral.of(local, given), kind); },
      where);
  average(given, op, job.worldSize);
}

} // namespace

void all_reduce(const Tensor &tensor, ReduceOp op, Where where) {
  const record::Job &job = record::requireJob("all_reduce", where);
  Given given = read("all_reduce", tensor, where);
  reduce(job, "all_reduce", given, op, where);
  assign("all_reduce", tensor, given, where);
}

void broadcast(const Tensor &tensor, int64_t root, Where where) {
  const record::Job &job = record::requireJob("broadcast", where);
  if (root < 0 || root >= job.worldSize)
    fail(ErrorKind::Value,
         "broadcast: there is no rank " + std::to_string(root) + " of " + std::to_string(job.worldSize), where);
  Given given = read("broadcast", tensor, where);
  Neutral others(job, given, ReduceOp::Sum);
  int member = static_cast<int>(root) * job.localMembers;
  together(
      job,
      [&](Communicator &world, const Op &id, int local) {
        return world.broadcast(id, others.of(local, given), member);
      },
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
  // All of it is reduced and all but one part dropped: this serves metrics and tests, not training.
  Given mine;
  for (size_t i = 0; i < parts.size(); ++i) {
    Given given = read("reduce_scatter", parts[i], where);
    if (i && given.type != record::implOf(parts[0], where).type)
      fail(ErrorKind::Type,
           "reduce_scatter: part " + std::to_string(i) + " is " + trace::str(given.type) + ", part 0 " +
               trace::str(record::implOf(parts[0], where).type),
           where);
    reduce(job, "reduce_scatter", given, op, where);
    if (i == static_cast<size_t>(job.rank))
      mine = given;
  }
  record::ValueRef value = record::concrete(mine.type, mine.elements);
  return record::makeTensor(record::transfer(value, record::placeOf(parts[0], where), where));
}

} // namespace dlc::distributed
