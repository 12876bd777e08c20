//===- ModelConfig.cpp - config.json to one form for all decoders ---------===//
#include "lib/Import/Architectures.h"
#include "lib/Import/GraphConfig.h"
#include "tessera/Import/ShippedModels.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct Architecture {
  StringRef name, modelType;
  void (*read)(const ConfigReader &, ModelConfig &);
};
} // namespace

static constexpr Architecture kArchitectures[] = {
    {"LlamaForCausalLM", "llama", readLlamaFamily},
    {"MistralForCausalLM", "mistral", readLlamaFamily},
    {"Qwen2ForCausalLM", "qwen2", readLlamaFamily},
    {"Qwen3ForCausalLM", "qwen3", readLlamaFamily},
    {"Phi3ForCausalLM", "phi3", readLlamaFamily},
    {"MixtralForCausalLM", "mixtral", readMixture},
    {"Qwen3MoeForCausalLM", "qwen3_moe", readMixture},
    {"OlmoeForCausalLM", "olmoe", readMixture},
    {"DeepseekV2ForCausalLM", "deepseek_v2", readDeepSeek},
    {"DeepseekV3ForCausalLM", "deepseek_v3", readDeepSeek},
    {"GPT2LMHeadModel", "gpt2", readGPT2},
    {"GPTNeoXForCausalLM", "gpt_neox", readGPTNeoX},
    {"GopherForCausalLM", "gopher", readGopher},
    {"BertForMaskedLM", "bert", readBert},
    {"BertForPreTraining", "bert", readBert},
};

/// Fields on which no graph depends: what `transformers` keeps in every config
/// (configuration_utils.py) and what only training, generation, its own kernels
/// or another head ask for.
static const llvm::StringSet<> &neutralFields() {
  static const llvm::StringSet<> names = {
      // Bookkeeping.
      "architectures", "auto_map", "bos_token", "custom_pipelines", "dtype",
      "eos_token", "finetuning_task", "id2label", "label2id", "language",
      "license", "model_type", "name_or_path", "num_labels", "problem_type",
      "task_specific_params", "tokenizer_class", "torch_dtype",
      "transformers_version", "unsloth_fixed", "unsloth_version",
      // Tokens.
      "begin_suppress_tokens", "bos_token_id", "decoder_start_token_id",
      "eos_token_id", "forced_bos_token_id", "forced_eos_token_id",
      "model_max_length", "pad_token_id", "prefix", "sep_token_id",
      "suppress_tokens", "unk_token_id",
      // Generation.
      "bad_words_ids", "diversity_penalty", "do_sample", "early_stopping",
      "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty",
      "generation_config", "length_penalty", "max_length", "min_length",
      "no_repeat_ngram_size", "num_beam_groups", "num_beams",
      "num_return_sequences", "output_scores", "remove_invalid_values",
      "repetition_penalty", "return_dict_in_generate", "temperature", "top_k",
      "top_p", "typical_p",
      // What a call returns, and kernels.
      "chunk_size_feed_forward", "output_attentions", "output_hidden_states",
      "pruned_heads", "reorder_and_upcast_attn", "return_dict",
      "tf_legacy_loss", "torchscript", "use_bfloat16", "use_cache",
      "use_flash_attention_2",
      // Training: dropouts, losses beside the main one, how it was split.
      "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop",
      "aux_loss_alpha", "classifier_dropout", "embd_pdrop", "ep_size",
      "gradient_checkpointing", "hidden_dropout", "hidden_dropout_prob",
      "initializer_range", "layer_norm_epsilon_training",
      "output_router_logits", "pretraining_tp", "resid_pdrop",
      "router_aux_loss_coef", "router_jitter_noise", "seq_aux",
      "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
      "summary_type", "summary_use_proj",
      // Of the pooler and of the encoder-decoder that this model is not part
      // of.
      "cross_attention_hidden_size", "directionality", "is_encoder_decoder",
      "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
      "pooler_size_per_head", "pooler_type", "tie_encoder_decoder",
      // Read where it means something; another name of 'n_positions'.
      "original_max_position_embeddings", "n_ctx"};
  return names;
}

