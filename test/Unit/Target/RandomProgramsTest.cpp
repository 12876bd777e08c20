//===- RandomProgramsTest.cpp - Random warp programs ----------------------===//
//
// Straight-line programs of arithmetic, shuffles, votes, shared-memory traffic
// and barriers in random order, so that segments are cut in every possible
// place. Each is also evaluated here, statement by statement for all threads;
// results must be equal bit for bit.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

#include <array>
#include <functional>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr int Threads = 64, Outputs = 16;
using Lanes = std::array<uint32_t, Threads>;

class Program {
public:
  explicit Program(unsigned seed) : random(seed) {
    Lanes id;
    for (int t = 0; t < Threads; ++t)
      id[t] = static_cast<uint32_t>(t);
    values.push_back(id);
    text = R"(
  gpu.func @k(%in: memref<64xi32>, %out: memref<16x64xi32>)
      workgroup(%s : memref<64xi32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %w = arith.constant 32 : i32
    %mask = llvm.mlir.constant(-1 : i32) : i32
    %v0 = arith.index_cast %t : index to i32
)";
    for (int t = 0; t < Threads; ++t)
      input[t] = static_cast<uint32_t>(random());
    int statements = 20 + static_cast<int>(random() % 40);
    for (int i = 0; i < statements; ++i)
      statement();
    while (stored < 4)
      store();
    text += "    gpu.return\n  }\n";
  }

  std::string text;
  Lanes input;
  std::array<Lanes, Outputs> expected = {};
  int stored = 0;

private:
  int pick() { return static_cast<int>(random() % values.size()); }
  std::string name(int value) { return "%v" + std::to_string(value); }
  /// Adds a value with its definition; `body` follows the "=".
  void define(const std::string &body, const Lanes &lanes) {
    text +=
        "    " + name(static_cast<int>(values.size())) + " = " + body + "\n";
    values.push_back(lanes);
  }
  static Lanes each(const std::function<uint32_t(int)> &fn) {
    Lanes lanes;
    for (int t = 0; t < Threads; ++t)
      lanes[t] = fn(t);
    return lanes;
  }

  void statement() {
    switch (random() % 12) {
    case 0:
    case 1:
    case 2:
      return arithmetic();
    case 3:
      return select();
    case 4:
    case 5:
    case 6:
      return shuffle();
    case 7:
      return vote();
    case 8:
      return shared();
    case 9: {
      define("memref.load %in[%t] : memref<64xi32>", input);
      return;
    }
    case 10:
      text += random() % 2 ? "    gpu.barrier\n"
                           : "    nvvm.bar.warp.sync %mask : i32\n";
      return;
    default:
      return store();
    }
  }

  void arithmetic() {
    int a = pick(), b = pick();
    const char *ops[] = {"addi", "subi", "muli", "xori", "andi", "ori"};
    unsigned op = random() % 6;
    const Lanes &x = values[a], &y = values[b];
    Lanes result = each([&](int t) -> uint32_t {
      switch (op) {
      case 0:
        return x[t] + y[t];
      case 1:
        return x[t] - y[t];
      case 2:
        return x[t] * y[t];
      case 3:
        return x[t] ^ y[t];
      case 4:
        return x[t] & y[t];
      default:
        return x[t] | y[t];
      }
    });
    define(std::string("arith.") + ops[op] + " " + name(a) + ", " + name(b) +
               " : i32",
           result);
  }

  void select() {
    int a = pick(), b = pick(), c = pick();
    std::string p = "%p" + std::to_string(values.size());
    text += "    " + p + " = arith.cmpi ult, " + name(a) + ", " + name(b) +
            " : i32\n";
    const Lanes x = values[a], y = values[b], z = values[c];
    define("arith.select " + p + ", " + name(c) + ", " + name(a) + " : i32",
           each([&](int t) { return x[t] < y[t] ? z[t] : x[t]; }));
  }

