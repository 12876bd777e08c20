//===- Program.cpp - main of every executable -----------------------------===//
//
// Runs the stages of a Session. After each stage the ranks tell each other
// whether it went well; if not, rank 0 prints what went wrong, once, and all
// ranks end. A rank that fails between two such points is seen by the others'
// watchdogs.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Program.h"
#include "Refusals.h"
#include "Session.h"
#include "tessera/Runtime/Fatal.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <unistd.h>

namespace tessera::rt {

namespace {
/// Distinct messages with the ranks that have them, e.g. "rank 1, 3: ...". No
/// rank is named when all say the same.
std::string joinMessages(const std::vector<std::string> &all) {
  std::string text;
  std::vector<bool> done(all.size(), false);
  size_t printed = 0, kinds = 0;
  for (size_t r = 0; r < all.size(); ++r) {
    if (done[r] || all[r].empty())
      continue;
    std::string ranks;
    size_t count = 0;
    for (size_t q = r; q < all.size(); ++q)
      if (all[q] == all[r]) {
        done[q] = true;
        if (++count <= 8)
          ranks += (ranks.empty() ? "" : ", ") + std::to_string(q);
      }
    if (count > 8)
      ranks += ", ...";
    ++kinds;
    if (++printed > 4)
      continue;
    text += "error: " + (count == all.size() ? "" : "rank " + ranks + ": ") +
            all[r] + "\n";
  }
  if (kinds > 4)
    text += "error: and " + std::to_string(kinds - 4) +
            " more different messages of other ranks\n";
  return text;
}

/// 0, or the number of what went wrong.
int writeAll(int fd, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n < 0 ? errno : EIO;
    done += static_cast<size_t>(n);
  }
  return 0;
}

/// What the user asked to see; a result that nobody can see is no success.
int show(const std::string &text) {
  int code = writeAll(STDOUT_FILENO, text);
  if (code == 0)
    return 0;
  writeAll(STDERR_FILENO, "error: cannot write standard output: " +
                              std::string(std::strerror(code)) + "\n");
  return exitFailure;
}

class Program {
public:
  Program(const Manifest &manifest, const ProgramOptions &options, World &world)
      : world(world), options(options), session(manifest, options, world) {}

  /// All stages; 0 or the exit code.
  int run(const Manifest &manifest, ForwardFunction forward);

private:
  /// True if the stage went well on every rank. Otherwise the messages are out
  /// and `code` is this rank's exit code.
  bool agree(const Status &status);
  bool stage(const std::function<Status()> &body) {
    return agree(guarded(body));
  }
  static Status guarded(const std::function<Status()> &body) {
    try {
      return body();
    } catch (const std::bad_alloc &) {
      return Status::failure("out of host memory");
    } catch (const std::exception &e) {
      return Status::failure(e.what());
    }
  }
  Expected<DeviceKind> chooseDevice();

