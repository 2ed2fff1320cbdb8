// Errors as values: Error, Result<T>, Status and the TRY macros.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hutch {

// What kind of failure an Error is; callers branch on this, people read the message.
enum class Code { kInvalidArgument, kNotFound, kPermissionDenied, kConflict, kUnsupported, kTimeout, kSystem };

// An operational failure. The message reads outermost context first and names the call and its argument:
// "prepare /usr: mount_setattr(/usr): Permission denied".
struct Error {
  Code code = Code::kSystem;
  int sys_errno = 0;
  std::string message;

  // `what` is the call with its argument, "open(/etc/x)"; the text of `err` is appended.
  static Error from_errno(std::string_view what, int err = errno);
  static Error invalid(std::string message) { return {Code::kInvalidArgument, 0, std::move(message)}; }
  static Error not_found(std::string message) { return {Code::kNotFound, 0, std::move(message)}; }
  static Error unsupported(std::string message) { return {Code::kUnsupported, 0, std::move(message)}; }

  // Prepends the caller's intent. Never repeats what the callee already said.
  Error with_context(std::string_view context) &&;
};

// Derived from std::expected only to be [[nodiscard]]: libstdc++ 12's own is not, and a dropped Status would compile.
template <class T>
struct [[nodiscard]] Result : std::expected<T, Error> {
  using std::expected<T, Error>::expected;
};
using Status = Result<void>;

inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

namespace detail {
template <class T>
T release(Result<T>& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace detail

#define TRY(expr)                                                             \
  (__extension__({                                                            \
    auto try_result_ = (expr);                                                \
    if (!try_result_) return std::unexpected(std::move(try_result_).error()); \
    ::hutch::detail::release(try_result_);                                    \
  }))

#define TRY_CTX(expr, context)                                                                      \
  (__extension__({                                                                                  \
    auto try_result_ = (expr);                                                                      \
    if (!try_result_) return std::unexpected(std::move(try_result_).error().with_context(context)); \
    ::hutch::detail::release(try_result_);                                                          \
  }))

}  // namespace hutch
