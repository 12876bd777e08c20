//===- CollectivesTest.cpp - collectives between forked ranks -------------===//
//
// Every rank makes the inputs of all ranks from one formula, so it can compute
// the expected result with a plain loop in double and compare.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include "tessera/Runtime/DType.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
/// Small values that every type can hold; differs by rank and position.
double input(int rank, size_t i) {
  return double((i * 7 + size_t(rank) * 13) % 11) - (i % 3 == 0 ? 4.0 : 0.0);
}

template <typename T>
T encode(ncclDataType_t type, double x) {
  if (type == ncclFloat16)
    return T(floatToF16(float(x)));
  if (type == ncclBfloat16)
    return T(floatToBF16(float(x)));
  return T(x);
}
template <typename T>
double decode(ncclDataType_t type, T x) {
  if (type == ncclFloat16)
    return f16ToFloat(uint16_t(x));
  if (type == ncclBfloat16)
    return bf16ToFloat(uint16_t(x));
  return double(x);
}

double combine(ncclRedOp_t op, double a, double b) {
  switch (op) {
  case ncclProd:
    return a * b;
  case ncclMax:
    return std::max(a, b);
  case ncclMin:
    return std::min(a, b);
  default:
    return a + b;
  }
}
double reduced(ncclRedOp_t op, int n, size_t i) {
  double x = input(0, i);
  for (int r = 1; r < n; ++r)
    x = combine(op, x, input(r, i));
  return op == ncclAvg ? x / n : x;
}

template <typename T>
std::string checkAllReduce(ncclComm_t comm, int n, int rank, size_t count,
                           ncclDataType_t type, ncclRedOp_t op) {
  std::vector<T> data(count + 1, T(77)), out(count + 1, T(77));
  for (size_t i = 0; i < count; ++i)
    data[i] = encode<T>(type, input(rank, i));
  if (ncclAllReduce(data.data(), out.data(), count, type, op, comm, nullptr) !=
      ncclSuccess)
    return ncclGetLastError(comm);
  for (size_t i = 0; i < count; ++i) {
    double want = decode<T>(type, encode<T>(type, reduced(op, n, i)));
    double got = decode<T>(type, out[i]);
    if (!(std::fabs(want - got) <= 1e-2 * std::fabs(want)))
      return "all_reduce type " + std::to_string(type) + " op " +
             std::to_string(op) + " count " + std::to_string(count) +
             " element " + std::to_string(i) + ": " + std::to_string(got) +
             " instead of " + std::to_string(want);
  }
  return out[count] == T(77) ? "" : "all_reduce wrote past the end";
}

template <typename T>
std::string checkMoves(ncclComm_t comm, int n, int rank, size_t count,
                       ncclDataType_t type) {
  std::vector<T> mine(count), all(count * n + 1, T(77)), got(count + 1, T(77));
  for (size_t i = 0; i < count; ++i)
    mine[i] = encode<T>(type, input(rank, i));
  if (ncclAllGather(mine.data(), all.data(), count, type, comm, nullptr))
    return ncclGetLastError(comm);
  for (int r = 0; r < n; ++r)
    for (size_t i = 0; i < count; ++i)
      if (all[r * count + i] != encode<T>(type, input(r, i)))
        return "all_gather is wrong";
  if (all[count * n] != T(77))
    return "all_gather wrote past the end";

  std::vector<T> send(count * n);
  for (size_t i = 0; i < count * n; ++i)
    send[i] = encode<T>(type, input(rank, i));
  if (ncclReduceScatter(send.data(), got.data(), count, type, ncclSum, comm,
                        nullptr))
    return ncclGetLastError(comm);
  for (size_t i = 0; i < count; ++i)
    if (got[i] != encode<T>(type, reduced(ncclSum, n, rank * count + i)))
      return "reduce_scatter is wrong at " + std::to_string(i);
  if (got[count] != T(77))
    return "reduce_scatter wrote past the end";

  for (int root = 0; root < n; ++root) {
    if (ncclBroadcast(mine.data(), got.data(), count, type, root, comm,
                      nullptr))
      return ncclGetLastError(comm);
    for (size_t i = 0; i < count; ++i)
      if (got[i] != encode<T>(type, input(root, i)))
        return "broadcast is wrong";
  }

  // Everybody sends to everybody, itself included.
  ncclGroupStart();
  for (int r = 0; r < n; ++r) {
    ncclSend(send.data() + r * count, count, type, r, comm, nullptr);
    ncclRecv(all.data() + r * count, count, type, r, comm, nullptr);
  }
  if (ncclGroupEnd())
    return ncclGetLastError(comm);
  for (int r = 0; r < n; ++r)
    for (size_t i = 0; i < count; ++i)
      if (all[r * count + i] != encode<T>(type, input(r, rank * count + i)))
        return "all to all is wrong";
  return "";
}
} // namespace