  World &world;
  const ProgramOptions &options;
  Session session;
  int code = 0;
};

bool Program::agree(const Status &status) {
  std::vector<std::string> all;
  if (Status s = world.gather(status.message(), all))
    fatalPeer(world, status ? status.message() : s.message());
  bool well = true;
  for (const std::string &message : all)
    well &= message.empty();
  if (well)
    return true;
  if (world.rank() == 0)
    writeAll(STDERR_FILENO, joinMessages(all));
  // A starter may end all ranks as soon as one has failed: rank 0 speaks first.
  (void)world.barrier();
  code = status ? exitFailure : exitPeerFailed;
  return false;
}

/// The same kind on every rank.
Expected<DeviceKind> Program::chooseDevice() {
  if (options.device == DeviceChoice::Virtual)
    return DeviceKind::Virtual;
  if (options.device == DeviceChoice::Cuda)
    return DeviceKind::Cuda;
  // The checking and seeding options only exist on the virtual GPU.
  std::string why = options.check || options.virtualSeed
                        ? "an option asks for the virtual GPU"
                        : session.whyNoCuda();
  std::vector<std::string> all;
  if (Status s = world.gather(why, all))
    return s;
  int with = -1, without = -1;
  for (int r = 0; r < world.size(); ++r)
    (all[r].empty() ? with : without) = r;
  if (with >= 0 && without >= 0)
    return failure("rank ", with, " has a CUDA device but rank ", without,
                   " has none (", all[without],
                   "); choose --device=virtual or --device=cuda");
  return with >= 0 ? DeviceKind::Cuda : DeviceKind::Virtual;
}

int Program::run(const Manifest &manifest, ForwardFunction forward) {
  DeviceKind kind = DeviceKind::Virtual;
  bool well = stage([&] { return session.checkInputs(); }) && stage([&] {
                auto chosen = chooseDevice();
                if (chosen)
                  kind = *chosen;
                return chosen ? Status::success() : chosen.status();
              }) &&
              stage([&] { return session.openDevice(kind); }) &&
              stage([&] { return session.createCommunicators(); }) &&
              stage([&] { return session.allocate(); }) &&
              stage([&] { return session.fillParameters(); }) &&
              stage([&] { return session.fillInputs(); });
  if (!well)
    return code;
  setCollectivesFatal(true);
  well = stage([&] { return session.run(forward); }) &&
         stage([&] { return session.collectOutputs(); }) && stage([&] {
           return world.rank() == 0 ? session.writeOutput() : Status::success();
         });
  if (well && world.rank() == 0)
    code = show(reportText(manifest, options, session.result()));
  return code;
}

/// Whether this rank prints what every rank could.
bool speaks(const RankInfo &info) { return info.rank == 0; }

int complain(const RankInfo &info, const std::string &message, int code) {
  if (speaks(info))
    writeAll(STDERR_FILENO, "error: " + message + "\n");
  return code;
}

int start(int argc, char **argv, const char *text, ForwardFunction forward) {
  // A file-size limit and a closed pipe are errors to report, not signals.
  std::signal(SIGXFSZ, SIG_IGN);
  auto rank = detectRank();
  if (!rank) {
    writeAll(STDERR_FILENO, "error: " + rank.message() + "\n");
    return exitFailure;
  }
  const RankInfo &info = *rank;
  auto manifest = parseManifest(text);
  if (!manifest)
    return complain(info, manifest.message(), exitFailure);
  auto options = parseOptions(argc, argv);
  if (!options)
    return complain(info, options.message(), exitUsage);
  if (options->help || options->describe) {
    if (!speaks(info))
      return 0;
    return show(options->help ? helpText(options->program)
                              : describeText(*manifest, options->json));
  }
  if (auto refusal = refuse(*manifest, *options, info))
    return complain(info, refusal->message, refusal->code);
  auto joined = World::join(info);
  if (!joined) {
    writeAll(STDERR_FILENO, "error: " + joined.message() + "\n");
    return exitFailure;
  }
  World &world = **joined;
  setCurrentWorld(&world);
  if (world.size() > 1)
    setFatalPrefix("rank " + std::to_string(world.rank()) + ": ");
  addFatalHook([&world](const std::string &message) { world.fail(message); });
  int code;
  {
    Watchdog watchdog(world);
    Program program(*manifest, *options, world);
    code = program.run(*manifest, forward);
    if (code == 0) {
      // Nobody leaves before rank 0 has printed.
      if (Status s = world.barrier())
        fatalPeer(world, s.message());
    }
    world.finish();
  }
  setCurrentWorld(nullptr);
  return code;
}
} // namespace

int programMain(int argc, char **argv, const char *manifest,
                ForwardFunction forward) {
  try {
    return start(argc, argv, manifest, forward);
  } catch (const std::exception &e) {
    writeAll(STDERR_FILENO, std::string("error: ") + e.what() + "\n");
    return exitFailure;
  }
}

} // namespace tessera::rt
