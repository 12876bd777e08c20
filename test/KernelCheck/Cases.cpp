//===- Cases.cpp - the kernels that gpu-check tries -----------------------===//
//
// Every family in both element types, with shapes that no tile divides, and a
// few of the size that a 7-billion-parameter model has.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include <cmath>

using namespace tessera::kernels;

namespace tessera::check {

static std::string typeName(Element type) {
  return type == Element::F32 ? "f32" : "bf16";
}

namespace {
class List {
public:
  explicit List(Element type) : type(type), suffix("_" + typeName(type)) {}

  void matmuls();
  void attentions();
  void rows();
  void losses();
  void copies();
  std::vector<Case> cases;

private:
  template <typename Spec>
  Case &add(const std::string &name, const Spec &spec) {
    cases.push_back({name + suffix, spec, false, std::nullopt});
    return cases.back();
  }
  MatmulSpec product(int64_t m, int64_t n, int64_t k) {
    MatmulSpec spec;
    spec.m = m, spec.n = n, spec.k = k;
    spec.type = spec.outType = type;
    return spec;
  }
  AttentionSpec attention(int64_t sequence, int64_t heads, int64_t kvHeads,
                          int64_t headDim) {
    AttentionSpec spec;
    spec.batch = 2, spec.seqQ = spec.seqKV = sequence;
    spec.heads = heads, spec.kvHeads = kvHeads, spec.headDim = headDim;
    spec.type = type, spec.scale = 1.0 / std::sqrt(double(headDim));
    return spec;
  }

