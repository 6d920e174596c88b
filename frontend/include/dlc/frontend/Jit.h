#pragma once

#include "dlc/frontend/Tensor.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace dlc {

struct JitOptions {
  /// Name of the entry in artifacts and messages.
  std::string name = "main";
  /// Names of inputs and outputs in artifacts; `arg0` … and `out0` … unless given.
  std::vector<std::string> inputs = {}, outputs = {};
  /// An Error instead of tracing at every call where the body needs a value.
  bool fullgraph = false;
  /// Gradients that an optimizer used stay readable after the call.
  bool keep_grads = false;
  /// Calls 2, 4, 8, … of an entry record the body again and compare; DLC_JIT_CHECK=0 turns this off everywhere.
  bool check = true;
  /// Bytes a call may need at its peak, and of these for intermediate values; 0: any. Where they are too few, values
  /// that the backward pass needs are computed again instead of kept, with the same bits; an Error if that is not
  /// enough.
  int64_t memory_limit = 0, activation_budget = 0;
  /// Who makes the kernels of matrix products, and of convolutions, on an NVIDIA GPU: "library" (cuBLASLt, cuDNN, where
  /// they have such a call), "generated" or "auto"; "" is what DLC_MATMUL and DLC_CONV say, else auto: by element type,
  /// size and device, of the libraries that are found. A library's sums have an order of its own.
  std::string matmul = "", conv = "";
};

/// What making a compiled entry took, and the memory it needs.
struct JitReport {
  double trace_seconds = 0;
  double compile_seconds = 0;
  /// Planned peak of a call, in bytes, state included.
  int64_t peak_bytes = 0;
  /// Of these, bytes of intermediate values.
  int64_t activation_bytes = 0;
};

