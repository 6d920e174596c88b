#include "distributed/SplitTensors.h"

#include "distributed/Membership.h"
#include "dlc/frontend/Distributed.h"
#include "record/Recording.h"
#include "record/Transfer.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dlc {

using record::fail;
using record::LayoutRef;
using record::ValueRef;
using runtime::Communicator;
using runtime::Op;

namespace {

/// The blocks of all members, one after another, on every member of this process; returns the first one's.
std::shared_ptr<record::Buffer> gatherBlocks(const record::Job &job, const char *own, int64_t bytes, Where where) {
  std::vector<std::shared_ptr<record::Buffer>> all;
  all.reserve(static_cast<size_t>(job.localMembers));
  for (int local = 0; local < job.localMembers; ++local)
    all.push_back(record::Buffer::allocate(bytes * job.members));
  distributed::together(
      job,
      [&](Communicator &world, const Op &op, int local) {
        void *mine = const_cast<char *>(own) + bytes * local;
        return world.allGather(op, {mine, bytes, DType::I8},
                               {all[static_cast<size_t>(local)]->data, bytes * job.members, DType::I8});
      },
      where);
  return all[0];
}

/// The tensor of which `from` has the members' blocks one after another.
void join(trace::TypeRef type, LayoutRef layout, const char *from, char *to) {
  int64_t outer = 1, inner = byteSize(type->dtype);
  for (size_t i = 0; i < type->shape.size(); ++i)
    (static_cast<int64_t>(i) < layout->dim ? outer : inner) *=
        static_cast<int64_t>(i) == layout->dim ? 1 : type->shape[i];
  int64_t extent = type->shape[static_cast<size_t>(layout->dim)];
  for (size_t member = 0; member + 1 < layout->borders.size(); ++member) {
    int64_t rows = layout->rows(member), first = layout->borders[member];
    for (int64_t i = 0; i < outer; ++i)
      std::memcpy(to + (i * extent + first) * inner, from + i * layout->block * inner,
                  static_cast<size_t>(rows * inner));
    from += outer * layout->block * inner;
  }
}

/// What this process has of a split value, on the host.
std::shared_ptr<record::Buffer> onHost(const record::Value &value, Where where) {
  if (value.at().isHost())
    return value.buffer;
  int64_t bytes = record::bytesHere(value.type, value.layout);
  auto copy = record::Buffer::allocate(bytes);
  record::copyBytes(record::Place::host(), copy->data, value.at(), value.buffer->data, bytes, where);
  return copy;
}

} // namespace

namespace record {

const void *wholeOf(Value &value, const std::source_location &where) {
  if (!value.whole) {
    const Job &now = requireJob("a tensor whose rows are split among members is read", where);
    std::shared_ptr<record::Buffer> own = onHost(value, where);
    auto blocks = gatherBlocks(now, static_cast<const char *>(own->data), memberBytes(value.type, value.layout), where);
    auto whole = record::Buffer::allocate(value.type->bytes);
    join(value.type, value.layout, static_cast<const char *>(blocks->data), static_cast<char *>(whole->data));
    value.whole = std::move(whole);
  }
  return value.whole->data;
}

} // namespace record