/// What the config says and the graph does not have.
static void collectNotes(const ConfigReader &reader,
                         const Architecture &architecture,
                         ModelConfig &config) {
  std::string type = reader.text({"model_type"}, "");
  if (!type.empty() && type != architecture.modelType)
    config.notes.push_back((reader.location() + ": 'model_type' is '" +
                            printableName(type) + "', read as '" +
                            architecture.modelType + "' (" + architecture.name +
                            ")")
                               .str());
  if (const llvm::json::Object *stored = reader.child("quantization_config")) {
    config.quantized = true;
    StringRef method = stored->getString("quant_method").value_or("fewer bits");
    config.notes.push_back(
        (reader.location() + ": the weights are stored in " +
         printableName(method) +
         " ('quantization_config'); they are taken as 16 bits, as trained")
            .str());
  }
  llvm::append_range(config.notes, reader.unread(neutralFields()));
}

llvm::ArrayRef<StringRef> tessera::getSupportedArchitectures() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> list;
    for (const Architecture &architecture : kArchitectures)
      list.push_back(architecture.name);
    return list;
  }();
  return names;
}

//===----------------------------------------------------------------------===//
// Shorthands
//===----------------------------------------------------------------------===//

ParameterRef tessera::makeMatrix(StringRef symbol, StringRef checkpoint,
                                 int64_t rows, int64_t columns, double std) {
  ParameterRef parameter;
  parameter.symbol = symbol.str();
  parameter.checkpoint = checkpoint.str();
  parameter.shape = {rows, columns};
  parameter.initStd = std;
  return parameter;
}

ParameterRef tessera::makeVector(StringRef symbol, StringRef checkpoint,
                                 int64_t size, double mean) {
  ParameterRef parameter;
  parameter.symbol = symbol.str();
  parameter.checkpoint = checkpoint.str();
  parameter.shape = {size};
  parameter.initMean = mean;
  return parameter;
}

LinearRef tessera::makeLinear(StringRef symbol, StringRef checkpoint,
                              int64_t out, int64_t in, double std, bool bias) {
  LinearRef linear;
  linear.weight =
      makeMatrix(symbol, (checkpoint + ".weight").str(), out, in, std);
  if (bias)
    linear.bias = makeVector((symbol + "_bias").str(),
                             (checkpoint + ".bias").str(), out, 0.0);
  return linear;
}

void tessera::readHead(const ConfigReader &reader, ModelConfig &config,
                       StringRef checkpoint, bool tied, double std) {
  if (reader.boolean("tie_word_embeddings", tied)) {
    config.ignoredTensors.push_back(checkpoint.str());
    return;
  }
  config.head =
      makeMatrix("head", checkpoint, config.vocab, config.hidden, std);
  config.head->padded = true;
}

ParameterRef tessera::makeExperts(StringRef symbol, StringRef checkpoint,
                                  int64_t experts, int64_t rows,
                                  int64_t columns, double std) {
  ParameterRef parameter = makeMatrix(symbol, checkpoint, rows, columns, std);
  parameter.shape.insert(parameter.shape.begin(), experts);
  return parameter;
}

NormRef tessera::makeNorm(StringRef symbol, StringRef checkpoint, int64_t size,
                          bool bias) {
  NormRef norm;
  norm.weight = makeVector(symbol, (checkpoint + ".weight").str(), size, 1.0);
  if (bias)
    norm.bias = makeVector((symbol + "_bias").str(),
                           (checkpoint + ".bias").str(), size, 0.0);
  return norm;
}

std::string tessera::readActivation(const ConfigReader &reader, StringRef name,
                                    StringRef otherwise) {
  // The names of transformers' ACT2FN whose formulas are one of ours.
  static constexpr StringRef names[] = {"gelu",
                                        "gelu_accurate",
                                        "gelu_fast",
                                        "gelu_new",
                                        "gelu_python",
                                        "gelu_python_tanh",
                                        "gelu_pytorch_tanh",
                                        "relu",
                                        "silu",
                                        "swish"};
  std::string text = reader.text({name}, otherwise);
  StringRef kind = llvm::StringSwitch<StringRef>(text)
                       .Cases({"gelu", "gelu_python"}, "gelu")
                       .Cases({"gelu_new", "gelu_fast", "gelu_accurate",
                               "gelu_python_tanh", "gelu_pytorch_tanh"},
                              "gelu_tanh")
                       .Cases({"silu", "swish"}, "silu")
                       .Case("relu", "relu")
                       .Default("");
  if (kind.empty())
    reader.failField(
        name, "names activation '" + text + "', which is not supported" +
                  didYouMean(text, names) + " (supported: " +
                  llvm::join(llvm::ArrayRef<StringRef>(names), ", ") + ")");
  return kind.str();
}

