//===- HostProgram.h - state shared by the parts of `schedule` --*- C++ -*-===//
#ifndef TESSERA_LIB_TRANSFORMS_SCHEDULE_HOSTPROGRAM_H
#define TESSERA_LIB_TRANSFORMS_SCHEDULE_HOSTPROGRAM_H

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NCCL/NCCLDialect.h"
#include "lib/Transforms/Schedule/ParameterLayout.h"
#include "tessera/Analysis/ArenaPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <tuple>

namespace tessera {

/// One kind of NCCL call: op, communicator, data type, count argument.
using CollectiveKey = std::tuple<std::string, int64_t, std::string, int64_t>;

/// What the whole program knows.
struct HostProgram {
  HostProgram(mlir::ModuleOp module, ArenaPlan plan)
      : module(module), plan(std::move(plan)), symbols(module) {}

  mlir::ModuleOp module;
  Mesh mesh;
  ArenaPlan plan;
  ParameterLayout parameters;
  mlir::SymbolTable symbols;
  /// Axes of each communicator, in the manifest's order.
  llvm::SetVector<mlir::ArrayAttr> communicators;
  llvm::DenseMap<mlir::Operation *, mlir::func::FuncOp> hostFunctions;
  /// Calls of one run of each function, callees included.
  llvm::DenseMap<mlir::Operation *, std::map<CollectiveKey, int64_t>> calls;

  /// `memref<bytes x i8>` in device memory.
  mlir::MemRefType byteMemRef(int64_t bytes);
  mlir::MemRefType deviceMemRef(llvm::ArrayRef<int64_t> shape,
                                mlir::Type element);
  /// Types of the arguments that every host function takes: stream,
  /// parameters, scratch, communicators, coordinates.
  llvm::SmallVector<mlir::Type> commonArguments(int64_t scratchBytes);
};

/// Arguments common to all host functions, by position.
enum HostArgument : unsigned {
  kStream,
  kParameters,
  kScratch,
  kComms,
  kCoords,
  kLayer, ///< block functions only; their buffers follow
};

/// Builds the host function of one tensor function.
class FunctionScheduler {
public:
  FunctionScheduler(HostProgram &program, mlir::func::FuncOp source);
  /// The function, in the module; fails with a diagnostic.
  mlir::FailureOr<mlir::func::FuncOp> run();

private:
  mlir::LogicalResult schedule(mlir::Operation *op);
  mlir::LogicalResult scheduleLaunch(kernel::LaunchOp op);
  mlir::LogicalResult scheduleLayers(LayersOp op);
  // Collectives.cpp
  mlir::LogicalResult scheduleCollective(mlir::Operation *op);
  void scheduleAllToAll(AllToAllOp op);
  mlir::Value communicator(mlir::ArrayAttr axes);
  void count(llvm::StringRef op, mlir::ArrayAttr axes, mlir::Value tensor,
             int64_t elements);

  /// The tensor's memory as `type` (same bytes), `skip` bytes in.
  mlir::Value view(mlir::Value tensor, mlir::MemRefType type, int64_t skip = 0);
  /// The tensor's memory as a flat memref of its elements.
  mlir::Value flatView(mlir::Value tensor);
  /// The memory at `storage` as bytes.
  mlir::Value bytesAt(const Storage &storage);
  mlir::Value index(int64_t value);
  mlir::Value axisIndex(mlir::ArrayAttr axes);
  mlir::Value common(HostArgument argument) {
    return function.getArgument(argument);
  }

  HostProgram &program;
  mlir::func::FuncOp source;
  const FunctionArena &arena;
  bool isEntry;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// Byte memrefs of the block's arguments and results.
  llvm::SmallVector<mlir::Value> argumentMemory, resultMemory;
  std::map<int64_t, mlir::Value> constants; // any key: no DenseMap
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Type, int64_t>, mlir::Value>
      views;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Attribute, mlir::Value> comms;
  std::map<CollectiveKey, int64_t> calls;
};

/// The manifest of docs/design.md as JSON text.
mlir::FailureOr<std::string> buildManifest(const HostProgram &program);

} // namespace tessera

#endif // TESSERA_LIB_TRANSFORMS_SCHEDULE_HOSTPROGRAM_H