namespace detail {

/// Tensors of a call in the order of the parameters, and what steers C++: integers, strings, sizes.
class Flat {
public:
  void push(const Tensor &tensor) {
    if (count < few.size())
      few[count] = tensor;
    else
      more.push_back(tensor);
    ++count;
  }
  void push(Tensor &&tensor) {
    if (count < few.size())
      few[count] = std::move(tensor);
    else
      more.push_back(std::move(tensor));
    ++count;
  }
  Tensor &operator[](size_t i) { return i < few.size() ? few[i] : more[i - few.size()]; }
  const Tensor &operator[](size_t i) const { return i < few.size() ? few[i] : more[i - few.size()]; }
  size_t size() const { return count; }
  std::vector<int64_t> statics;

private:
  std::array<Tensor, 4> few;
  std::vector<Tensor> more;
  size_t count = 0;
};

/// Reads a Flat from its start.
struct FlatReader {
  const Flat &flat;
  size_t tensor = 0, fixed = 0;
};

template <typename T>
concept Fielded = requires(T &value) { T::fields(value); };
template <typename T>
struct IsTensor : std::is_base_of<Tensor, T> {};
template <typename T>
inline constexpr bool isUnsupported = false;

void writeText(const std::string &text, Flat &flat);
std::string readText(FlatReader &reader);

template <typename T>
void flatten(const T &value, Flat &flat);
template <typename T>
T unflatten(FlatReader &reader);

template <typename T>
struct Flattener {
  static void write(const T &value, Flat &flat) {
    if constexpr (IsTensor<T>::value) {
      flat.push(value);
    } else if constexpr (std::is_same_v<T, Scalar>) {
      flat.push(value.as_tensor());
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      flat.statics.push_back(static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      writeText(value, flat);
    } else if constexpr (Fielded<const T>) {
      std::apply([&](const auto &...field) { (flatten(field, flat), ...); }, T::fields(value));
    } else {
      static_assert(!std::is_floating_point_v<T>, "a float parameter would be frozen: take dlc::Scalar");
      static_assert(isUnsupported<T>, "jit: parameters and results are tensors, Scalars, integers, strings, and "
                                      "vectors, arrays, tuples, maps and structs with fields() of these");
    }
  }
  static T read(FlatReader &reader) {
    if constexpr (IsTensor<T>::value) {
      return reader.flat[reader.tensor++];
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return Scalar(reader.flat[reader.tensor++]);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return static_cast<T>(reader.flat.statics[reader.fixed++]);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return readText(reader);
    } else {
      T value;
      std::apply([&](auto &...field) { ((field = unflatten<std::decay_t<decltype(field)>>(reader)), ...); },
                 T::fields(value));
      return value;
    }
  }
};

template <typename T>
struct Flattener<std::vector<T>> {
  static void write(const std::vector<T> &list, Flat &flat) {
    flat.statics.push_back(static_cast<int64_t>(list.size()));
    for (const T &item : list)
      flatten(item, flat);
  }
  static std::vector<T> read(FlatReader &reader) {
    std::vector<T> list;
    for (int64_t i = 0, size = reader.flat.statics[reader.fixed++]; i < size; ++i)
      list.push_back(unflatten<T>(reader));
    return list;
  }
};

template <typename K, typename T>
struct Flattener<std::map<K, T>> {
  static void write(const std::map<K, T> &map, Flat &flat) {
    flat.statics.push_back(static_cast<int64_t>(map.size()));
    for (const auto &[key, value] : map) {
      flatten(key, flat);
      flatten(value, flat);
    }
  }
  static std::map<K, T> read(FlatReader &reader) {
    std::map<K, T> map;
    for (int64_t i = 0, size = reader.flat.statics[reader.fixed++]; i < size; ++i) {
      K key = unflatten<K>(reader);
      map.emplace(std::move(key), unflatten<T>(reader));
    }
    return map;
  }
};

template <typename... T>
struct Flattener<std::tuple<T...>> {
  static void write(const std::tuple<T...> &tuple, Flat &flat) {
    std::apply([&](const T &...item) { (flatten(item, flat), ...); }, tuple);
  }
  static std::tuple<T...> read(FlatReader &reader) { return std::tuple<T...>{unflatten<T>(reader)...}; }
};

template <typename A, typename B>
struct Flattener<std::pair<A, B>> {
  static void write(const std::pair<A, B> &pair, Flat &flat) {
    flatten(pair.first, flat);
    flatten(pair.second, flat);
  }
  static std::pair<A, B> read(FlatReader &reader) {
    return std::pair<A, B>{unflatten<A>(reader), unflatten<B>(reader)};
  }
};

template <typename T, size_t N>
struct Flattener<std::array<T, N>> {
  static void write(const std::array<T, N> &array, Flat &flat) {
    for (const T &item : array)
      flatten(item, flat);
  }
  static std::array<T, N> read(FlatReader &reader) {
    std::array<T, N> array;
    for (T &item : array)
      item = unflatten<T>(reader);
    return array;
  }
};

template <typename T>
void flatten(const T &value, Flat &flat) {
  Flattener<T>::write(value, flat);
}
template <typename T>
T unflatten(FlatReader &reader) {
  return Flattener<T>::read(reader);
}

/// The user's function without its types.
struct Body {
  void *self;
  void (*run)(void *self, const Flat &arguments, Flat &results);
};

struct FunctionState;

/// What a Jitted records, compiles and calls.
class Function {
public:
  Function(JitOptions options, Where where);
  void call(const Flat &arguments, Flat &results, Body body);
  /// Entries compiled so far; traced and not compiled ones do not count.
  size_t entries() const;
  JitReport report(size_t entry, Where where) const;
  const std::shared_ptr<FunctionState> &get() const { return state; }

private:
  std::shared_ptr<FunctionState> state;
};
/// Whether this thread is recording a jitted function.
bool isRecording();

template <typename F>
struct CallType : CallType<decltype(&F::operator())> {};
template <typename C, typename R, typename... A>
struct CallType<R (C::*)(A...) const> {
  using type = R(A...);
};
template <typename C, typename R, typename... A>
struct CallType<R (C::*)(A...)> {
  using type = R(A...);
};
template <typename R, typename... A>
struct CallType<R (*)(A...)> {
  using type = R(A...);
};

} // namespace detail

template <typename Signature>
class Jitted;

/// A function recorded once for each signature and run as compiled code from then on. Copies share what is compiled.
/// The body runs an unspecified number of times, at least once a signature. A C++ number it captured by reference and
/// that has changed is found by a check (ErrorKind::StaleCapture).
template <typename R, typename... A>
class Jitted<R(A...)> {
public:
  template <typename F>
  Jitted(F function, JitOptions options, Where where)
      : shared(std::make_shared<Shared>(std::move(function), std::move(options), where)) {}

