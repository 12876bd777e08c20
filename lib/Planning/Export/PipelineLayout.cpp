//===- PipelineLayout.cpp - Megatron-Core's text for uneven stages --------===//
//
// NVIDIA/Megatron-LM, megatron/core/transformer/pipeline_parallel_layer_layout
// .py (commit 00caa53a): stages are separated by '|'; E is the embedding, t a
// transformer layer, m a multi-token-prediction layer, L the loss; "x*n" and
// "(...)*n" repeat, commas mean nothing. Stage s of the text is virtual stage
// s / pp of rank s % pp, the order of Layout::chunkLayers.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include "tessera/Support/Error.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

std::string exports::pipelineLayoutText(ArrayRef<int> chunks) {
  auto layers = [](int n) {
    return n == 0   ? std::string()
           : n == 1 ? std::string("t")
                    : "t*" + std::to_string(n);
  };
  std::string text = "E";
  for (size_t i = 0; i < chunks.size();) {
    // A bracket for what repeats between the ends.
    size_t end = i + 1;
    while (i > 0 && end + 1 < chunks.size() && chunks[end] == chunks[i])
      ++end;
    std::string one = layers(chunks[i]);
    if (end - i > 2) {
      text += "(" + one + "|)*" + std::to_string(end - i);
    } else {
      end = i + 1;
      text += one + (end < chunks.size() ? "|" : "");
    }
    i = end;
  }
  return text + "L";
}

/// Writes out every repetition of `text`.
static Expected<std::string> unroll(StringRef text) {
  constexpr size_t kLongest = 1 << 16;
  std::string out;
  while (!text.empty()) {
    StringRef unit = text.take_front(1);
    text = text.drop_front();
    if (unit == "(") {
      size_t end = text.find(')');
      if (end == StringRef::npos)
        return makeError("'(' lacks its ')'");
      unit = text.take_front(end);
      text = text.drop_front(end + 1);
      if (unit.contains('('))
        return makeError("brackets may not be nested");
    }
    Expected<std::string> inside =
        unit.size() > 1 ? unroll(unit) : Expected<std::string>(unit.str());
    if (!inside)
      return inside.takeError();
    size_t times = 1;
    if (text.consume_front("*") && text.consumeInteger(10, times))
      return makeError("'*' needs a number after it");
    if (times > kLongest || out.size() + times * inside->size() > kLongest)
      return makeError("it is longer than " + Twine(kLongest) + " layers");
    for (size_t i = 0; i < times; ++i)
      out += *inside;
  }
  return out;
}

Expected<SmallVector<int, 8>> exports::parsePipelineLayout(StringRef text) {
  std::string bare;
  for (char c : text)
    if (c != ',' && c != ' ')
      bare += c;
  Expected<std::string> layers = unroll(bare);
  if (!layers)
    return layers.takeError();
  SmallVector<int, 8> chunks = {0};
  for (char c : *layers) {
    if (c == '|')
      chunks.push_back(0);
    else if (c == 't')
      ++chunks.back();
    else if (c != 'E' && c != 'L' && c != 'm')
      return makeError(Twine("unknown layer '") + Twine(c) +
                       "'; the layers are E, t, m and L");
  }
  return chunks;
}