  void shuffle() {
    int a = pick(), by = pick();
    bool varying = random() % 3 == 0;
    unsigned constant = random() % 32, kind = random() % 4;
    std::string n = std::to_string(values.size()), offset = "%o" + n;
    const char *names[] = {"xor", "up", "down", "idx"};
    if (varying) {
      text += "    %c" + n + " = arith.constant 31 : i32\n    " + offset +
              " = arith.andi " + name(by) + ", %c" + n + " : i32\n";
    } else {
      text += "    " + offset + " = arith.constant " +
              std::to_string(constant) + " : i32\n";
    }
    const Lanes x = values[a], y = values[by];
    // gpu.shuffle: the value of another lane, the own one if out of range.
    Lanes result = each([&](int t) {
      int lane = t % 32, first = t - lane;
      int o = static_cast<int>(varying ? y[t] & 31 : constant);
      int from = kind == 0   ? lane ^ o
                 : kind == 1 ? lane - o
                 : kind == 2 ? lane + o
                             : o;
      return from >= 0 && from < 32 ? x[first + from] : x[t];
    });
    text += "    " + name(static_cast<int>(values.size())) + ", %q" + n +
            " = gpu.shuffle " + names[kind] + " " + name(a) + ", " + offset +
            ", %w : i32\n";
    values.push_back(result);
  }

  void vote() {
    int a = pick(), b = pick();
    std::string p = "%p" + std::to_string(values.size());
    text += "    " + p + " = arith.cmpi ult, " + name(a) + ", " + name(b) +
            " : i32\n";
    const Lanes x = values[a], y = values[b];
    define("nvvm.vote.sync ballot %mask, " + p + " -> i32", each([&](int t) {
             uint32_t bits = 0;
             for (int lane = 0; lane < 32; ++lane)
               bits |= uint32_t(x[t / 32 * 32 + lane] < y[t / 32 * 32 + lane])
                       << lane;
             return bits;
           }));
  }

  /// Exchange through shared memory with the mirrored thread.
  void shared() {
    int a = pick();
    std::string n = std::to_string(values.size());
    text += "    gpu.barrier\n    memref.store " + name(a) +
            ", %s[%t] : memref<64xi32, #gpu.address_space<workgroup>>\n"
            "    gpu.barrier\n    %m" +
            n + " = arith.subi %c63, %t : index\n";
    const Lanes x = values[a];
    define("memref.load %s[%m" + n +
               "] : memref<64xi32, #gpu.address_space<workgroup>>",
           each([&](int t) { return x[63 - t]; }));
  }

  void store() {
    if (stored == Outputs)
      return;
    // Prefer late values: they depend on more.
    int a = static_cast<int>(values.size()) - 1 -
            static_cast<int>(random() % std::min<size_t>(values.size(), 5));
    std::string n = std::to_string(stored);
    text += "    %row" + n + " = arith.constant " + n +
            " : index\n    memref.store " + name(a) + ", %out[%row" + n +
            ", %t] : memref<16x64xi32>\n";
    expected[stored++] = values[a];
  }

  std::mt19937 random;
  std::vector<Lanes> values;
};

class RandomPrograms : public HarnessTest {};

TEST_F(RandomPrograms, AgreeWithAnInterpreter) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Program program(seed);
    HarnessOptions options;
    options.instrument = seed % 3 == 0;
    options.optLevel = seed % 2 ? 3 : 0;
    auto harness = compile(program.text, options);
    ASSERT_TRUE(harness) << error << program.text;
    for (uint64_t order : {0, 1, 2}) {
      std::array<Lanes, Outputs> out = {};
      LaunchOptions launch;
      launch.seed = order;
      launch.check = options.instrument;
      ASSERT_EQ(harness->launch("k", {{1, 1, 1}, {Threads, 1, 1}},
                                {program.input.data(), out[0].data()}, launch),
                "")
          << program.text;
      for (int i = 0; i < program.stored; ++i)
        for (int t = 0; t < Threads; ++t)
          ASSERT_EQ(out[i][t], program.expected[i][t])
              << "program " << seed << " order " << order << " output " << i
              << " thread " << t << program.text;
    }
  }
}

} // namespace
