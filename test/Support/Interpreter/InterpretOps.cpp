//===- InterpretOps.cpp - each op of one rank as plain loops --------------===//
#include "test/Support/Interpreter/Interpreter.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

using Operands = ArrayRef<const HostTensor *>;
static constexpr double kMinusInfinity = -HUGE_VAL;

static ArrayRef<int64_t> resultShape(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

static double activate(ActivationKind kind, double x) {
  switch (kind) {
  case ActivationKind::Gelu:
    return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  case ActivationKind::GeluTanh:
    return 0.5 * x *
           (1.0 +
            std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
  case ActivationKind::Silu:
    return x / (1.0 + std::exp(-x));
  case ActivationKind::Relu:
    return x > 0 ? x : 0.0;
  }
  llvm_unreachable("all activations are listed");
}

static FailureOr<HostTensor> embed(EmbeddingOp op, Operands in) {
  HostTensor out(resultShape(op));
  int64_t rows = in[1]->shape[0], width = in[1]->shape[1];
  int64_t offset = op.getOffset() ? int64_t(in[2]->data[0]) : 0;
  for (size_t t = 0; t < in[0]->data.size(); ++t) {
    int64_t row = int64_t(in[0]->data[t]) - offset;
    if (row < 0 || row >= rows) {
      if (!op.getOffset())
        return op.emitError() << "token " << row << " is outside the table";
      continue;
    }
    for (int64_t i = 0; i < width; ++i)
      out.data[t * width + i] = in[1]->data[row * width + i];
  }
  return out;
}

static HostTensor addPositions(AddPositionsOp op, Operands in) {
  HostTensor out = *in[0];
  int64_t sequence = out.shape[1], width = out.shape[2];
  int64_t first =
      int64_t(op.getFirst()) + (op.getOffset() ? int64_t(in[2]->data[0]) : 0);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] += in[1]->data[(int64_t(i) / width % sequence + first) * width +
                               int64_t(i) % width];
  return out;
}

static HostTensor linear(LinearOp op, Operands in) {
  HostTensor out(resultShape(op));
  int64_t k = in[0]->shape[2], n = out.shape[2];
  bool outIn = op.getWeightLayout() == WeightLayout::OutIn;
  for (size_t i = 0; i < out.data.size(); ++i) {
    int64_t row = int64_t(i) / n, column = int64_t(i) % n;
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += in[0]->data[row * k + j] *
             in[1]->data[outIn ? column * k + j : j * n + column];
    out.data[i] = sum;
  }
  return out;
}

static HostTensor norm(const HostTensor &x, const HostTensor &weight,
                       const HostTensor *bias, double eps, bool center) {
  HostTensor out = x;
  size_t n = weight.data.size();
  for (size_t first = 0; first < x.data.size(); first += n) {
    double mean = 0, square = 0;
    for (size_t i = 0; center && i < n; ++i)
      mean += x.data[first + i] / double(n);
    for (size_t i = 0; i < n; ++i)
      square += std::pow(x.data[first + i] - mean, 2) / double(n);
    for (size_t i = 0; i < n; ++i)
      out.data[first + i] = (x.data[first + i] - mean) /
                                std::sqrt(square + eps) * weight.data[i] +
                            (bias ? bias->data[i] : 0.0);
  }
  return out;
}

static HostTensor rotate(RotaryOp op, Operands in) {
  HostTensor out = *in[0];
  int64_t headDim = op.getHeadDim(), half = in[1]->shape[1];
  int64_t sequence = out.shape[1], width = out.shape[2];
  for (int64_t row = 0; row < out.shape[0] * sequence; ++row)
    for (int64_t head = 0; head < width; head += headDim)
      for (int64_t i = 0; i < half; ++i) {
        const double *table = &in[1]->data[((row % sequence) * half + i) * 2];
        double &a = out.data[row * width + head + i];
        double &b = out.data[row * width + head + i + half];
        double x = a, y = b;
        a = x * table[0] - y * table[1];
        b = y * table[0] + x * table[1];
      }
  return out;
}

static HostTensor attend(AttentionOp op, Operands in) {
  HostTensor out(in[0]->shape);
  int64_t sequence = out.shape[1], width = out.shape[2], d = op.getHeadDim();
  int64_t kvWidth = in[1]->shape[2], group = width / kvWidth;
  int64_t window = op.getWindow();
  double scale = op.getScale().convertToDouble();
  for (int64_t b = 0; b < out.shape[0]; ++b)
    for (int64_t h = 0; h < width / d; ++h)
      for (int64_t i = 0; i < sequence; ++i) {
        const double *q = &in[0]->data[(b * sequence + i) * width + h * d];
        std::vector<double> p(sequence, kMinusInfinity);
        double largest = kMinusInfinity, total = 0;
        for (int64_t j = 0; j < sequence; ++j) {
          if ((op.getCausal() && j > i) || (window > 0 && j <= i - window))
            continue;
          const double *k =
              &in[1]->data[(b * sequence + j) * kvWidth + h / group * d];
          p[j] = 0;
          for (int64_t c = 0; c < d; ++c)
            p[j] += scale * q[c] * k[c];
          largest = std::max(largest, p[j]);
        }
        for (double &value : p)
          total += value = std::exp(value - largest);
        double *o = &out.data[(b * sequence + i) * width + h * d];
        for (int64_t j = 0; j < sequence; ++j)
          for (int64_t c = 0; c < d; ++c)
            o[c] +=
                p[j] / total *
                in[2]->data[(b * sequence + j) * kvWidth + h / group * d + c];
      }
  return out;
}

static HostTensor sinusoidTable(SinusoidTableOp op) {
  HostTensor out(resultShape(op));
  int64_t width = out.shape[2], half = width / 2;
  for (int64_t t = 0; t < out.shape[1]; ++t)
    for (int64_t i = 0; i < half; ++i) {
      double angle = double(t) / std::pow(10000.0, 2.0 * double(i) / width);
      out.data[t * width + i] = std::sin(angle);
      out.data[t * width + half + i] = std::cos(angle);
    }
  return out;
}

static HostTensor attendRelative(RelativeAttentionOp op, Operands in) {
  HostTensor out(in[0]->shape);
  int64_t sequence = out.shape[1], width = out.shape[2], d = op.getHeadDim();
  double scale = op.getScale().convertToDouble();
  for (int64_t b = 0; b < out.shape[0]; ++b)
    for (int64_t h = 0; h < width; h += d)
      for (int64_t i = 0; i < sequence; ++i) {
        auto row = [&](int operand, int64_t batch, int64_t position) {
          int64_t rows = in[operand]->shape[1];
          return &in[operand]->data[(batch * rows + position) * width + h];
        };
        const double *u = &in[4]->data[h], *w = &in[5]->data[h];
        std::vector<double> p(i + 1, 0.0);
        double largest = kMinusInfinity, total = 0;
        for (int64_t j = 0; j <= i; ++j) {
          for (int64_t c = 0; c < d; ++c)
            p[j] += scale * ((row(0, b, i)[c] + u[c]) * row(1, b, j)[c] +
                             (row(0, b, i)[c] + w[c]) * row(3, 0, i - j)[c]);
          largest = std::max(largest, p[j]);
        }
        for (double &value : p)
          total += value = std::exp(value - largest);
        double *o = &out.data[(b * sequence + i) * width + h];
        for (int64_t j = 0; j <= i; ++j)
          for (int64_t c = 0; c < d; ++c)
            o[c] += p[j] / total * row(2, b, j)[c];
      }
  return out;
}

/// Maximum, sum of exponentials and label's logit over the local columns.
static HostTensor lossStats(const HostTensor &logits, const HostTensor &labels,
                            int64_t offset, int64_t vocab) {
  HostTensor out({logits.shape[0], logits.shape[1], 3});
  int64_t columns = logits.shape[2];
  for (size_t t = 0; t < labels.data.size(); ++t) {
    double *stats = &out.data[t * 3];
    stats[0] = kMinusInfinity;
    int64_t counted = std::min(columns, vocab - offset);
    for (int64_t j = 0; j < counted; ++j)
      stats[0] = std::max(stats[0], logits.data[t * columns + j]);
    for (int64_t j = 0; j < counted; ++j)
      stats[1] += std::exp(logits.data[t * columns + j] - stats[0]);
    int64_t label = int64_t(labels.data[t]) - offset;
    if (label >= 0 && label < counted)
      stats[2] = logits.data[t * columns + label];
  }
  return out;
}

static HostTensor lossOf(const HostTensor &stats, const HostTensor &labels) {
  HostTensor out(labels.shape);
  int64_t ranks = stats.shape[2] / 3;
  for (size_t t = 0; t < labels.data.size(); ++t) {
    if (labels.data[t] == kIgnoredLabel)
      continue;
    double largest = kMinusInfinity, total = 0, label = 0;
    for (int64_t r = 0; r < ranks; ++r)
      largest = std::max(largest, stats.data[(t * ranks + r) * 3]);
    for (int64_t r = 0; r < ranks; ++r) {
      const double *s = &stats.data[(t * ranks + r) * 3];
      total += s[1] == 0 ? 0 : s[1] * std::exp(s[0] - largest);
      label += s[2];
    }
    out.data[t] = std::log(total) + largest - label;
  }
  return out;
}

static HostTensor rotaryTable(RotaryTableOp op) {
  HostTensor out(resultShape(op));
  SmallVector<double> frequencies = op.getRotary().getInverseFrequencies();
  double factor = op.getRotary().getCosSinFactor();
  int64_t half = out.shape[1];
  for (int64_t i = 0; i < out.shape[0] * half; ++i) {
    double angle = double(i / half) * frequencies[i % half];
    out.data[2 * i] = std::cos(angle) * factor;
    out.data[2 * i + 1] = std::sin(angle) * factor;
  }
  return out;
}

template <typename F>
static HostTensor zip(const HostTensor &a, const HostTensor &b, F f) {
  HostTensor out = a;
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = f(a.data[i], b.data[i % b.data.size()]);
  return out;
}

FailureOr<HostTensor> tessera::test::interpretOp(Operation *op, Operands in) {
  using Result = FailureOr<HostTensor>;
  auto plus = [](double a, double b) { return a + b; };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](EmbeddingOp op) { return embed(op, in); })
      .Case([&](AddPositionsOp op) -> Result { return addPositions(op, in); })
      .Case([&](LinearOp op) -> Result { return linear(op, in); })
      .Case<AddBiasOp, AddOp>(
          [&](auto) -> Result { return zip(*in[0], *in[1], plus); })
      .Case([&](RMSNormOp op) -> Result {
        return norm(*in[0], *in[1], nullptr, op.getEps().convertToDouble(),
                    false);
      })
      .Case([&](LayerNormOp op) -> Result {
        return norm(*in[0], *in[1], op.getBias() ? in[2] : nullptr,
                    op.getEps().convertToDouble(), true);
      })
      .Case([&](RotaryOp op) -> Result { return rotate(op, in); })
      .Case([&](AttentionOp op) -> Result { return attend(op, in); })
      .Case([&](RelativeAttentionOp op) -> Result {
        return attendRelative(op, in);
      })
      .Case([&](SinusoidTableOp op) -> Result { return sinusoidTable(op); })
      .Case([&](SwigluOp op) -> Result {
        return zip(*in[0], *in[1], [&](double gate, double up) {
          return activate(op.getActivation(), gate) * up;
        });
      })
      .Case([&](ActivationOp op) -> Result {
        return zip(*in[0], *in[0],
                   [&](double x, double) { return activate(op.getKind(), x); });
      })
      .Case([&](CrossEntropyOp op) -> Result {
        return lossOf(lossStats(*in[0], *in[1], 0, op.getVocab()), *in[1]);
      })
      .Case([&](CrossEntropyStatsOp op) -> Result {
        return lossStats(*in[0], *in[1], int64_t(in[2]->data[0]),
                         op.getVocab());
      })
      .Case([&](CrossEntropyCombineOp) -> Result {
        return lossOf(*in[0], *in[1]);
      })
      .Case([&](TokenSumOp op) -> Result {
        HostTensor out(resultShape(op));
        for (size_t t = 0; t < in[0]->data.size(); ++t)
          if (in[1]->data[t] != kIgnoredLabel) {
            out.data[0] += in[0]->data[t];
            out.data[1] += 1;
          }
        return out;
      })
      .Case([&](TokenMeanOp op) -> Result {
        HostTensor out(resultShape(op));
        out.data[0] =
            in[0]->data[1] > 0 ? in[0]->data[0] / in[0]->data[1] : 0.0;
        return out;
      })
      .Case([&](RotaryTableOp op) -> Result { return rotaryTable(op); })
      .Default([](Operation *op) -> Result {
        return op->emitError() << "the interpreter does not know this op";
      });
}