  R operator()(A... arguments) const {
    if (detail::isRecording()) // part of the function being recorded
      return shared->body(std::forward<A>(arguments)...);
    detail::Flat in, out;
    (give(std::forward<A>(arguments), in), ...);
    shared->function.call(in, out, {shared.get(), &run});
    if constexpr (std::is_same_v<std::decay_t<R>, Tensor>) {
      return std::move(out[0]);
    } else if constexpr (!std::is_void_v<R>) {
      detail::FlatReader reader{out};
      return detail::unflatten<std::decay_t<R>>(reader);
    }
  }

  /// Entries compiled so far.
  size_t entries() const { return shared->function.entries(); }
  /// Of the entry of that number, in the order of compiling; an Error when there is none.
  JitReport report(size_t entry = 0, Where where = Where::current()) const {
    return shared->function.report(entry, where);
  }
  const detail::Function &function() const { return shared->function; }

private:
  template <typename T>
  static void give(T &&argument, detail::Flat &in) {
    if constexpr (std::is_same_v<std::decay_t<T>, Tensor>)
      in.push(std::forward<T>(argument));
    else
      detail::flatten<std::decay_t<T>>(argument, in);
  }

  struct Shared {
    template <typename F>
    Shared(F body, JitOptions options, Where where) : body(std::move(body)), function(std::move(options), where) {}
    std::function<R(A...)> body;
    detail::Function function;
  };

  static void run(void *self, const detail::Flat &in, detail::Flat &out) {
    auto &body = static_cast<Shared *>(self)->body;
    detail::FlatReader reader{in};
    // Braces keep the order of the parameters.
    std::tuple<std::decay_t<A>...> arguments{detail::unflatten<std::decay_t<A>>(reader)...};
    auto call = [&](std::decay_t<A> &...values) -> R { return body(std::forward<A>(values)...); };
    if constexpr (std::is_void_v<R>)
      std::apply(call, arguments);
    else
      detail::flatten<std::decay_t<R>>(std::apply(call, arguments), out);
  }

  std::shared_ptr<Shared> shared;
};

template <typename F>
auto jit(F function, JitOptions options = {}, Where where = Where::current()) {
  return Jitted<typename detail::CallType<F>::type>(std::move(function), std::move(options), where);
}
/// For a generic callable: jit<Tensor(Tensor)>(f).
template <typename Signature, typename F>
Jitted<Signature> jit(F function, JitOptions options = {}, Where where = Where::current()) {
  return Jitted<Signature>(std::move(function), std::move(options), where);
}

/// A jitted function under the name of its entry.
struct ArtifactEntry {
  template <typename Signature>
  ArtifactEntry(std::string name, const Jitted<Signature> &function)
      : name(std::move(name)), function(function.function().get()) {}
  std::string name;
  std::shared_ptr<detail::FunctionState> function;
};

struct ArtifactOptions {
  /// What it can run on, as in `dlc compile --target`: "cpu", "sim", "cuda:sm_80", "cuda:sm_90", "cuda:sm_100".
  std::vector<std::string> targets = {"cpu"};
};

/// Compiles the functions ahead of time into one shared object; each must have been called. Variables start with their
/// values of now.
void save_artifact(const std::string &path, std::initializer_list<ArtifactEntry> entries, ArtifactOptions options = {},
                   Where where = Where::current());

} // namespace dlc
