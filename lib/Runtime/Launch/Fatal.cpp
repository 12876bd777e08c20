//===- Fatal.cpp - end of the program with one message --------------------===//
//
// The message goes out with a single write, so that the messages of several
// ranks do not mix.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Fatal.h"

#include <atomic>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace tessera::rt {

namespace {
struct FatalState {
  std::string prefix;
  std::vector<std::function<void(const std::string &)>> hooks;
  std::atomic<bool> entered{false};
};
FatalState &state() {
  static FatalState *s = new FatalState(); // outlives every destructor
  return *s;
}
} // namespace

void setFatalPrefix(const std::string &prefix) { state().prefix = prefix; }

void addFatalHook(std::function<void(const std::string &)> hook) {
  state().hooks.push_back(std::move(hook));
}

void fatal(const std::string &message) {
  FatalState &s = state();
  if (s.entered.exchange(true))
    for (;;)
      pause(); // another thread is ending the process
  std::fflush(nullptr);
  std::string line = "error: " + s.prefix + message + "\n";
  for (size_t done = 0; done < line.size();) {
    ssize_t n = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n <= 0)
      break;
    done += static_cast<size_t>(n);
  }
  for (auto it = s.hooks.rbegin(); it != s.hooks.rend(); ++it)
    (*it)(message);
  _exit(1);
}

} // namespace tessera::rt
