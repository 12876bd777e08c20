//===- CheckWeights.cpp - a checkpoint against the model that reads it ----===//
//
// Looks at headers only. A tensor that nobody reads is an error too: where the
// config says "no bias" and the checkpoint has biases, ignoring them gives
// wrong numbers.
//
//===----------------------------------------------------------------------===//
#include "tessera/Import/Import.h"
#include "tessera/Runtime/Checkpoint.h"
#include "tessera/Support/Error.h"

#include <set>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

/// A checkpoint of the bare model lacks the prefix: none of its tensors has it,
/// and the embedding is there without it.
static void adaptPrefix(const rt::Checkpoint &checkpoint, ModelConfig &config) {
  StringRef embedding = config.embedding.checkpoint;
  if (!embedding.consume_front(config.prefix) ||
      checkpoint.find(config.embedding.checkpoint) ||
      !checkpoint.find(embedding.str()))
    return;
  config.updateParameters([&](ParameterRef &parameter) {
    StringRef name = parameter.checkpoint;
    if (name.consume_front(config.prefix))
      parameter.checkpoint = name.str();
  });
  config.prefix.clear();
}

/// The name with `{layer}` and `{expert}` filled in.
static std::string tensorName(const ParameterRef &parameter, int64_t layer,
                              int64_t expert) {
  std::string name = parameter.checkpoint;
  for (auto [mark, number] : {std::pair<StringRef, int64_t>{"{layer}", layer},
                              {"{expert}", expert}}) {
    size_t at = name.find(mark);
    if (at != std::string::npos)
      name.replace(at, mark.size(), std::to_string(number));
  }
  return name;
}

/// Checkpoints of BERT from before 2020 call a norm's tensors gamma and beta.
static void adaptNormNames(const rt::Checkpoint &checkpoint,
                           ModelConfig &config) {
  config.updateParameters([&](ParameterRef &parameter) {
    for (auto [now, before] : {std::pair<StringRef, StringRef>{
                                   "LayerNorm.weight", "LayerNorm.gamma"},
                               {"LayerNorm.bias", "LayerNorm.beta"}}) {
      StringRef name = parameter.checkpoint;
      if (!name.ends_with(now) ||
          checkpoint.find(tensorName(parameter, parameter.firstLayer, 0)))
        continue;
      ParameterRef old = parameter;
      old.checkpoint = (name.drop_back(now.size()) + before).str();
      if (checkpoint.find(tensorName(old, old.firstLayer, 0)))
        parameter.checkpoint = old.checkpoint;
    }
  });
}

static llvm::Error checkTensor(const rt::Checkpoint &checkpoint,
                               const ParameterRef &parameter,
                               const std::string &name) {
  std::vector<int64_t> shape = parameter.shape;
  if (parameter.isPerExpert())
    shape.erase(shape.begin());
  const std::vector<int64_t> &stored =
      parameter.storedShape.empty() ? shape : parameter.storedShape;
  const rt::TensorInfo *tensor = checkpoint.find(name);
  if (!tensor) {
    std::string near = checkpoint.nearest(name);
    return makeError("'" + checkpoint.path() + "': tensor '" + name +
                     "' is missing, expected shape " +
                     rt::shapeToString(stored) +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  if (tensor->shape != stored)
    return makeError("'" + tensor->file->path() + "': tensor '" + name +
                     "': expected shape " + rt::shapeToString(stored) +
                     ", got " + rt::shapeToString(tensor->shape));
  rt::SliceRequest request;
  request.globalShape = request.size = shape;
  request.offset.assign(shape.size(), 0);
  if (!parameter.reshape.empty())
    request.view =
        rt::TensorView{parameter.reshape, parameter.dim, parameter.index};
  if (rt::Status status = rt::checkSlice(*tensor, request, rt::DType::F32))
    return makeError(status.message());
  return llvm::Error::success();
}

llvm::Error tessera::checkWeights(StringRef path, ModelConfig &config) {
  rt::Expected<rt::Checkpoint> checkpoint = rt::Checkpoint::open(path.str());
  if (!checkpoint)
    return makeError(checkpoint.message());
  adaptPrefix(*checkpoint, config);
  adaptNormNames(*checkpoint, config);

  std::set<std::string> read;
  std::string failure;
  config.forEachParameter([&](const ParameterRef &parameter) {
    int64_t first = parameter.isLayered() ? parameter.firstLayer : 0;
    int64_t count = parameter.isLayered() ? config.layersOf(parameter) : 1;
    int64_t experts = parameter.isPerExpert() ? parameter.shape[0] : 1;
    for (int64_t i = 0; i < count * experts && failure.empty(); ++i) {
      std::string name =
          tensorName(parameter, first + i / experts, i % experts);
      if (llvm::Error error = checkTensor(*checkpoint, parameter, name))
        failure = llvm::toString(std::move(error));
      read.insert(name);
    }
  });
  if (!failure.empty())
    return makeError(failure);

  for (const auto &entry : checkpoint->tensors()) {
    StringRef name = entry.first;
    bool ignored =
        llvm::any_of(config.ignoredTensors, [&](const std::string &ending) {
          return name.ends_with(ending);
        });
    if (!ignored && !read.count(entry.first))
      return makeError("'" + entry.second.file->path() + "': tensor '" + name +
                       "' is not read by a " + config.architecture +
                       " with this config.json: the two do not belong "
                       "together");
  }
  return llvm::Error::success();
}
