//===- TokensTest.cpp - token files ---------------------------------------===//
//
// Shifting by one in streams and in rows, and damaged .npy files.
//
//===----------------------------------------------------------------------===//
#include "lib/Runtime/Program/Tokens.h"
#include "TestFiles.h"
#include "lib/Runtime/Program/Npy.h"
#include "gtest/gtest.h"
#include <random>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
using Row = std::vector<int32_t>;

struct TokensTest : ::testing::Test {
  TempFolder folder;
  TokenBatch read(const std::string &name, const std::string &bytes,
                  int64_t batch, int64_t sequence) {
    auto t = readTokens(folder.write(name, bytes), batch, sequence, 100);
    EXPECT_TRUE(t) << t.message();
    return t ? *t : TokenBatch();
  }
  static std::string npy(const std::string &descr, const std::string &shape,
                         const std::string &data,
                         const std::string &order = "False") {
    std::string dict = "{'descr': '" + descr + "', 'fortran_order': " + order +
                       ", 'shape': " + shape + ", }\n";
    std::string head("\x93NUMPY\x01\0", 8);
    head += char(dict.size());
    head += '\0';
    return head + dict + data;
  }
};
} // namespace

TEST_F(TokensTest, StreamAndRows) {
  TokenBatch t = read("a.txt", "1 2 3 4 5 6", 2, 3);
  EXPECT_EQ(t.tokens, (Row{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.labels, (Row{2, 3, 4, 5, 6, -100}));
  EXPECT_EQ(t.counted, 5);
  t = read("b.txt", "1 2 3 4\r\n5 6 7", 2, 3); // lines mean nothing here
  EXPECT_EQ(t.labels, (Row{2, 3, 4, 5, 6, 7}));
  t = read("c.txt", "\n1 2 3\n\n4 5 6\n", 2, 3);
  EXPECT_EQ(t.labels, (Row{2, 3, -100, 5, 6, -100}));
  EXPECT_EQ(t.counted, 4);
  t = read("d.txt", "1 2 3 7\n4 5 6 8\n", 2, 3);
  EXPECT_EQ(t.tokens, (Row{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.labels, (Row{2, 3, 7, 5, 6, 8}));
  t = read("e.txt", "1\n2\n3\n", 1, 3); // one id a line
  EXPECT_EQ(t.labels, (Row{2, 3, -100}));
}

TEST_F(TokensTest, NumpyTypesAndShapes) {
  Row want{1, 2, 3, 4, 5, 6};
  auto as = [&](auto sample) {
    std::vector<decltype(sample)> v(want.begin(), want.end());
    return bytesOf(v);
  };
  EXPECT_EQ(read("a.npy", npy("<i4", "(6,)", as(int32_t())), 2, 3).labels,
            (Row{2, 3, 4, 5, 6, -100}));
  EXPECT_EQ(read("b.npy", npy("<i8", "(2, 3)", as(int64_t())), 2, 3).labels,
            (Row{2, 3, -100, 5, 6, -100}));
  EXPECT_EQ(read("c.npy", npy("<u2", "(1, 6)", as(uint16_t())), 1, 6).tokens,
            want);
  EXPECT_EQ(
      read("d.npy", npy("<u4", "(6,)", as(uint32_t()), "True"), 1, 5).labels,
      (Row{2, 3, 4, 5, 6}));
  auto message = [&](const std::string &bytes) {
    auto t = readTokens(folder.write("x.npy", bytes), 2, 3, 100);
    return t ? std::string() : t.message();
  };
  std::string six = as(int32_t());
  // Over 2^63: the number is said, not what is left of it.
  std::string large(48, '\xff');
  EXPECT_NE(message(npy("<u8", "(6,)", large))
                .find("token 0 is 18446744073709551615, outside"),
            std::string::npos);
  EXPECT_NE(message(npy("<f4", "(6,)", six)).find("has type f32"),
            std::string::npos);
  EXPECT_NE(message(npy(">i4", "(6,)", six)).find("'>i4'"), std::string::npos);
  EXPECT_NE(message(npy("<i4", "(3, 2)", six)).find("3 rows of 2"),
            std::string::npos);
  EXPECT_NE(message(npy("<i4", "(1, 2, 3)", six)).find("[1,2,3]"),
            std::string::npos);
  EXPECT_NE(message(npy("<i4", "(2, 3)", six, "True")).find("Fortran"),
            std::string::npos);
  EXPECT_NE(message(npy("<i4", "(7,)", six)).find("needs 28 bytes"),
            std::string::npos);
  EXPECT_NE(message(npy("<i4", "(-6,)", six)).find("'shape'"),
            std::string::npos);
}

TEST_F(TokensTest, DamagedNumpyFilesAreSafe) {
  std::string whole = npy("<i4", "(6,)", std::string(24, '\1'));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(readNpy(folder.write("x.npy", whole.substr(0, n)))) << n;
  std::mt19937 rng(2);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    bytes[rng() % bytes.size()] = char(rng());
    bytes[rng() % 80] = char(rng());
    auto array = readNpy(folder.write("x.npy", bytes));
    if (!array)
      continue;
    uint64_t count = sizeOf(array->dtype);
    for (int64_t d : array->shape)
      count *= uint64_t(d);
    ASSERT_EQ(array->data + count, array->file->data() + array->file->size());
  }
}

// What we write is what the format's description says: magic, version, length
// of the header, data at a multiple of 64.
TEST_F(TokensTest, WrittenHeader) {
  std::string head = npyHeaderF32({3, 5});
  EXPECT_EQ(head.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_EQ(head.size() % 64, 0u);
  EXPECT_EQ(uint8_t(head[8]) + 256 * uint8_t(head[9]), int(head.size()) - 10);
  EXPECT_EQ(head.back(), '\n');
  EXPECT_NE(head.find("'shape': (3, 5), "), std::string::npos);
  EXPECT_NE(npyHeaderF32({3}).find("'shape': (3,), "), std::string::npos);
  EXPECT_NE(npyHeaderF32({}).find("'shape': (), "), std::string::npos);
}
