#include "Rows.h"

#include <unistd.h>

namespace dlc::gpucheck {

namespace {

void tell(const Json &line) {
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t at = 0; at < text.size();) {
    ssize_t count = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (count <= 0)
      return; // the parent is gone, and this process with it
    at += size_t(count);
  }
}

} // namespace

void begin(size_t index, const std::string &name) { tell({{"begin", index}, {"name", name}}); }

void report(const Row &row) {
  Json line{{"name", row.name}, {"ok", row.ok}};
  if (!row.message.empty())
    line["message"] = row.message;
  if (!row.values.empty())
    line["values"] = row.values;
  if (!row.choice.is_null())
    line["choice"] = row.choice;
  tell({{"row", std::move(line)}});
}

void reportNone(const std::string &why) { tell({{"none", why}}); }

} // namespace dlc::gpucheck
