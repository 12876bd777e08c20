//===- SliceTest.cpp - rectangles and views of checkpoint tensors ---------===//
//
// Every element is looked up by its coordinates in the test's own array; the
// reader's runs and offsets are never used to make a reference.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "tessera/Runtime/Checkpoint.h"
#include "gtest/gtest.h"
#include <random>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
struct SliceTest : ::testing::Test {
  TempFolder folder;
  std::vector<float> values;

  /// A file with one F32 tensor holding 0, 1, 2, ... One extra space in the
  /// header makes the data unaligned.
  TensorInfo makeTensor(const std::vector<int64_t> &shape) {
    int64_t count = 1;
    for (int64_t d : shape)
      count *= d;
    values.resize(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = float(i);
    std::string header =
        "{ \"w\":{\"dtype\":\"F32\",\"shape\":" + shapeToString(shape) +
        ",\"data_offsets\":[0," + std::to_string(count * 4) + "]}}";
    auto tensors = readSafetensors(folder.write(
        "model.safetensors", safetensors(header, bytesOf(values))));
    EXPECT_TRUE(tensors) << tensors.message();
    return (*tensors)[0];
  }
};
} // namespace

TEST_F(SliceTest, RandomRectanglesOfAnyRank) {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    size_t rank = 1 + rng() % 4;
    SliceRequest r;
    for (size_t d = 0; d < rank; ++d) {
      int64_t extent = 1 + rng() % 6;
      r.globalShape.push_back(extent);
      r.offset.push_back(rng() % extent);
      // Some rectangles reach past the end: padding.
      r.size.push_back(1 + rng() % (extent - r.offset[d] + 1));
    }
    TensorInfo tensor = makeTensor(r.globalShape);
    int64_t count = 1;
    for (int64_t d : r.size)
      count *= d;
    std::vector<float> out(count, -1);
    Status s = readSlice(tensor, r, DType::F32, out.data());
    ASSERT_EQ(s.message(), "");
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, position = 0, stride = 1;
      bool padding = false;
      for (size_t d = rank; d-- > 0;) {
        int64_t c = rest % r.size[d] + r.offset[d];
        rest /= r.size[d];
        padding |= c >= r.globalShape[d];
        position += c * stride;
        stride *= r.globalShape[d];
      }
      ASSERT_EQ(out[i], padding ? 0.0f : values[position])
          << shapeToString(r.globalShape) << shapeToString(r.offset)
          << shapeToString(r.size) << " element " << i;
    }
  }
}

// GPT-NeoX keeps q, k and v interleaved per head: [heads * 3 * head_dim, in].
TEST_F(SliceTest, FusedHeadsView) {
  const int64_t heads = 4, headDim = 3, in = 5;
  TensorInfo tensor = makeTensor({heads * 3 * headDim, in});
  for (int64_t part = 0; part < 3; ++part) {
    SliceRequest r;
    r.globalShape = {heads * headDim, in};
    r.offset = {headDim * 2, 1}; // the last two heads, some columns
    r.size = {headDim * 2, 3};
    r.view = TensorView{{heads, 3, headDim, in}, 1, part};
    std::vector<float> out(headDim * 2 * 3);
    Status s = readSlice(tensor, r, DType::F32, out.data());
    ASSERT_EQ(s.message(), "");
    for (int64_t i = 0; i < headDim * 2; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        int64_t head = 2 + i / headDim, row = i % headDim;
        int64_t stored = (head * 3 + part) * headDim + row;
        EXPECT_EQ(out[i * 3 + j], values[stored * in + j + 1]);
      }
  }
}

// GPT-2 keeps q, k and v side by side in the columns: [in, 3 * width].
TEST_F(SliceTest, FusedColumnsViewWithConversion) {
  const int64_t in = 4, width = 6;
  TensorInfo tensor = makeTensor({in, 3 * width});
  SliceRequest r;
  r.globalShape = {in, width};
  r.offset = {0, 2};
  r.size = {in, 3};
  r.view = TensorView{{in, 3, width}, 1, 2};
  std::vector<uint16_t> out(in * 3);
  Status s = readSlice(tensor, r, DType::BF16, out.data());
  ASSERT_EQ(s.message(), "");
  for (int64_t i = 0; i < in; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(bf16ToFloat(out[i * 3 + j]), values[i * 18 + 12 + 2 + j]);
}

TEST_F(SliceTest, SaysWhatDoesNotFit) {
  TensorInfo tensor = makeTensor({6, 4});
  auto message = [&](SliceRequest r, DType d = DType::F32) {
    return checkSlice(tensor, r, d).message();
  };
  EXPECT_NE(message({{6, 5}, {0, 0}, {6, 5}, {}})
                .find("model.safetensors': tensor 'w': expected shape [6,5], "
                      "got [6,4]"),
            std::string::npos);
  EXPECT_NE(message({{6, 4}, {0, 0}, {6, 4}, {}}, DType::I32)
                .find("has type F32, which cannot become i32"),
            std::string::npos);
  EXPECT_NE(message({{6, 4}, {0}, {6, 4}, {}}).find("does not fit shape"),
            std::string::npos);
  EXPECT_NE(message({{6, 4}, {-1, 0}, {6, 4}, {}}).find("negative"),
            std::string::npos);
  EXPECT_NE(message({{2, 4}, {0, 0}, {2, 4}, TensorView{{3, 2, 4}, 0, 3}})
                .find("index 3 along dimension 0"),
            std::string::npos);
  EXPECT_NE(message({{2, 4}, {0, 0}, {2, 4}, TensorView{{3, 2, 5}, 0, 1}})
                .find("reshapes to [3,2,5], got [6,4]"),
            std::string::npos);
  EXPECT_NE(message({{3, 4}, {0, 0}, {3, 4}, TensorView{{3, 2, 4}, 0, 1}})
                .find("does not flatten"),
            std::string::npos);
  EXPECT_EQ(message({{2, 4}, {0, 0}, {2, 4}, TensorView{{3, 2, 4}, 0, 1}}), "");
}