void tessera::readSizes(const ConfigReader &reader, ModelConfig &config) {
  config.hidden = reader.integer({"hidden_size"});
  config.layers =
      reader.integer({"num_hidden_layers"}, std::nullopt, 1, kMaxLayers);
  config.heads = reader.integer({"num_attention_heads"});
  config.vocab = reader.integer({"vocab_size"});
}

int64_t tessera::readHeadDim(const ConfigReader &reader,
                             const ModelConfig &config, StringRef hiddenName,
                             StringRef headsName) {
  if (config.hidden % config.heads != 0)
    reader.failField(hiddenName, "(" + Twine(config.hidden) +
                                     ") must be a multiple of '" + headsName +
                                     "' (" + Twine(config.heads) + ")");
  return std::max<int64_t>(config.hidden / config.heads, 1);
}

void tessera::checkHeads(const ConfigReader &reader, const ModelConfig &config,
                         StringRef headsName, StringRef kvHeadsName) {
  if (config.kvHeads < 1 || config.heads % config.kvHeads != 0)
    reader.failField(headsName, "(" + Twine(config.heads) +
                                    ") must be a multiple of '" + kvHeadsName +
                                    "' (" + Twine(config.kvHeads) + ")");
}

//===----------------------------------------------------------------------===//
// ModelConfig
//===----------------------------------------------------------------------===//

template <typename Config, typename Visit>
static void visitParameters(Config &config, Visit visit) {
  auto maybe = [&](auto &parameter) {
    if (parameter)
      visit(*parameter);
  };
  auto norm = [&](auto &ref) {
    visit(ref.weight);
    maybe(ref.bias);
  };
  auto linear = norm;
  visit(config.embedding);
  maybe(config.positions);
  maybe(config.tokenType);
  if (config.embeddingNorm)
    norm(*config.embeddingNorm);
  norm(config.attentionNorm);
  if (config.latent) {
    auto &latent = *config.latent;
    if (latent.qDown) {
      linear(*latent.qDown);
      norm(*latent.qNorm);
    }
    linear(latent.q);
    linear(latent.kvDown);
    norm(latent.kvNorm);
    linear(latent.kvUp);
  } else {
    linear(config.q);
    linear(config.k);
    linear(config.v);
  }
  if (config.relative) {
    linear(config.relative->projection);
    visit(config.relative->contentBias);
    visit(config.relative->positionBias);
  }
  if (config.qNorm)
    norm(*config.qNorm);
  if (config.kNorm)
    norm(*config.kNorm);
  linear(config.o);
  norm(config.mlpNorm);
  if (config.hasDenseLayers()) {
    if (config.gate)
      linear(*config.gate);
    linear(config.up);
    linear(config.down);
  }
  if (config.experts) {
    auto &experts = *config.experts;
    visit(experts.router);
    maybe(experts.routerBias);
    visit(experts.gate);
    visit(experts.up);
    visit(experts.down);
    if (experts.sharedUp) {
      linear(*experts.sharedGate);
      linear(*experts.sharedUp);
      linear(*experts.sharedDown);
    }
  }
  if (config.finalNorm)
    norm(*config.finalNorm);
  if (config.headTransform) {
    linear(config.headTransform->dense);
    norm(config.headTransform->norm);
  }
  maybe(config.head);
  maybe(config.headBias);
}

void ModelConfig::updateParameters(
    llvm::function_ref<void(ParameterRef &)> update) {
  visitParameters(*this, update);
}

void ModelConfig::forEachParameter(
    llvm::function_ref<void(const ParameterRef &)> visit) const {
  visitParameters(*this, visit);
}

bool ModelConfig::hasDenseLayers() const {
  return expertLayers.empty() || llvm::is_contained(expertLayers, false);
}

static int64_t elementsOf(const ModelConfig &config,
                          const ParameterRef &parameter) {
  int64_t elements = parameter.isLayered() ? config.layersOf(parameter) : 1;
  for (int64_t size :
       parameter.storedShape.empty() ? parameter.shape : parameter.storedShape)
    elements *= size;
  return elements;
}

int64_t ModelConfig::numParameters() const {
  int64_t total = 0;
  std::set<std::string> fused; // Tensors that several parameters are part of.
  forEachParameter([&](const ParameterRef &parameter) {
    if (parameter.storedShape.empty() ||
        fused.insert(parameter.checkpoint).second)
      total += elementsOf(*this, parameter);
  });
  return total;
}

