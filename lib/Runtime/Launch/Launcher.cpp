//===- Launcher.cpp - starting the ranks of one host ----------------------===//
//
// Fork and exec, output of ranks other than 0 through pipes, one loop over
// output, signals and exits. Signals arrive through a signalfd, so the loop has
// no asynchronous code. Ranks die with the launcher (PR_SET_PDEATHSIG).
//
//===----------------------------------------------------------------------===//
#include "SharedMemory.h"
#include "Worlds.h"
#include "tessera/Runtime/Launch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::rt {

namespace {
using Clock = std::chrono::steady_clock;

/// One output stream of one rank, cut into lines.
struct Pipe {
  int fd = -1;
  int to = STDOUT_FILENO;
  std::string prefix;
  std::string pending;

  void emit(bool last) {
    std::string out;
    for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
      std::string line = pending.substr(0, end + 1);
      pending.erase(0, end + 1);
      // Messages of the runtime name the rank themselves.
      out += line.rfind("error: ", 0) == 0 ? line : prefix + line;
    }
    if (last && !pending.empty()) {
      out += prefix + pending + "\n";
      pending.clear();
    }
    for (size_t done = 0; done < out.size();) {
      ssize_t n = write(to, out.data() + done, out.size() - done);
      if (n <= 0)
        break;
      done += static_cast<size_t>(n);
    }
  }
  /// Reads what there is; closes at the end of the stream.
  void drain() {
    char buffer[8192];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
      pending.append(buffer, static_cast<size_t>(n));
      emit(false);
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      emit(true);
      close(fd);
      fd = -1;
    }
  }
};

struct Child {
  pid_t pid = -1;
  bool running = false;
  int status = 0;
  bool stopped = false; ///< ended by us
  Pipe out, err;
};

class Launcher {
public:
  Launcher(int ranks, const std::vector<std::string> &command, bool tellsItself)
      : command(command), tellsItself(tellsItself),
        children(static_cast<size_t>(ranks)),
        token(std::to_string(getpid()) + "." + std::to_string(randomNonce())) {}
  int run();

private:
  Status start(int rank);
  [[noreturn]] void become(int rank, int out, int err, int report);
  void loop();
  void reap();
  void stopAll(int signal);
  bool anyRunning() const {
    return std::any_of(children.begin(), children.end(),
                       [](const Child &c) { return c.running; });
  }
  bool failed(const Child &c) const { return !c.running && c.status != 0; }
  int verdict();

  const std::vector<std::string> &command;
  bool tellsItself;
  std::vector<Child> children;
  std::string token;
  sigset_t handled, previous;
  int signals = -1;
  int received = 0; ///< a signal that asked us to end
  bool stopping = false;
  Clock::time_point stopAt, killAt;
};

void Launcher::become(int rank, int out, int err, int report) {
  sigprocmask(SIG_SETMASK, &previous, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto set = [](const char *name, const std::string &value) {
    setenv(name, value.c_str(), 1);
  };
  std::string size = std::to_string(children.size());
  set("TESSERA_RANK", std::to_string(rank));
  set("TESSERA_WORLD_SIZE", size);
  set("TESSERA_LOCAL_RANK", std::to_string(rank));
  set("TESSERA_LOCAL_SIZE", size);
  set("TESSERA_RENDEZVOUS", token);
  if (rank != 0) {
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
  }
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  int error = errno;
  ssize_t ignored = write(report, &error, sizeof error);
  (void)ignored;
  _exit(127);
}

Status Launcher::start(int rank) {
  int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ||
      pipe2(report, O_CLOEXEC) != 0)
    return failure("cannot create a pipe: ", std::strerror(errno));
  pid_t pid = fork();
  if (pid < 0)
    return failure("cannot start rank ", rank, ": ", std::strerror(errno));
  if (pid == 0)
    become(rank, out[1], err[1], report[1]);
  close(out[1]);
  close(err[1]);
  close(report[1]);
  Child &child = children[static_cast<size_t>(rank)];
  child.pid = pid;
  child.running = true;
  int error = 0;
  ssize_t n = read(report[0], &error, sizeof error); // ends with exec
  close(report[0]);
  std::string prefix = "[" + std::to_string(rank) + "] ";
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);
  child.out = Pipe{out[0], STDOUT_FILENO, prefix, ""};
  child.err = Pipe{err[0], STDERR_FILENO, prefix, ""};
  if (n == sizeof error)
    return failure("cannot run '", command[0], "': ", std::strerror(error));
  return Status::success();
}

void Launcher::stopAll(int signal) {
  for (Child &c : children)
    if (c.running) {
      c.stopped = true;
      kill(c.pid, signal);
    }
}