TEST(Collectives, AllTypesOperatorsAndOddSizes) {
  for (int n : {1, 2, 3, 5}) {
    auto results = runRanks(n, [n](World &world) -> std::string {
      ncclComm_t comm = worldComm(world);
      if (!comm)
        return "no communicator";
      std::string error;
      for (size_t count : {0, 1, 2, 3, 17, 1000}) {
        auto both = [&](auto value, ncclDataType_t type) {
          using T = decltype(value);
          for (ncclRedOp_t op :
               {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
            bool integer = type < ncclFloat16;
            // Division of integers truncates and small types overflow: not
            // what the reference in double does.
            if (integer && (op == ncclAvg || op == ncclProd))
              continue;
            if (error.empty())
              error = checkAllReduce<T>(comm, n, world.rank(), count, type, op);
          }
          if (error.empty())
            error = checkMoves<T>(comm, n, world.rank(), count, type);
        };
        both(int8_t(), ncclInt8);
        both(int32_t(), ncclInt32);
        both(int64_t(), ncclInt64);
        both(uint16_t(), ncclFloat16);
        both(uint16_t(), ncclBfloat16);
        both(float(), ncclFloat32);
        both(double(), ncclFloat64);
      }
      ncclCommDestroy(comm);
      return error;
    });
    expectAllWell(results);
  }
}

// Larger than every staging area, in place, and not a multiple of anything.
TEST(Collectives, LargeMessagesInPieces) {
  const int n = 3;
  auto results = runRanks(n, [&](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    const size_t count = 1'500'007;
    std::vector<float> data(count), all(count * n);
    for (size_t i = 0; i < count; ++i)
      data[i] = float(input(world.rank(), i));
    std::copy(data.begin(), data.end(), all.begin() + world.rank() * count);
    if (ncclAllGather(all.data() + world.rank() * count, all.data(), count,
                      ncclFloat32, comm, nullptr))
      return ncclGetLastError(comm);
    if (ncclAllReduce(data.data(), data.data(), count, ncclFloat32, ncclSum,
                      comm, nullptr))
      return ncclGetLastError(comm);
    for (size_t i = 0; i < count; ++i) {
      if (data[i] != float(reduced(ncclSum, n, i)))
        return "all_reduce in place is wrong at " + std::to_string(i);
      for (int r = 0; r < n; ++r)
        if (all[r * count + i] != float(input(r, i)))
          return "all_gather in place is wrong";
    }
    std::vector<float> parts(count / n * n);
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i] = float(input(world.rank(), i));
    size_t part = count / n;
    float *mine = parts.data() + world.rank() * part;
    if (ncclReduceScatter(parts.data(), mine, part, ncclFloat32, ncclSum, comm,
                          nullptr))
      return ncclGetLastError(comm);
    for (size_t i = 0; i < part; ++i)
      if (mine[i] != float(reduced(ncclSum, n, world.rank() * part + i)))
        return "reduce_scatter in place is wrong at " + std::to_string(i);
    // A ring of large messages.
    int next = (world.rank() + 1) % n, previous = (world.rank() + n - 1) % n;
    std::vector<float> got(count);
    std::vector<float> sent(count, float(world.rank()));
    ncclGroupStart();
    ncclRecv(got.data(), count, ncclFloat32, previous, comm, nullptr);
    ncclSend(sent.data(), count, ncclFloat32, next, comm, nullptr);
    if (ncclGroupEnd())
      return ncclGetLastError(comm);
    for (float x : got)
      if (x != float(previous))
        return "ring is wrong";
    return "";
  });
  expectAllWell(results);
}