namespace distributed {

namespace {

/// The value as it lies; what is pending runs.
ValueRef concreteValue(const Tensor &tensor, Where where) {
  ValueRef value = record::valueOf(tensor, where);
  record::demand(value, where);
  return value;
}

/// Copies rows to where a block each of this process's members begins; `rowsOf` says how many members have.
Tensor intoBlocks(const Tensor &like, const char *rows, trace::TypeRef type, LayoutRef layout, Where where) {
  const record::Job &job = *record::job();
  int64_t block = trace::memberBytes(type, layout), row = layout->block ? block / layout->block : 0;
  auto buffer = record::Buffer::allocate(record::bytesHere(type, layout));
  for (int local = 0; local < job.localMembers; ++local) {
    int64_t bytes = layout->rows(job.member(local)) * row;
    char *to = static_cast<char *>(buffer->data) + local * block;
    std::memcpy(to, rows, static_cast<size_t>(bytes));
    std::memset(to + bytes, 0, static_cast<size_t>(block - bytes));
    rows += bytes;
  }
  ValueRef value = record::concrete(type, std::move(buffer), layout);
  return record::makeTensor(record::transfer(value, record::placeOf(like, where), where));
}

/// This process's blocks of a tensor whose elements it has all of.
Tensor dealOut(const Tensor &like, const char *whole, trace::TypeRef type, Where where) {
  const record::Job &job = *record::job();
  LayoutRef layout = trace::blocksOf(0, type->shape[0], job.dealt());
  int64_t row = type->shape[0] ? type->bytes / type->shape[0] : 0;
  return intoBlocks(like, whole + layout->borders[job.member(0)] * row, type, layout, where);
}

/// What ranks tell each other of their rows: the type without their number must be equal.
struct RowsOfRank {
  int64_t rows = 0;
  std::array<char, 120> rest{};
};

std::vector<int64_t> exchangeRows(const record::Job &job, trace::TypeRef type, Where where) {
  RowsOfRank own{.rows = type->shape[0]};
  std::string rest = std::string(name(type->dtype)) + " [*";
  for (size_t i = 1; i < type->shape.size(); ++i)
    rest += ", " + std::to_string(type->shape[i]);
  rest.append("]").copy(own.rest.data(), own.rest.size() - 1);
  std::vector<RowsOfRank> ofMembers(static_cast<size_t>(job.localMembers), own);
  auto all = gatherBlocks(job, reinterpret_cast<const char *>(ofMembers.data()), sizeof(RowsOfRank), where);
  std::vector<RowsOfRank> told(static_cast<size_t>(job.members));
  std::memcpy(told.data(), all->data, told.size() * sizeof(RowsOfRank));
  std::vector<int64_t> rows;
  for (int rank = 0; rank < job.worldSize; ++rank) {
    const RowsOfRank &one = told[static_cast<size_t>(rank) * static_cast<size_t>(job.localMembers)];
    if (one.rest != told[0].rest)
      fail(ErrorKind::Type,
           "from_local: rank 0 gives rows of " + std::string(told[0].rest.data()) + ", rank " + std::to_string(rank) +
               " of " + one.rest.data(),
           where);
    rows.push_back(one.rows);
  }
  return rows;
}

} // namespace

Tensor joinBlocks(const Tensor &blocks, LayoutRef layout) {
  ValueRef value = concreteValue(blocks, Where::current());
  std::vector<int64_t> shape = value->type->shape;
  shape[0] = layout->borders.back();
  return record::makeTensor(record::concrete(trace::internType(value->type->dtype, shape), value->buffer, layout));
}

Tensor from_local(const Tensor &rows, Where where) {
  const record::Job &job = record::requireJob("from_local", where);
  needValues("from_local() runs at once", where);
  trace::TypeRef type = record::implOf(rows, where).type;
  if (type->shape.empty())
    fail(ErrorKind::Type, "from_local: expected rows, got a tensor of rank 0", where);
  if (is_split(rows, where))
    fail(ErrorKind::Distributed, "from_local: the tensor is one of the whole job already", where);
  if (job.members == 1)
    return shard(rows, where); // in leaves, where sums have an order
  std::vector<int64_t> borders{0}, shape = type->shape;
  for (int64_t count : exchangeRows(job, type, where)) {
    int64_t first = borders.back(), block = (count + job.localMembers - 1) / job.localMembers;
    for (int64_t local = 1; local <= job.localMembers; ++local)
      borders.push_back(first + std::min(local * block, count));
  }
  shape[0] = borders.back();
  record::HostBytes bytes = record::readOnHost(rows, where);
  LayoutRef given = trace::internLayout(0, borders);
  Tensor joined =
      intoBlocks(rows, static_cast<const char *>(bytes.data), trace::internType(type->dtype, shape), given, where);
  if (job.leaves == 0 || given == trace::blocksOf(0, shape[0], job.dealt()))
    return joined;
  // Members have whole leaves: rows go to where any number of ranks would have them.
  ValueRef value = record::valueOf(joined, where);
  return dealOut(rows, static_cast<const char *>(record::wholeOf(*value, where)), value->type, where);
}

Tensor shard(const Tensor &tensor, Where where) {
  const record::Job &job = record::requireJob("shard", where);
  needValues("shard() runs at once", where);
  trace::TypeRef type = record::implOf(tensor, where).type;
  if (type->shape.empty())
    fail(ErrorKind::Type, "shard: expected rows, got a tensor of rank 0", where);
  if (!job.dealt().split() || is_split(tensor, where))
    return tensor;
  record::HostBytes bytes = record::readOnHost(tensor, where);
  return dealOut(tensor, static_cast<const char *>(bytes.data), type, where);
}

Tensor to_local(const Tensor &tensor, Where where) {
  needValues("to_local() runs at once", where);
  if (!is_split(tensor, where))
    return tensor;
  const record::Job &job = record::requireJob("to_local", where);
  ValueRef value = concreteValue(tensor, where);
  LayoutRef layout = value->layout;
  if (layout->dim != 0)
    fail(ErrorKind::Distributed, "to_local: not rows are split but dim " + std::to_string(layout->dim), where);
  auto own = onHost(*value, where);
  std::vector<int64_t> shape = value->type->shape;
  size_t first = static_cast<size_t>(job.firstMember);
  shape[0] = layout->borders[first + static_cast<size_t>(job.localMembers)] - layout->borders[first];
  trace::TypeRef type = trace::internType(value->type->dtype, shape);
  auto rows = record::Buffer::allocate(type->bytes);
  int64_t block = trace::memberBytes(value->type, layout), row = layout->block ? block / layout->block : 0;
  char *to = static_cast<char *>(rows->data);
  for (int local = 0; local < job.localMembers; ++local) {
    int64_t bytes = layout->rows(first + static_cast<size_t>(local)) * row;
    std::memcpy(to, static_cast<const char *>(own->data) + local * block, static_cast<size_t>(bytes));
    to += bytes;
  }
  return record::makeTensor(record::transfer(record::concrete(type, std::move(rows)), value->at(), where));
}

bool is_split(const Tensor &tensor, Where where) {
  if (!record::job())
    return false;
  if (!record::recording())
    record::demand(record::valueOf(tensor, where), where); // a result's layout is known once it has run
  return record::valueOf(tensor, where)->layout != nullptr;
}

} // namespace distributed
} // namespace dlc
