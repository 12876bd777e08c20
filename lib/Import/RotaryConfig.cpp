//===- RotaryConfig.cpp - both spellings of rotary parameters -------------===//
//
// Up to version 4 of `transformers` a config has `rope_theta` and, where
// positions are scaled, a `rope_scaling` object; from version 5 on all of it
// lies in `rope_parameters`. The kind of scaling is `rope_type` or, older,
// `type`. Which one wins and what is filled in follows its
// RotaryEmbeddingConfigMixin (modeling_rope_utils.py).
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

static std::string readScaling(const ConfigReader &rope) {
  static constexpr StringRef names[] = {"default", "linear", "llama3", "yarn"};
  std::string type = rope.text({"rope_type", "type"}, "default");
  StringRef scaling = llvm::StringSwitch<StringRef>(type)
                          .Case("default", "none")
                          .Case("linear", "linear")
                          .Case("llama3", "llama3")
                          .Case("yarn", "yarn")
                          .Default("");
  if (scaling.empty())
    rope.failField(
        rope.has("rope_type") ? "rope_type" : "type",
        "names rotary scaling '" + type + "', which is not supported" +
            didYouMean(type, names) + " (supported: " +
            llvm::join(llvm::ArrayRef<StringRef>(names), ", ") + ")");
  return scaling.str();
}

/// A number that must be positive; zero counts as absent where `zeroIsAbsent`
/// (Python's `value or default`).
static std::optional<double> positive(const ConfigReader &rope, StringRef name,
                                      bool zeroIsAbsent = false) {
  std::optional<double> value = rope.maybeNumber(name);
  if (value && *value == 0.0 && zeroIsAbsent)
    return std::nullopt;
  if (value && !(*value > 0.0))
    rope.failField(name, "must be positive");
  return value;
}

RotaryConfig tessera::readRotary(const ConfigReader &reader,
                                 const ModelConfig &config, double theta,
                                 double partialFactor) {
  static const llvm::json::Object none;
  // One of the two spellings is enough.
  (void)reader.has("rope_parameters");
  StringRef field = "rope_parameters";
  const llvm::json::Object *object = reader.child("rope_scaling");
  if (object && !object->empty())
    field = "rope_scaling";
  else
    object = reader.child("rope_parameters");
  ConfigReader rope(object ? *object : none,
                    (reader.location() + ": " + field).str(),
                    reader.failureSlot());
  for (StringRef nested : {"full_attention", "sliding_attention"})
    if (rope.has(nested))
      rope.failField(nested, "is there: rotary parameters for each type of "
                             "layer are not supported");

  RotaryConfig rotary;
  rotary.theta =
      rope.number({"rope_theta"}, reader.number({"rope_theta"}, theta));
  if (!(rotary.theta > 0.0))
    reader.failField("rope_theta", "must be positive");
  double partial =
      rope.number({"partial_rotary_factor"},
                  reader.number({"partial_rotary_factor"}, partialFactor));
  rotary.dim = static_cast<int64_t>(config.headDim * partial);
  if (rotary.dim < 2 || rotary.dim % 2 != 0 || rotary.dim > config.headDim)
    reader.fail("rotary embedding of " + Twine(rotary.dim) +
                " elements of a head of " + Twine(config.headDim) +
                " is not supported: expected an even number from 2 to " +
                Twine(config.headDim));

  rotary.scaling = readScaling(rope);
  if (rotary.scaling == "none" || rotary.scaling.empty())
    return rotary;
  rotary.factor = positive(rope, "factor");
  if (rotary.scaling == "llama3" || rotary.scaling == "yarn") {
    // A field beside the object wins over the one inside.
    StringRef name = "original_max_position_embeddings";
    rotary.originalPositions =
        reader.integer({name}, rope.integer({name}, config.maxPositions));
  }
  if (rotary.scaling == "yarn") {
    if (!rotary.factor)
      rotary.factor = static_cast<double>(config.maxPositions) /
                      static_cast<double>(rotary.originalPositions);
    rotary.betaFast = positive(rope, "beta_fast", true);
    rotary.betaSlow = positive(rope, "beta_slow", true);
    rotary.attentionFactor = positive(rope, "attention_factor");
    rotary.mscale = rope.maybeNumber("mscale");
    rotary.mscaleAllDim = rope.maybeNumber("mscale_all_dim");
    rotary.truncate = rope.boolean("truncate", true);
  }
  if (!rotary.factor)
    rope.failField("factor", "is missing");
  if (rotary.scaling == "llama3") {
    rotary.lowFreqFactor = positive(rope, "low_freq_factor");
    rotary.highFreqFactor = positive(rope, "high_freq_factor");
    if (!rotary.lowFreqFactor)
      rope.failField("low_freq_factor", "is missing");
    else if (!rotary.highFreqFactor)
      rope.failField("high_freq_factor", "is missing");
    else if (*rotary.lowFreqFactor >= *rotary.highFreqFactor)
      rope.failField("low_freq_factor", "must be below 'high_freq_factor'");
  }
  return rotary;
}
