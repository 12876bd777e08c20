//===- ManifestParser.cpp - JSON to Manifest ------------------------------===//
//
// A reader that carries the path of the key it is at ("parameters[3].shape"),
// so that every message names it. Errors are thrown inside this file and leave
// it as a Status.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Manifest.h"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace tessera::rt {

namespace {
using Json = nlohmann::json;

/// A value and where it is.
struct Node {
  const Json &value;
  std::string path;

  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error("'" + path + "' " + what);
  }
  bool has(const char *key) const {
    return value.is_object() && value.contains(key) && !value[key].is_null();
  }
  Node at(const char *key) const {
    std::string where = path.empty() ? key : path + "." + key;
    if (!value.is_object())
      fail("is no object");
    if (!value.contains(key))
      throw std::runtime_error("'" + where + "' is missing");
    return {value[key], where};
  }
  std::vector<Node> list() const {
    if (!value.is_array())
      fail("is no list");
    std::vector<Node> nodes;
    for (size_t i = 0; i < value.size(); ++i)
      nodes.push_back({value[i], path + "[" + std::to_string(i) + "]"});
    return nodes;
  }
  std::string text() const {
    if (!value.is_string())
      fail("is no string");
    return value.get<std::string>();
  }
  double number() const {
    if (!value.is_number())
      fail("is no number");
    return value.get<double>();
  }
  int64_t integer(int64_t low = 0) const {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
      fail("is no integer");
    int64_t i = value.get<int64_t>();
    if (i < low)
      fail("is " + std::to_string(i) + ", expected at least " +
           std::to_string(low));
    return i;
  }
  bool boolean() const {
    if (!value.is_boolean())
      fail("is no boolean");
    return value.get<bool>();
  }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> extents;
    int64_t product = 1;
    for (const Node &n : list()) {
      extents.push_back(n.integer());
      if (__builtin_mul_overflow(product, extents.back(), &product) ||
          product > INT64_MAX / 16)
        fail("has too many elements");
    }
    return extents;
  }
  DType dtype() const {
    auto type = parseDType(text());
    if (!type)
      fail("is '" + text() + "', expected a type like f32, bf16 or i32");
    return *type;
  }
};

class Parser {
public:
  explicit Parser(Node root) : root(std::move(root)) {}
  Manifest parse();

private:
  int axis(const Node &node) const {
    std::string name = node.text();
    for (size_t i = 0; i < m.mesh.size(); ++i)
      if (m.mesh[i].name == name)
        return static_cast<int>(i);
    node.fail("names axis '" + name + "', the mesh is " + m.meshText());
  }
  std::vector<int> axes(const Node &node) const {
    std::vector<int> found;
    std::set<int> seen;
    for (const Node &n : node.list()) {
      found.push_back(axis(n));
      if (!seen.insert(found.back()).second)
        n.fail("names an axis twice");
    }
    return found;
  }
  void inside(const Node &node, uint64_t offset, uint64_t bytes, uint64_t limit,
              const char *arena) const {
    uint64_t end = 0;
    if (__builtin_add_overflow(offset, bytes, &end) || end > limit)
      node.fail("lies at " + std::to_string(offset) + " and takes " +
                std::to_string(bytes) + " bytes, past the " +
                std::to_string(limit) + " of " + arena);
  }
  void tensor(const Node &node, ShardedTensor &t, bool padded) const;
  ShardedTensor value(const Node &node) const;
  Parameter parameter(const Node &node) const;
  RotaryTable table(const Node &node) const;
  ExpectedCollective collective(const Node &node) const;
  void checkInputs() const;

  Node root;
  Manifest m;
};