int64_t ModelConfig::numActiveParameters() const {
  int64_t total = numParameters();
  if (experts)
    for (const ParameterRef *parameter :
         {&experts->gate, &experts->up, &experts->down}) {
      int64_t all = elementsOf(*this, *parameter);
      total -= all - all / experts->experts * experts->topK;
    }
  return total;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What a well-known architecture has that no op of the graph computes.
static std::string whatItLacks(StringRef name) {
  return llvm::StringSwitch<std::string>(name)
      .Cases({"Gemma2ForCausalLM", "gemma2"},
             "its soft caps of scores and logits are not computed")
      .Cases({"GptOssForCausalLM", "gpt_oss"},
             "its attention sinks and the biases of its experts are not "
             "computed")
      .Default("");
}

/// Number format of quantised weights, by what wrote them: FP8 (DeepSeek,
/// vLLM), GPTQ, AWQ and bitsandbytes. Their scales are counted by the format.
static std::string readQuantized(const ConfigReader &reader) {
  const llvm::json::Object *object = reader.child("quantization_config");
  if (!object)
    return "";
  StringRef method = object->getString("quant_method").value_or("");
  int64_t bits = object->getInteger("bits").value_or(0);
  if (method == "bitsandbytes")
    bits = object->getBoolean("load_in_4bit").value_or(false) ? 4 : 8;
  if (method == "fp8" || method == "fbgemm_fp8")
    return "fp8";
  if (method == "mxfp4")
    return "mxfp4";
  if ((method == "gptq" || method == "awq" || method == "bitsandbytes") &&
      (bits == 4 || bits == 8))
    return bits == 4 ? "int4" : "int8";
  return "";
}

/// Is the object `part` of a multimodal config a model by itself?
static bool holdsSupported(const ConfigReader &reader, StringRef part) {
  if (!reader.has(part))
    return false;
  const llvm::json::Object *inner = reader.child(part);
  return inner &&
         llvm::any_of(kArchitectures, [&](const Architecture &architecture) {
           return inner->getString("model_type") == architecture.modelType;
         });
}

/// The architecture that the config names, by `architectures` or `model_type`.
static const Architecture *findArchitecture(const ConfigReader &reader) {
  std::string name, modelType = reader.text({"model_type"}, "");
  if (const llvm::json::Array *list = reader.array("architectures")) {
    if (!list->empty())
      if (std::optional<StringRef> text = list->front().getAsString())
        name = text->str();
    if (name.empty())
      reader.failField("architectures", "must be a list of names");
  }
  if (name.empty() && modelType.empty())
    reader.fail("neither field 'architectures' nor 'model_type' is there");
  for (const Architecture &architecture : kArchitectures)
    if (name.empty() ? architecture.modelType == modelType
                     : architecture.name == name)
      return &architecture;
  std::string got = name.empty() ? modelType : name;
  std::vector<StringRef> known = getSupportedArchitectures();
  std::string hint;
  if (name.empty()) {
    known.clear();
    for (const Architecture &architecture : kArchitectures)
      if (!llvm::is_contained(known, architecture.modelType))
        known.push_back(architecture.modelType);
  }
  for (const Architecture &architecture : kArchitectures)
    if (hint.empty() && architecture.modelType == modelType)
      hint = ("; did you mean '" + architecture.name + "'?").str();
  // Another model of the same naming is no slip of the keyboard.
  if (hint.empty())
    hint = nearlyNamed(got, known);
  for (StringRef part : {"text_config", "llm_config", "language_config"})
    if (hint.empty() && holdsSupported(reader, part))
      hint = ("; of its language model alone give field '" + part +
              "' as a config.json")
                 .str();
  std::string lacks = hint.empty() ? whatItLacks(got) : "";
  reader.fail("architecture '" + Twine(got) + "' is not supported" +
              (lacks.empty() ? "" : ": " + lacks) + hint +
              " (supported: " + llvm::join(known, ", ") + ")");
  return nullptr;
}

static std::string readDtype(const ConfigReader &reader) {
  std::string text = reader.text({"dtype", "torch_dtype"}, "");
  StringRef name = StringRef(text);
  name.consume_front("torch.");
  StringRef dtype = llvm::StringSwitch<StringRef>(name)
                        .Cases({"float32", "float", "f32"}, "f32")
                        .Cases({"bfloat16", "bf16"}, "bf16")
                        .Cases({"float16", "half", "f16"}, "f16")
                        .Cases({"", "auto"}, "")
                        .Default("?");
  if (dtype == "?")
    reader.failField(reader.has("dtype") ? "dtype" : "torch_dtype",
                     "must be float32, bfloat16 or float16, got '" + text +
                         "'");
  return dtype.str();
}

static void checkSize(const ConfigReader &reader, const ModelConfig &config) {
  double total = 0, largest = 0;
  std::string name;
  config.forEachParameter([&](const ParameterRef &parameter) {
    double elements = parameter.isLayered() ? config.layersOf(parameter) : 1;
    for (int64_t size : parameter.shape)
      elements *= double(size);
    total += elements;
    if (elements > largest) {
      largest = elements;
      name = parameter.symbol;
    }
  });
  if (!(total <= kMostParameters))
    reader.fail(
        llvm::formatv("the sizes make {0:e2} parameters, more than {1:e2}; "
                      "most of them are those of '{2}'",
                      total, kMostParameters, name)
            .str());
}

llvm::Expected<ModelConfig>
tessera::parseModelConfig(const llvm::json::Value &json, StringRef path) {
  std::string where = ("'" + path + "'").str();
  const llvm::json::Object *object = json.getAsObject();
  if (!object)
    return makeError(where + " holds no JSON object");
  std::string failure;
  ConfigReader reader(*object, where, failure);
  ModelConfig config;
  if (const Architecture *architecture = findArchitecture(reader)) {
    config.architecture = architecture->name.str();
    config.dtype = readDtype(reader);
    config.quantizedFormat = readQuantized(reader);
    architecture->read(reader, config);
    if (failure.empty())
      checkSize(reader, config);
    collectNotes(reader, *architecture, config);
  }
  if (!failure.empty())
    return makeError(failure);
  return config;
}

/// Letters and digits alone, in lower case.
static std::string plainName(StringRef name) {
  std::string plain;
  for (char c : name)
    if (llvm::isAlnum(c))
      plain += llvm::toLower(c);
  return plain;
}

/// What to give instead of a model that is not there. A name of the hub,
/// "meta-llama/Meta-Llama-3-70B", holds that of a shipped config, spelled
/// otherwise.
static std::string nearestModel(StringRef path) {
  std::vector<StringRef> names;
  for (const ShippedModel &model : getShippedModels())
    names.push_back(model.name);
  auto [owner, name] = path.split('/');
  bool isHubName =
      !owner.empty() && !name.empty() && !name.contains('/') &&
      llvm::all_of(
          owner,
          [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; }) &&
      !name.ends_with(".json") && !name.ends_with(".mlir");
  if (!isHubName)
    return didYouMean(path, names) +
           " ('tessera models' lists those that ship)";
  std::string wanted = plainName(name);
  StringRef best;
  for (StringRef known : names)
    if (StringRef(wanted).contains(plainName(known)) &&
        known.size() > best.size())
      best = known;
  return (best.empty() ? didYouMean(name, names)
                       : ("; did you mean '" + best + "'?").str()) +
         " (nothing is downloaded: of other models give the folder or its "
         "config.json)";
}

llvm::Expected<std::string> tessera::findModelConfig(StringRef path) {
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(path, status);
  if (code && code != std::errc::no_such_file_or_directory)
    return makeError("cannot read model '" + path + "': " + code.message());
  if (code)
    return makeError("model '" + path + "' does not exist" +
                     nearestModel(path));
  if (!llvm::sys::fs::is_directory(path))
    return path.str();
  llvm::SmallString<128> file(path);
  llvm::sys::path::append(file, "config.json");
  if (!llvm::sys::fs::exists(file))
    return makeError("model folder '" + path + "' holds no config.json");
  return file.str().str();
}

llvm::Expected<ModelConfig> tessera::readModelConfig(StringRef path) {
  // A file or folder of that name wins over a shipped config.
  if (const ShippedModel *model = findShippedModel(path))
    if (!llvm::sys::fs::exists(path)) {
      llvm::Expected<llvm::json::Value> json = parseJson(model->json, path);
      if (!json)
        return json.takeError();
      return parseModelConfig(*json, path);
    }
  llvm::Expected<std::string> file = findModelConfig(path);
  if (!file)
    return file.takeError();
  if (llvm::sys::path::extension(*file) == ".mlir")
    return readGraphConfig(*file);
  llvm::Expected<std::string> text = readFile(*file);
  if (!text)
    return text.takeError();
  llvm::Expected<llvm::json::Value> json = parseJson(*text, *file);
  if (!json)
    return json.takeError();
  return parseModelConfig(*json, *file);
}
