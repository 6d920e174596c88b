#include "drivers/sim/SimSite.h"

namespace dlc {

std::string describeSite(const DlcSimSite *site) {
  if (!site || !site->file)
    return "";
  return " at " + std::string(site->file) + ":" + std::to_string(site->line) + ":" + std::to_string(site->column);
}

} // namespace dlc