void Parser::tensor(const Node &node, ShardedTensor &t, bool padded) const {
  t.name = node.at("name").text();
  t.dtype = node.at("dtype").dtype();
  t.globalShape = node.at("global_shape").shape();
  t.shape = node.at("shape").shape();
  t.offset = static_cast<uint64_t>(node.at("offset").integer());
  Node sharding = node.at("sharding");
  std::set<int> used;
  for (const Node &n : sharding.list()) {
    t.sharding.push_back(axes(n));
    for (int a : t.sharding.back())
      if (!used.insert(a).second)
        n.fail("uses an axis of another dimension");
  }
  if (t.sharding.size() != t.globalShape.size() ||
      t.shape.size() != t.globalShape.size())
    node.fail("('" + t.name +
              "') has shape, global_shape and sharding of "
              "different rank");
  for (size_t d = 0; d < t.shape.size(); ++d) {
    int64_t parts = 1;
    for (int a : t.sharding[d])
      parts *= m.mesh[a].size;
    int64_t local = padded && d == 0 ? (t.globalShape[d] + parts - 1) / parts
                                     : t.globalShape[d] / parts;
    bool whole = (padded && d == 0) || t.globalShape[d] % parts == 0;
    if (!whole || t.shape[d] != local)
      node.fail("('" + t.name + "') has extent " + std::to_string(t.shape[d]) +
                " in dimension " + std::to_string(d) + ", but global " +
                std::to_string(t.globalShape[d]) + " is split in " +
                std::to_string(parts));
  }
}

ShardedTensor Parser::value(const Node &node) const {
  ShardedTensor t;
  tensor(node, t, false);
  inside(node, t.offset, t.bytes(), m.arenaBytes, "arena_bytes");
  return t;
}

Parameter Parser::parameter(const Node &node) const {
  Parameter p;
  p.padded = node.has("padded") && node.at("padded").boolean();
  tensor(node, p, p.padded);
  if (!isFloat(p.dtype))
    node.at("dtype").fail("is " + std::string(nameOf(p.dtype)) +
                          ", expected a float type");
  p.checkpoint = node.at("checkpoint").text();
  uint64_t bytes = p.bytes();
  if (node.has("layers")) {
    p.layered = true;
    p.firstLayer = node.at("layers").at("first").integer();
    p.layerCount = node.at("layers").at("count").integer(1);
    p.layerStride = static_cast<uint64_t>(node.at("layer_stride").integer());
    if (p.layerCount > 1 && p.layerStride < bytes)
      node.at("layer_stride")
          .fail("is " + std::to_string(p.layerStride) + ", a layer takes " +
                std::to_string(bytes));
    uint64_t steps = static_cast<uint64_t>(p.layerCount - 1), span = 0;
    if (__builtin_mul_overflow(steps, p.layerStride, &span) ||
        __builtin_add_overflow(span, bytes, &bytes))
      node.at("layer_stride").fail("is too large");
  } else if (p.checkpoint.find("{layer}") != std::string::npos) {
    node.fail("('" + p.name + "') has {layer} in its name but no 'layers'");
  }
  inside(node, p.offset, bytes, m.parameterBytes, "parameter_bytes");
  if (node.has("view")) {
    Node view = node.at("view");
    p.view = TensorView{view.at("reshape").shape(), view.at("dim").integer(),
                        view.at("index").integer()};
  }
  if (node.has("init_mean"))
    p.initMean = node.at("init_mean").number();
  if (node.has("init_std"))
    p.initStd = node.at("init_std").number();
  return p;
}

RotaryTable Parser::table(const Node &node) const {
  RotaryTable t;
  t.name = node.at("name").text();
  if (node.at("kind").text() != "rotary")
    node.at("kind").fail("is '" + node.at("kind").text() +
                         "', this runtime knows 'rotary'");
  for (const Node &n : node.at("inv_freq").list())
    t.invFreq.push_back(n.number());
  t.attentionFactor = node.at("attention_factor").number();
  t.positions = node.at("positions").integer();
  t.offset = static_cast<uint64_t>(node.at("offset").integer());
  if (t.positions > (int64_t(1) << 40))
    node.at("positions").fail("is too large");
  inside(node, t.offset, t.bytes(), m.parameterBytes, "parameter_bytes");
  return t;
}

ExpectedCollective Parser::collective(const Node &node) const {
  ExpectedCollective c;
  c.op = node.at("op").text();
  c.communicator = static_cast<int>(node.at("communicator").integer());
  if (c.communicator >= static_cast<int>(m.communicators.size()))
    node.at("communicator")
        .fail("is " + std::to_string(c.communicator) + ", there are " +
              std::to_string(m.communicators.size()));
  c.dtype = node.at("dtype").dtype();
  c.count = static_cast<uint64_t>(node.at("count").integer());
  c.calls = static_cast<uint64_t>(node.at("calls").integer());
  return c;
}

