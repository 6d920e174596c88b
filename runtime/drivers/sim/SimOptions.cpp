#include "drivers/sim/SimOptions.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace dlc {

namespace {

Status unknown(const char *what, const char *choices, const std::string &found) {
  return Status(StatusCode::InvalidInput,
                std::string("expects ") + what + " of simulated devices " + choices + ", got '" + found + "'");
}

} // namespace

StatusOr<SimOptions> withOrder(SimOptions options, const std::string &order) {
  constexpr std::string_view random = "random:";
  if (order == "forward")
    options.order = SimOrder::Forward;
  else if (order == "reverse")
    options.order = SimOrder::Reverse;
  else if (order == "warp")
    options.order = SimOrder::Warp;
  else if (order == "warp-reverse")
    options.order = SimOrder::WarpReverse;
  else if (order.starts_with(random)) {
    const char *begin = order.data() + random.size(), *end = order.data() + order.size();
    auto [stop, error] = std::from_chars(begin, end, options.seed);
    if (error != std::errc() || stop != end)
      return unknown("the seed of the order", "as a number", order);
    options.order = SimOrder::Random;
  } else {
    return unknown("the order", "forward, reverse, warp, warp-reverse or random:<seed>", order);
  }
  return options;
}

StatusOr<SimOptions> withCopy(SimOptions options, const std::string &copy) {
  if (copy != "late" && copy != "eager")
    return unknown("the copies", "late or eager", copy);
  options.copy = copy == "late" ? SimCopy::Late : SimCopy::Eager;
  return options;
}

StatusOr<SimOptions> SimOptions::fromEnvironment() {
  StatusOr<SimOptions> options = SimOptions();
  if (const char *order = std::getenv("DLC_SIM_ORDER"))
    options = withOrder(*options, order);
  if (!options.ok())
    return options.status().withContext("DLC_SIM_ORDER");
  if (const char *copy = std::getenv("DLC_SIM_COPY"))
    options = withCopy(*options, copy);
  if (!options.ok())
    return options.status().withContext("DLC_SIM_COPY");
  if (const char *check = std::getenv("DLC_SIM_CHECK")) {
    if (check != std::string_view("0") && check != std::string_view("1"))
      return unknown("the checks", "0 or 1", check).withContext("DLC_SIM_CHECK");
    options->check = *check == '1';
  }
  return options;
}

} // namespace dlc
