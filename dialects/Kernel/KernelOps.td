//===- KernelOps.td - groups, and launches of their kernels -*- tablegen -*-===//
#ifndef KERNEL_OPS
#define KERNEL_OPS

include "dialects/Kernel/KernelConfigAttrs.td"
include "dialects/Kernel/KernelCopyOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<KernelDialect, mnemonic, traits>;

/// What flows between kernels: tensors, and scalars that depend on the rank.
def Kernel_Operand : AnyTypeOf<[StaticShapeTensorOf<[AnyType]>, Index]>;
def Kernel_Result : StaticShapeTensorOf<[AnyType]>;

def Kernel_GroupOp : Kernel_Op<"group",
    [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"::tessera::kernel::YieldOp">]> {
  let summary = "tensor ops that one kernel computes";
  let description = [{
    The body is a short straight line of pure `tessera` ops on the block
    arguments, which stand for the operands one by one. Values that live
    between the ops never reach memory; the results do.

    `family` names the builder that makes the kernel, `config` (written by
    `tessera-select-tiles`) how it makes it. `label` is for people: it goes into
    dumps and profiles, kernels are told apart by what they compute.

    ```mlir
    %h = kernel.group matmul "linear_add" (%a = %x : tensor<1x64x96xbf16>,
          %w = %wo : tensor<96x96xbf16>, %r = %res : tensor<1x64x96xbf16>)
        config #kernel.matmul_config<block_m = 64, ...> -> (tensor<1x64x96xbf16>) {
      %0 = tessera.linear %a, %w : ...
      %1 = tessera.add %r, %0 : tensor<1x64x96xbf16>
      kernel.yield %1 : tensor<1x64x96xbf16>
    }
    ```
  }];
  let arguments = (ins Kernel_FamilyAttr:$family, StrAttr:$label,
    Variadic<Kernel_Operand>:$inputs, OptionalAttr<AnyAttr>:$config);
  let results = (outs Variadic<Kernel_Result>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::tessera::kernel::Family":$family, "::llvm::StringRef":$label,
      "::mlir::ValueRange":$inputs, "::mlir::TypeRange":$results)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    /// The ops that the kernel computes, in order, without the terminator.
    auto getOps() { return getBlock()->without_terminator(); }
    /// The body's values that the results stand for.
    ::mlir::OperandRange getYielded() { return getBlock()->getTerminator()->getOperands(); }
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield",
    [Pure, Terminator, HasParent<"::tessera::kernel::GroupOp">]> {
  let summary = "what a group stores to memory";
  let arguments = (ins Variadic<Kernel_Result>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Kernel_LaunchOp : Kernel_Op<"launch",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a device function, on tensors";
  let description = [{
    Stands for one launch of `@module::@function` with the given grid, block
    and dynamic shared memory (bytes). The device function's arguments are the
    tensor operands in order, then the results in order, then the scalar
    operands in order; tensors are passed as memrefs of the same shape, or of
    any other with the same number of elements.

    `in_place` lists pairs of (operand, result): the kernel may write the result
    over that operand, because the thread that writes an element of the result
    is the only one to read that element of the operand, and reads it first.

    ```mlir
    %h = kernel.launch @kernels::@matmul_0 grid [2, 1, 1] block [128, 1, 1] shared 49152
        (%x, %wo, %res) : (tensor<1x64x96xbf16>, tensor<96x96xbf16>, tensor<1x64x96xbf16>)
        -> tensor<1x64x96xbf16>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, DenseI64ArrayAttr:$grid,
    DenseI64ArrayAttr:$block, I64Attr:$shared, Variadic<Kernel_Operand>:$inputs,
    OptionalAttr<StrAttr>:$label, OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let results = (outs Variadic<Kernel_Result>:$results_);
  let assemblyFormat = [{
    $kernel `grid` $grid `block` $block `shared` $shared (`label` $label^)?
    (`in_place` $in_place^)?
    `(` $inputs `)` attr-dict `:` functional-type($inputs, $results_)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether result `result` may take the storage of operand `operand`.
    bool mayShare(unsigned operand, unsigned result);
  }];
}

#endif // KERNEL_OPS
