//===- TcpWorld.cpp - ranks on several hosts ------------------------------===//
//
// A star: every rank holds one connection to rank 0, which collects and sends
// out what is exchanged. Frames are one byte of type, eight of length, payload.
// A closed connection without a farewell is a dead rank.
//
//===----------------------------------------------------------------------===//
#include "Worlds.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace tessera::rt {

namespace {
constexpr char helloFrame = 'H', dataFrame = 'D', failFrame = 'F',
               byeFrame = 'B';
constexpr uint64_t maxFrameBytes = uint64_t(1) << 32;

struct Hello {
  uint32_t magic = 0x54534850; // "TSHP"
  int32_t rank = 0, worldSize = 0;
  uint64_t nonce = 0;
};

void configure(int fd) {
  int on = 1, idle = 2, interval = 1, count = 3;
  unsigned dead = 5000;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

bool sendAll(int fd, const void *data, uint64_t bytes) {
  const char *p = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    p += n;
    bytes -= static_cast<uint64_t>(n);
  }
  return true;
}

bool receiveAll(int fd, void *data, uint64_t bytes) {
  char *p = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t n = recv(fd, p, bytes, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    p += n;
    bytes -= static_cast<uint64_t>(n);
  }
  return true;
}

bool sendFrame(int fd, char type, const void *data, uint64_t bytes) {
  char head[9] = {type};
  std::memcpy(head + 1, &bytes, sizeof bytes);
  return sendAll(fd, head, sizeof head) && sendAll(fd, data, bytes);
}

bool receiveFrame(int fd, char &type, std::string &payload) {
  char head[9];
  uint64_t bytes = 0;
  if (!receiveAll(fd, head, sizeof head))
    return false;
  type = head[0];
  std::memcpy(&bytes, head + 1, sizeof bytes);
  if (bytes > maxFrameBytes)
    return false;
  payload.resize(bytes);
  return receiveAll(fd, payload.data(), bytes);
}
} // namespace

class TcpWorld final : public World {
public:
  explicit TcpWorld(const RankInfo &info)
      : World(info),
        peers(static_cast<size_t>(info.rank == 0 ? info.worldSize : 1), -1) {}
  ~TcpWorld() override {
    for (int fd : peers)
      if (fd >= 0)
        ::close(fd);
    if (listener >= 0)
      ::close(listener);
  }

  Status join(double timeoutSeconds);
  Status allGather(const void *mine, uint64_t bytes, void *all) override;
  Status checkPeers() override;
  void fail(const std::string &message) override {
    tellAll(failFrame, message);
  }
  void finish() override {
    finished = true;
    tellAll(byeFrame, "");
  }
  /// Rank 0 sees every failure; the others only speak for a lost rank 0.
  bool claimReport() override { return me.rank == 0 || lostRoot; }

private:
  using Clock = std::chrono::steady_clock;
  Status listen(Clock::time_point deadline, double seconds);
  Status connect(Clock::time_point deadline, double seconds);
  Status receiveFrom(int index, std::string &payload);
  void tellAll(char type, const std::string &text) {
    std::lock_guard<std::mutex> lock(sending);
    for (int fd : peers)
      if (fd >= 0)
        sendFrame(fd, type, text.data(), text.size());
  }
  int rankOf(int index) const { return me.rank == 0 ? index : 0; }

  /// Rank 0: the connection of each rank (own: -1). Others: that to rank 0.
  std::vector<int> peers;
  int listener = -1;
  bool finished = false;
  bool lostRoot = false;
  std::mutex sending;
};

Status TcpWorld::listen(Clock::time_point deadline, double seconds) {
  listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1, off = 0;
  sockaddr_storage address{};
  socklen_t length = 0;
  if (listener >= 0) {
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto *a = reinterpret_cast<sockaddr_in6 *>(&address);
    a->sin6_family = AF_INET6;
    a->sin6_port = htons(static_cast<uint16_t>(me.masterPort));
    length = sizeof(sockaddr_in6);
  } else { // a host without IPv6
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto *a = reinterpret_cast<sockaddr_in *>(&address);
    a->sin_family = AF_INET;
    a->sin_port = htons(static_cast<uint16_t>(me.masterPort));
    length = sizeof(sockaddr_in);
  }
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      ::listen(listener, 1024) != 0)
    return failure("rank 0 cannot listen on port ", me.masterPort, ": ",
                   std::strerror(errno), "; set TESSERA_PORT to a free one");
  random = randomNonce();
  for (int missing = me.worldSize - 1; missing > 0;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    deadline - Clock::now())
                    .count();
    pollfd p{listener, POLLIN, 0};
    if (left <= 0 || poll(&p, 1, static_cast<int>(left)) == 0) {
      std::string ranks;
      for (int r = 1; r < me.worldSize; ++r)
        if (peers[r] < 0)
          ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
      return failure("waited ", seconds, " s for rank ", ranks, " of ",
                     me.worldSize, " to connect to port ", me.masterPort,
                     " (set by TESSERA_JOIN_TIMEOUT)");
    }
    int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      continue;
    configure(fd);
    // A stranger that connects and says nothing must not hold the job up.
    timeval patience{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char type = 0;
    std::string payload;
    Hello hello, expected;
    if (!receiveFrame(fd, type, payload) || type != helloFrame ||
        payload.size() != sizeof hello) {
      ::close(fd);
      continue;
    }
    std::memcpy(&hello, payload.data(), sizeof hello);
    if (hello.magic != expected.magic) {
      ::close(fd);
      continue;
    }
    if (hello.worldSize != me.worldSize || hello.rank < 1 ||
        hello.rank >= me.worldSize || peers[hello.rank] >= 0) {
      std::ostringstream text;
      text << "rank " << hello.rank << " of " << hello.worldSize
           << " connected to a job of " << me.worldSize << " ranks"
           << (hello.worldSize == me.worldSize ? ", twice" : "");
      tellAll(failFrame, text.str());
      ::close(fd);
      return Status::failure(text.str());
    }
    timeval forever{0, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
    peers[hello.rank] = fd;
    --missing;
  }
  Hello welcome{};
  welcome.worldSize = me.worldSize;
  welcome.nonce = random;
  for (int r = 1; r < me.worldSize; ++r)
    if (!sendFrame(peers[r], helloFrame, &welcome, sizeof welcome))
      return failure("rank ", r, " closed its connection while joining");
  return Status::success();
}