// bf16: 256 + 1 + 1 is 258 when summed in f32, but 256 when every step is
// rounded to bf16; and the order is that of the ranks.
TEST(Collectives, SixteenBitTypesAccumulateInF32InRankOrder) {
  auto results = runRanks(3, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    uint16_t b = floatToBF16(world.rank() == 0 ? 256.0f : 1.0f), sum = 0;
    ncclAllReduce(&b, &sum, 1, ncclBfloat16, ncclSum, comm, nullptr);
    if (bf16ToFloat(sum) != 258.0f)
      return "bf16 sum is " + std::to_string(bf16ToFloat(sum));
    // (1e8 + -1e8) + 1 in order; other orders lose the 1.
    float f[3] = {1e8f, -1e8f, 1.0f}, total = 0;
    ncclAllReduce(&f[world.rank()], &total, 1, ncclFloat32, ncclSum, comm,
                  nullptr);
    return total == 1.0f ? "" : "sum is not in rank order";
  });
  expectAllWell(results);
}

TEST(Collectives, NaNSurvivesMaximumAndMinimum) {
  auto results = runRanks(3, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    for (int at = 0; at < 3; ++at)
      for (ncclRedOp_t op : {ncclMax, ncclMin, ncclSum}) {
        float x = world.rank() == at ? NAN : float(world.rank()), y = 0;
        ncclAllReduce(&x, &y, 1, ncclFloat32, op, comm, nullptr);
        if (!std::isnan(y))
          return "NaN of rank " + std::to_string(at) + " was lost";
      }
    return "";
  });
  expectAllWell(results);
}

TEST(Collectives, SplitIntoSubCommunicators) {
  auto results = runRanks(5, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world), half = nullptr;
    // Even ranks in reverse order, odd ones stay out.
    bool even = world.rank() % 2 == 0;
    if (ncclCommSplit(comm, even ? 4 : -1, -world.rank(), &half, nullptr))
      return ncclGetLastError(comm);
    if (!even)
      return half ? "a rank that stays out got a communicator" : "";
    int size = 0, rank = 0;
    ncclCommCount(half, &size);
    ncclCommUserRank(half, &rank);
    if (size != 3 || rank != 2 - world.rank() / 2)
      return "size " + std::to_string(size) + " rank " + std::to_string(rank);
    int32_t mine = world.rank(), all[3] = {};
    if (ncclAllGather(&mine, all, 1, ncclInt32, half, nullptr))
      return ncclGetLastError(half);
    return all[0] == 4 && all[1] == 2 && all[2] == 0 ? "" : "wrong order";
  });
  expectAllWell(results);
}

TEST(Collectives, CountsCallsByKind) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    std::vector<uint16_t> a(64), b(128);
    for (int i = 0; i < 3; ++i)
      ncclAllReduce(a.data(), a.data(), 64, ncclBfloat16, ncclSum, comm,
                    nullptr);
    ncclAllGather(a.data(), b.data(), 64, ncclBfloat16, comm, nullptr);
    ncclAllGather(a.data(), b.data(), 32, ncclBfloat16, comm, nullptr);
    std::string text;
    for (const CollectiveCount &c : collectiveCounts())
      text += c.op + "/" + std::to_string(c.communicator) + "/" +
              nameOf(c.dtype) + "/" + std::to_string(c.count) + "x" +
              std::to_string(c.calls) + "=" + std::to_string(c.bytesPerCall) +
              " ";
    return text == "all_reduce/0/bf16/64x3=128 all_gather/0/bf16/32x1=128 "
                   "all_gather/0/bf16/64x1=256 "
               ? ""
               : text;
  });
  expectAllWell(results);
}

