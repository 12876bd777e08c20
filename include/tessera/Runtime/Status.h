//===- Status.h - errors of the runtime -------------------------*- C++ -*-===//
//
// The runtime reports a failure as one line of text that is ready to print:
// lower case, no full stop, naming the file, field or rank. No exception
// leaves a function of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_STATUS_H
#define TESSERA_RUNTIME_STATUS_H

#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace tessera::rt {

/// Success, or one line that says what went wrong. Converts to true on
/// *failure*, as llvm::Error does: `if (Status s = f()) return s;`.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status success() { return Status(); }
  static Status failure(std::string message) {
    Status s;
    s.text = std::move(message);
    return s;
  }
  explicit operator bool() const { return text.has_value(); }
  /// The message; empty on success.
  const std::string &message() const {
    static const std::string none;
    return text ? *text : none;
  }

private:
  std::optional<std::string> text;
};

/// Concatenates its arguments with operator<< into a failure.
template <typename... Args>
Status failure(const Args &...args) {
  std::ostringstream os;
  (os << ... << args);
  return Status::failure(os.str());
}

/// A value or a failure. Converts to true when there is a value.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T v) : value(std::move(v)) {}
  Expected(Status s) : error(std::move(s)) {}
  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  const Status &status() const { return error; }
  const std::string &message() const { return error.message(); }

private:
  std::optional<T> value;
  Status error;
};

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_STATUS_H