Status TcpWorld::connect(Clock::time_point deadline, double seconds) {
  std::string port = std::to_string(me.masterPort), last = "no address";
  for (;;) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    int code =
        getaddrinfo(me.masterAddress.c_str(), port.c_str(), &hints, &found);
    if (code != 0)
      last = gai_strerror(code);
    for (addrinfo *a = found; a && peers[0] < 0; a = a->ai_next) {
      int fd =
          socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
      if (fd >= 0 && ::connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
        peers[0] = fd;
      } else {
        last = std::strerror(errno);
        if (fd >= 0)
          ::close(fd);
      }
    }
    if (found)
      freeaddrinfo(found);
    if (peers[0] >= 0)
      break;
    if (Clock::now() > deadline)
      return failure("rank ", me.rank, " cannot reach rank 0 at ",
                     me.masterAddress, ":", me.masterPort, " for ", seconds,
                     " s: ", last,
                     " (from MASTER_ADDR and TESSERA_PORT or MASTER_PORT + 1)");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  configure(peers[0]);
  Hello hello{};
  hello.rank = me.rank;
  hello.worldSize = me.worldSize;
  std::string payload;
  char type = 0;
  if (!sendFrame(peers[0], helloFrame, &hello, sizeof hello) ||
      !receiveFrame(peers[0], type, payload))
    return failure("rank 0 closed the connection while rank ", me.rank,
                   " was joining");
  if (type == failFrame)
    return failure("rank 0 failed: ", payload);
  if (type != helloFrame || payload.size() != sizeof hello)
    return failure("what listens at ", me.masterAddress, ":", me.masterPort,
                   " is not rank 0 of this job");
  std::memcpy(&hello, payload.data(), sizeof hello);
  random = hello.nonce;
  return Status::success();
}

Status TcpWorld::join(double timeoutSeconds) {
  if (me.masterAddress.empty() || me.masterPort == 0)
    return failure(
        "the job spans hosts (", me.localSize, " of ", me.worldSize,
        " ranks are here): set MASTER_ADDR to the host of rank 0 and "
        "MASTER_PORT or TESSERA_PORT to a free port there");
  auto deadline =
      Clock::now() + std::chrono::milliseconds(int64_t(timeoutSeconds * 1000));
  return me.rank == 0 ? listen(deadline, timeoutSeconds)
                      : connect(deadline, timeoutSeconds);
}

Status TcpWorld::receiveFrom(int index, std::string &payload) {
  char type = 0;
  if (!receiveFrame(peers[index], type, payload)) {
    lostRoot = me.rank != 0;
    return failure("rank ", rankOf(index),
                   " closed its connection without a word; was it killed?");
  }
  if (type == failFrame)
    return failure("rank ", rankOf(index), " failed: ", payload);
  if (type == byeFrame)
    return failure("rank ", rankOf(index), " has ended its program while rank ",
                   me.rank, " waits for it");
  return Status::success();
}

Status TcpWorld::allGather(const void *mine, uint64_t bytes, void *all) {
  std::string payload;
  char *out = static_cast<char *>(all);
  if (me.rank != 0) {
    bool sent = false;
    {
      std::lock_guard<std::mutex> lock(sending);
      sent = sendFrame(peers[0], dataFrame, mine, bytes);
    }
    (void)sent; // a broken connection shows when receiving
    if (Status s = receiveFrom(0, payload))
      return s;
    if (payload.size() != bytes * static_cast<uint64_t>(me.worldSize))
      return failure("ranks exchange different amounts of data");
    std::memcpy(out, payload.data(), payload.size());
    return Status::success();
  }
  std::memcpy(out, mine, bytes);
  for (int r = 1; r < me.worldSize; ++r) {
    if (Status s = receiveFrom(r, payload))
      return s;
    if (payload.size() != bytes)
      return failure("rank ", r, " exchanges ", payload.size(),
                     " bytes where rank 0 exchanges ", bytes);
    std::memcpy(out + r * bytes, payload.data(), bytes);
  }
  std::lock_guard<std::mutex> lock(sending);
  for (int r = 1; r < me.worldSize; ++r)
    if (!sendFrame(peers[r], dataFrame, out, bytes * me.worldSize))
      return failure("rank ", r, " closed its connection; was it killed?");
  return Status::success();
}

Status TcpWorld::checkPeers() {
  if (finished)
    return Status::success();
  for (size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] < 0)
      continue;
    char type = 0;
    ssize_t n = recv(peers[i], &type, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
      continue;
    int r = rankOf(static_cast<int>(i));
    if (n <= 0) {
      lostRoot = me.rank != 0;
      return failure("rank ", r,
                     " closed its connection without a word; was it killed?");
    }
    if (type == failFrame)
      return failure("rank ", r, " failed");
  }
  return Status::success();
}

Expected<std::unique_ptr<World>> joinTcp(const RankInfo &info,
                                         double timeoutSeconds) {
  auto world = std::make_unique<TcpWorld>(info);
  if (Status s = world->join(timeoutSeconds))
    return s;
  return std::unique_ptr<World>(std::move(world));
}

} // namespace tessera::rt