void Launcher::reap() {
  for (Child &c : children) {
    int status = 0;
    if (c.running && waitpid(c.pid, &status, WNOHANG) == c.pid) {
      c.running = false;
      c.status = status;
      if (status != 0 && !stopping) {
        // The others notice by themselves and may have more to say.
        stopping = true;
        stopAt = Clock::now() + std::chrono::milliseconds(700);
        killAt = stopAt + std::chrono::seconds(2);
      }
    }
  }
}

void Launcher::loop() {
  while (anyRunning()) {
    std::vector<pollfd> fds{{signals, POLLIN, 0}};
    std::vector<Pipe *> pipes;
    for (Child &c : children)
      for (Pipe *p : {&c.out, &c.err})
        if (p->fd >= 0) {
          fds.push_back({p->fd, POLLIN, 0});
          pipes.push_back(p);
        }
    poll(fds.data(), fds.size(), stopping ? 50 : 1000);
    for (size_t i = 0; i < pipes.size(); ++i)
      if (fds[i + 1].revents)
        pipes[i]->drain();
    signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD)
        continue;
      received = static_cast<int>(info.ssi_signo);
      stopAll(received);
      if (!stopping)
        killAt = Clock::now() + std::chrono::seconds(2);
      stopping = true;
      stopAt = Clock::now() + std::chrono::seconds(1);
    }
    reap();
    if (stopping && Clock::now() >= stopAt)
      stopAll(Clock::now() >= killAt ? SIGKILL : SIGTERM);
  }
  for (Child &c : children)
    for (Pipe *p : {&c.out, &c.err})
      if (p->fd >= 0) {
        p->drain();
        p->emit(true);
        if (p->fd >= 0)
          close(p->fd);
      }
}

int Launcher::verdict() {
  if (received)
    return 128 + received;
  // The rank at fault: one that a signal ended, else one that did not just
  // follow another, else any.
  int culprit = -1, weight = 0;
  for (size_t r = 0; r < children.size(); ++r) {
    const Child &c = children[r];
    if (c.status == 0)
      continue;
    bool killed = WIFSIGNALED(c.status);
    int w = c.stopped                                 ? 1
            : killed                                  ? 4
            : WEXITSTATUS(c.status) != exitPeerFailed ? 3
                                                      : 2;
    if (w > weight) {
      weight = w;
      culprit = static_cast<int>(r);
    }
  }
  if (culprit < 0)
    return 0;
  int status = children[static_cast<size_t>(culprit)].status;
  if (tellsItself && WIFEXITED(status) &&
      (WEXITSTATUS(status) == exitFailure || WEXITSTATUS(status) == exitUsage))
    return WEXITSTATUS(status);
  bool many = children.size() > 1;
  std::ostringstream text;
  text << "error: rank " << culprit;
  if (WIFSIGNALED(status))
    text << " was ended by signal " << WTERMSIG(status) << " ("
         << strsignal(WTERMSIG(status)) << ")";
  else
    text << " ended with exit code " << WEXITSTATUS(status);
  text << (many ? "; all ranks were ended\n" : "\n");
  std::cerr << text.str() << std::flush;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int Launcher::run() {
  sigemptyset(&handled);
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&handled, s);
  sigprocmask(SIG_BLOCK, &handled, &previous);
  signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  std::cout << std::flush;
  int code = 0;
  for (size_t r = 0; r < children.size() && code == 0; ++r)
    if (Status s = start(static_cast<int>(r))) {
      std::cerr << "error: " << s.message() << "\n";
      code = exitFailure;
      stopAll(SIGKILL);
    }
  loop();
  if (code == 0)
    code = verdict();
  close(signals);
  sigprocmask(SIG_SETMASK, &previous, nullptr);
  removeSegments(jobSegmentStem("tessera run" + token), /*onlyDead=*/false);
  return code;
}
} // namespace

int launchRanks(int ranks, const std::vector<std::string> &command,
                bool tellsItself) {
  if (ranks < 1 || ranks > maxRanks) {
    std::cerr << "error: cannot start " << ranks << " ranks, expected 1 to "
              << maxRanks << "\n";
    return exitUsage;
  }
  if (command.empty()) {
    std::cerr << "error: no executable to run was given\n";
    return exitUsage;
  }
  // A file of the current folder goes before the search path.
  std::vector<std::string> resolved = command;
  if (resolved[0].find('/') == std::string::npos &&
      access(resolved[0].c_str(), X_OK) == 0)
    resolved[0] = "./" + resolved[0];
  return Launcher(ranks, resolved, tellsItself).run();
}

} // namespace tessera::rt