// A random program over the communicators of a 2 x 3 mesh: every rank draws the
// same program and keeps the state of all ranks, so it knows what it must get.
TEST(Collectives, RandomProgramsOnAMesh) {
  auto results = runRanks(6, [](World &world) -> std::string {
    ncclComm_t all = worldComm(world), rows = nullptr, columns = nullptr;
    int row = world.rank() / 3, column = world.rank() % 3;
    ncclCommSplit(all, row, column, &rows, nullptr);
    ncclCommSplit(all, column, row, &columns, nullptr);
    auto members = [](int kind, int rank) {
      std::vector<int> m;
      for (int r = 0; r < 6; ++r)
        if (kind == 0 || (kind == 1 && r / 3 == rank / 3) ||
            (kind == 2 && r % 3 == rank % 3))
          m.push_back(r);
      return m;
    };
    std::mt19937 rng(11);
    const size_t size = 600;
    std::vector<std::vector<float>> state(6, std::vector<float>(size));
    for (auto &s : state)
      for (float &x : s)
        x = float(rng() % 1000);
    std::vector<float> mine = state[world.rank()], got(size);
    for (int step = 0; step < 300; ++step) {
      int kind = rng() % 3, op = rng() % 4;
      ncclComm_t comm = kind == 0 ? all : kind == 1 ? rows : columns;
      int n = kind == 0 ? 6 : kind == 1 ? 3 : 2;
      size_t count = 1 + rng() % (size / n);
      int root = rng() % n, shift = rng() % n;
      auto next = state;
      for (int r = 0; r < 6; ++r) {
        std::vector<int> m = members(kind, r);
        int me = int(std::find(m.begin(), m.end(), r) - m.begin());
        for (size_t i = 0; i < count; ++i) {
          float best = 0;
          for (int q : m)
            best = std::max(best, state[q][me * count + i]);
          if (op == 0)
            next[r][i] = best; // reduce_scatter, maximum
          else if (op == 1)
            for (int k = 0; k < n; ++k)
              next[r][k * count + i] = state[m[k]][i]; // all_gather
          else if (op == 2)
            next[r][i] = state[m[root]][i]; // broadcast
          else
            next[r][i] = state[m[(me + shift) % n]][i]; // ring by `shift`
        }
      }
      state = next;
      int me = 0;
      ncclCommUserRank(comm, &me);
      got = mine;
      ncclResult_t r = ncclSuccess;
      if (op == 0) {
        r = ncclReduceScatter(mine.data(), got.data(), count, ncclFloat32,
                              ncclMax, comm, nullptr);
      } else if (op == 1) {
        r = ncclAllGather(mine.data(), got.data(), count, ncclFloat32, comm,
                          nullptr);
      } else if (op == 2) {
        r = ncclBroadcast(mine.data(), got.data(), count, ncclFloat32, root,
                          comm, nullptr);
      } else {
        ncclGroupStart();
        ncclSend(mine.data(), count, ncclFloat32, (me + n - shift) % n, comm,
                 nullptr);
        ncclRecv(got.data(), count, ncclFloat32, (me + shift) % n, comm,
                 nullptr);
        r = ncclGroupEnd();
      }
      if (r)
        return ncclGetLastError(comm);
      mine = got;
      if (mine != state[world.rank()])
        return "step " + std::to_string(step) + " went wrong";
    }
    return "";
  });
  expectAllWell(results);
}
