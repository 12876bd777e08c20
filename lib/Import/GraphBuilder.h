//===- GraphBuilder.h - a model config to the forward graph ---------------===//
#ifndef LIB_IMPORT_GRAPHBUILDER_H
#define LIB_IMPORT_GRAPHBUILDER_H

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Import/ModelConfig.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

class GraphBuilder {
public:
  GraphBuilder(mlir::MLIRContext &context, const ModelConfig &config,
               int64_t batch, int64_t sequence, mlir::Type element)
      : config(config), batch(batch), sequence(sequence), element(element),
        builder(&context) {}

  mlir::OwningOpRef<mlir::ModuleOp> build(mlir::DictionaryAttr facts);

private:
  void declare(const ParameterRef &parameter);
  /// What tells one block function from another.
  struct BlockKind {
    int64_t window;
    bool experts;
    bool operator==(const BlockKind &o) const {
      return window == o.window && experts == o.experts;
    }
  };
  using Blocks = llvm::SmallVector<std::pair<BlockKind, mlir::func::FuncOp>>;
  BlockKind kindOf(int64_t layer) const;
  mlir::func::FuncOp buildBlock(BlockKind kind);
  void buildForward(const Blocks &blocks);

  mlir::Value read(const ParameterRef &parameter);
  mlir::Value norm(mlir::Value x, const NormRef &ref, bool layerNorm);
  mlir::Value linear(mlir::Value x, const LinearRef &ref);
  mlir::Value mlp(mlir::Value x);
  mlir::Value gatedMlp(mlir::Value x, const LinearRef &gate,
                       const LinearRef &up, const LinearRef &down);
  /// BuildExperts.cpp
  mlir::Value experts(mlir::Value x);
  mlir::Value latentAttention(mlir::Value x);
  mlir::Value attention(mlir::Value x, int64_t window);
  mlir::Value relativeAttention(mlir::Value x);
  /// The model's kind of attention, with all its projections.
  mlir::Value attend(mlir::Value x, int64_t window);
  /// Head norm and rotary embedding of queries or keys.
  mlir::Value positioned(mlir::Value x, const std::optional<NormRef> &headNorm);

  mlir::RankedTensorType activation(int64_t width) {
    return mlir::RankedTensorType::get({batch, sequence, width}, element);
  }
  mlir::RankedTensorType typeOf(const ParameterRef &ref) {
    return mlir::RankedTensorType::get(ref.shape, ref.f32 ? builder.getF32Type()
                                                          : element);
  }
  ActivationKind activationKind() const {
    return *symbolizeActivationKind(config.activation);
  }
  mlir::Location loc(const ParameterRef &parameter) {
    return mlir::NameLoc::get(builder.getStringAttr(parameter.symbol));
  }
  mlir::Location here() { return builder.getUnknownLoc(); }

  const ModelConfig &config;
  int64_t batch, sequence;
  mlir::Type element;
  mlir::OpBuilder builder;
  mlir::Value rotaryTable;
};

} // namespace tessera

#endif // LIB_IMPORT_GRAPHBUILDER_H
