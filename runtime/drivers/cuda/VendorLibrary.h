#pragma once

#include "dlc/runtime/Status.h"

#include <initializer_list>
#include <string_view>

namespace dlc::runtime {

/// A library of the vendor, opened when first needed and kept to the program's end: its threads run its code.
struct VendorLibrary {
  std::string_view absent;         ///< what to say first where there is none: "no NCCL: "
  const char *name;                ///< its soname
  const char *older;               ///< that of an older version which will do; null: none
  std::string_view install, renew; ///< what to do where there is none, and where it lacks a symbol
  bool partial = false;            ///< symbols it lacks are no failure

  struct Symbol {
    void **field;
    const char *name;
  };
  /// Sets each field from the library, or from the one that DLC_GPU_LIBRARY names. One
  /// sentence says what is missing.
  Status load(std::initializer_list<Symbol> symbols) const;

  /// What DLC_GPU_LIBRARY names: it stands for all of the vendor's libraries; null: nothing.
  static const char *replacement();
};

} // namespace dlc::runtime
