#include "record/Trace.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

namespace dlc {

namespace {
std::string text(const Where &where) { return std::string(where.file_name()) + ":" + std::to_string(where.line()); }

std::string describe(const std::string &message, Where where, const std::vector<Where> &chain) {
  std::string result = text(where) + ": error: " + message;
  for (const Where &caller : chain)
    result += "\n  called from " + text(caller);
  return result;
}

void printRemark(const std::string &text) { std::fprintf(stderr, "%s\n", text.c_str()); }
void (*remarkHandler)(const std::string &) = printRemark;
} // namespace

Error::Error(ErrorKind kind, const std::string &message, Where where, std::vector<Where> chain)
    : std::runtime_error(describe(message, where, chain)), kind_(kind), message_(message), where_(where),
      chain_(std::move(chain)) {}

void set_remark_handler(void (*handler)(const std::string &text)) { remarkHandler = handler; }

namespace record {

namespace {
/// Whether the line is in dlc's own sources, of which this file is one.
bool isOwn(const std::source_location &line) {
  static const std::string_view root = [] {
    std::string_view path = std::source_location::current().file_name();
    return path.substr(0, path.size() - std::string_view("record/Location.cpp").size());
  }();
  return std::string_view(line.file_name()).substr(0, root.size()) == root;
}
} // namespace

Site locate(const std::source_location &line) {
  const trace::Scope *scope = threadState().scope;
  if (!scope || !isOwn(line))
    return {line, scope};
  while (scope->outer && isOwn(scope->where))
    scope = scope->outer;
  return {scope->where, scope->outer};
}

void fail(ErrorKind kind, const std::string &message, const Site &site) {
  std::vector<std::source_location> chain;
  for (const trace::Scope *scope = site.scope; scope; scope = scope->outer)
    chain.push_back(scope->where);
  throw Error(kind, message, site.line, std::move(chain));
}

void fail(ErrorKind kind, const std::string &message, const std::source_location &line) {
  fail(kind, message, locate(line));
}

void check(const Status &status, const std::source_location &line) {
  if (status.ok())
    return;
  ErrorKind kind = status.code() == StatusCode::InvalidInput ? ErrorKind::Value
                   : status.code() == StatusCode::PeerFailed ? ErrorKind::Distributed
                                                             : ErrorKind::Internal;
  fail(kind, status.message(), line);
}

std::string brief(const Site &site) {
  std::string_view path = site.line.file_name();
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(site.line.line());
}

void remark(const std::string &message, const Site &site) {
  if (remarkHandler)
    remarkHandler(text(site.line) + ": remark: " + message);
}

const trace::Scope *enterScope(const std::source_location &where, const trace::Scope *outer) {
  static std::mutex mutex;
  static std::map<std::tuple<const char *, uint32_t, uint32_t, const trace::Scope *>, trace::Scope> scopes;
  std::lock_guard lock(mutex);
  return &scopes.try_emplace({where.file_name(), where.line(), where.column(), outer}, trace::Scope{where, outer})
              .first->second;
}

} // namespace record
} // namespace dlc