  Element type;
  std::string suffix;
};
} // namespace

void List::matmuls() {
  add("matmul_128x128x128", product(128, 128, 128));
  add("matmul_33x65x77", product(33, 65, 77));
  add("matmul_1x257x96", product(1, 257, 96));
  add("matmul_200x24x40", product(200, 24, 40));
  MatmulSpec spec = product(70, 52, 100);
  spec.weightOutIn = false;
  add("matmul_kn_70x52x100", spec);
  spec = product(65, 60, 90);
  spec.weightOutIn = false;
  spec.hasBias = true, spec.activation = Activation::GeluTanh;
  add("matmul_bias_gelutanh", spec);
  spec = product(40, 78, 60);
  spec.hasBias = spec.hasResidual = true;
  add("matmul_bias_residual", spec);
  spec = product(72, 148, 78);
  spec.hasGate = true, spec.gateActivation = Activation::Silu;
  add("matmul_swiglu", spec);
  spec = product(50, 101, 64);
  spec.outType = Element::F32;
  add("matmul_logits", spec);

  // Other tiles, pipelines and warps than the defaults of small shapes.
  auto configured = [&](const char *name, const MatmulConfig &config) {
    add(name, product(150, 170, 130)).matmulConfig = config;
  };
  if (type == Element::BF16) {
    configured("matmul_tile_64x64x32", {64, 64, 32, 2, 2, 4, 8});
    configured("matmul_tile_128x64x64", {128, 64, 64, 2, 2, 2, 8});
    configured("matmul_tile_128x128x32", {128, 128, 32, 2, 4, 3, 2});
  } else {
    configured("matmul_tile_64x64x16", {64, 64, 16, 2, 2, 2, 8});
    configured("matmul_tile_128x64x8", {128, 64, 8, 2, 2, 2, 4});
  }

  if (type == Element::BF16) {
    add("matmul_4096x4096x4096", product(4096, 4096, 4096)).large = true;
    add("matmul_4096x14336x4096", product(4096, 14336, 4096)).large = true;
    spec = product(4096, 4096, 14336);
    spec.hasResidual = true;
    add("matmul_residual_4096x4096x14336", spec).large = true;
    add("matmul_4095x4097x4098", product(4095, 4097, 4098)).large = true;
    add("matmul_16x4096x4096", product(16, 4096, 4096)).large = true;
  } else {
    add("matmul_2048x2048x2048", product(2048, 2048, 2048)).large = true;
  }
}

void List::attentions() {
  add("attention_causal_80x64", attention(80, 2, 2, 64));
  add("attention_grouped_odd", attention(37, 6, 2, 10));
  add("attention_128", attention(70, 2, 1, 128));
  AttentionSpec spec = attention(65, 2, 2, 80);
  spec.causal = false;
  add("attention_full", spec);
  spec = attention(100, 3, 3, 32);
  spec.window = 24;
  add("attention_window", spec);
  spec = attention(20, 2, 2, 16);
  spec.seqKV = 90, spec.causal = false;
  add("attention_cross", spec);

  spec = attention(type == Element::BF16 ? 4096 : 1024, 32, 8, 128);
  spec.batch = 1;
  add("attention_causal_large", spec).large = true;
  if (type == Element::BF16) {
    spec.window = 1024;
    add("attention_window_large", spec).large = true;
  }
}

void List::rows() {
  NormSpec norm;
  norm.type = type;
  norm.rows = 9, norm.cols = 576;
  add("rms_norm", norm);
  norm.rows = 5, norm.cols = 77, norm.hasResidual = true;
  add("add_rms_norm_odd", norm);
  norm.kind = NormSpec::Kind::Layer, norm.hasBias = true;
  norm.hasResidual = false, norm.rows = 6, norm.cols = 84;
  add("layer_norm", norm);
  norm = NormSpec();
  norm.type = type, norm.rows = 4096, norm.cols = 8192;
  norm.hasResidual = true;
  add("add_rms_norm_large", norm).large = true;

  RotarySpec rotary;
  rotary.type = type;
  rotary.batch = 2, rotary.seq = 7, rotary.heads = 3;
  rotary.headDim = rotary.rotaryDim = 64, rotary.positions = 9;
  add("rotary", rotary);
  rotary.headDim = 20, rotary.rotaryDim = 8;
  add("rotary_partial", rotary);
  rotary.batch = 1, rotary.seq = rotary.positions = 4096, rotary.heads = 32;
  rotary.headDim = rotary.rotaryDim = 128;
  add("rotary_large", rotary).large = true;

  ElementwiseSpec chain;
  chain.type = type, chain.rows = 5, chain.cols = 52;
  for (auto [name, activation] :
       {std::pair<const char *, Activation>{"gelu", Activation::Gelu},
        {"gelutanh", Activation::GeluTanh},
        {"silu", Activation::Silu},
        {"relu", Activation::Relu}}) {
    chain.activation = activation;
    chain.hasBias = true;
    add(std::string("bias_") + name, chain);
  }
  chain = ElementwiseSpec();
  chain.type = type, chain.rows = 3, chain.cols = 13;
  chain.hasGate = chain.hasResidual = true;
  chain.gateActivation = Activation::Silu;
  add("swiglu_add_odd", chain);
  chain.rows = 4096, chain.cols = 14336, chain.hasResidual = false;
  add("swiglu_large", chain).large = true;

  EmbeddingSpec embedding;
  embedding.type = type;
  embedding.count = 11, embedding.rows = 10, embedding.cols = 77;
  add("embedding", embedding);
  embedding.hasOffset = true, embedding.cols = 96;
  add("embedding_split", embedding);
  embedding = EmbeddingSpec();
  embedding.type = type;
  embedding.count = 8192, embedding.rows = 32000, embedding.cols = 1024;
  add("embedding_large", embedding).large = true;

  PositionsSpec positions;
  positions.type = type;
  positions.batch = 2, positions.seq = 5, positions.cols = 20;
  positions.positions = 16, positions.first = 2;
  add("positions", positions);
  positions.hasOffset = true;
  add("positions_split", positions);
}

void List::losses() {
  CrossEntropySpec loss;
  loss.type = type, loss.rows = 5, loss.cols = 104, loss.vocab = 101;
  add("cross_entropy", loss);
  loss.cols = loss.vocab = 9001;
  add("cross_entropy_9001", loss);
  loss.cols = 53, loss.vocab = 101, loss.statsOnly = true;
  add("cross_entropy_stats", loss);
  loss = CrossEntropySpec();
  loss.type = type, loss.rows = 512, loss.cols = loss.vocab = 128256;
  add("cross_entropy_large", loss).large = true;
  if (type != Element::F32)
    return;
  CrossEntropyCombineSpec combine;
  combine.rows = 6, combine.ranks = 4;
  add("cross_entropy_combine", combine);
  TokenSumSpec sum;
  sum.rows = 777;
  add("token_sum", sum);
  add("token_mean", TokenMeanSpec());
}

void List::copies() {
  CopyCase copy;
  copy.type = type;
  copy.rows = 3, copy.cols = 5, copy.inner = 24;
  add("transpose", copy);
  copy.rows = 7, copy.cols = 3, copy.inner = 11;
  add("transpose_odd", copy);
  copy.slice = true;
  add("slice", copy);
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (Element type : {Element::F32, Element::BF16}) {
    List list(type);
    list.matmuls();
    list.attentions();
    list.rows();
    list.losses();
    list.copies();
    cases.insert(cases.end(), list.cases.begin(), list.cases.end());
  }
  return cases;
}

} // namespace tessera::check
