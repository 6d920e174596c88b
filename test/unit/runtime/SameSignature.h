#pragma once

#include <type_traits>

namespace dlc::test {

/// Of two handles that are never looked into: whether they stand for each other. Specialized by tests.
template <typename Ours, typename Theirs>
struct SameHandle : std::false_type {};

/// Whether two types pass through a call alike: enums as ints, structs by size and alignment.
template <typename Ours, typename Theirs>
constexpr bool isAlike() {
  if constexpr (std::is_same_v<Ours, Theirs> || SameHandle<Ours, Theirs>::value)
    return true;
  else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
    return isAlike<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
  else if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>)
    return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
  else
    return std::is_same_v<Ours, int> && std::is_enum_v<Theirs> && sizeof(Theirs) == sizeof(int);
}

/// Whether a function that we declare can be called as a vendor's header declares it.
template <typename Ours, typename Theirs>
struct SameSignature : std::false_type {};
template <typename OurResult, typename... OurParameters, typename TheirResult, typename... TheirParameters>
struct SameSignature<OurResult (*)(OurParameters...), TheirResult (*)(TheirParameters...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(OurParameters) == sizeof...(TheirParameters))
      return isAlike<OurResult, TheirResult>() && (isAlike<OurParameters, TheirParameters>() && ...);
    else
      return false;
  }();
};

} // namespace dlc::test