void Parser::checkInputs() const {
  bool tokens = false;
  for (const ShardedTensor &t : m.inputs) {
    if (t.name != "tokens" && t.name != "labels")
      throw std::runtime_error("'inputs' has '" + t.name +
                               "', this runtime fills 'tokens' and 'labels'");
    if (t.dtype != DType::I32 ||
        t.globalShape != std::vector<int64_t>{m.batch, m.sequence})
      throw std::runtime_error("input '" + t.name +
                               "' is not i32 [batch, sequence]");
    tokens |= t.name == "tokens";
  }
  if (!tokens)
    throw std::runtime_error("'inputs' has no 'tokens'");
  for (const ShardedTensor &t : m.outputs)
    if (t.dtype != DType::F32)
      throw std::runtime_error("output '" + t.name + "' is not f32");
}

Manifest Parser::parse() {
  int64_t version = root.at("version").integer();
  if (version != 1)
    root.at("version").fail("is " + std::to_string(version) +
                            ", this runtime reads version 1");
  m.model = root.has("model") ? root.at("model").text() : "unnamed";
  m.dtype = root.has("dtype") ? root.at("dtype").text() : "no weights";
  if (root.has("weights"))
    m.weights = root.at("weights").text();
  int64_t ranks = 1;
  for (const Node &n : root.at("mesh").list()) {
    MeshAxis axis{n.at("name").text(), n.at("size").integer(1)};
    for (const MeshAxis &other : m.mesh)
      if (other.name == axis.name)
        n.fail("names axis '" + axis.name + "' twice");
    if (__builtin_mul_overflow(ranks, axis.size, &ranks) || ranks > 1 << 20)
      n.fail("makes the mesh larger than 2^20 ranks");
    m.mesh.push_back(axis);
  }
  m.batch = root.at("batch").integer(1);
  m.sequence = root.at("sequence").integer(1);
  m.vocab = root.at("vocab").integer(1);
  if (m.batch > INT32_MAX || m.sequence > INT32_MAX || m.vocab > INT32_MAX)
    root.fail("has a batch, sequence or vocab over 2^31");
  m.arenaBytes = static_cast<uint64_t>(root.at("arena_bytes").integer());
  m.parameterBytes =
      static_cast<uint64_t>(root.at("parameter_bytes").integer());
  for (const Node &n : root.at("communicators").list())
    m.communicators.push_back(axes(n.at("axes")));
  for (const Node &n : root.at("inputs").list())
    m.inputs.push_back(value(n));
  for (const Node &n : root.at("outputs").list())
    m.outputs.push_back(value(n));
  checkInputs();
  for (const Node &n : root.at("parameters").list())
    m.parameters.push_back(parameter(n));
  for (const Node &n : root.at("tables").list())
    m.tables.push_back(table(n));
  for (const Node &n : root.at("collectives").list())
    m.collectives.push_back(collective(n));
  for (const Node &n : root.at("kernels").list())
    m.kernels.push_back(n.text());
  if (root.has("images"))
    for (const Node &n : root.at("images").list())
      m.images.push_back(n.text());
  if (root.has("virtual")) {
    Node node = root.at("virtual");
    m.virtualCode = VirtualCode();
    m.virtualCode->cpu = node.at("cpu").text();
    for (const Node &n : node.at("features").list())
      m.virtualCode->features.push_back(n.text());
    m.virtualCode->instrumented = node.at("instrumented").boolean();
  }
  return std::move(m);
}
} // namespace

Expected<Manifest> parseManifest(const std::string &text) {
  try {
    Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (root.is_discarded() || !root.is_object())
      return failure("the program's manifest is not valid JSON");
    return Parser(Node{root, ""}).parse();
  } catch (const std::exception &e) {
    return failure("the program's manifest: ", e.what());
  }
}

} // namespace tessera::rt
