//===- KernelCopyOps.td - copies that one kernel makes -----*- tablegen -*-===//
//
// Collectives move contiguous memory; where a dimension other than the leading
// one is gathered or scattered, the data is rearranged by a copy of our own.
//
//===----------------------------------------------------------------------===//
#ifndef KERNEL_COPY_OPS
#define KERNEL_COPY_OPS

include "dialects/Kernel/KernelConfigAttrs.td"
include "tessera/Interfaces/OpInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_TransposeOp : Op<KernelDialect, "transpose",
    [Pure, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "exchanges two leading factors of a tensor's elements";
  let description = [{
    The elements of `x`, in memory order, are seen as `[rows, cols, inner]`, those
    of the result as `[cols, rows, inner]`; `inner` follows from their number.
    The result's shape is free. With `rows = 1` or `cols = 1` it is a plain copy.

    Cost: each element read and written once.

    ```mlir
    // An all-gather of the sequence over 4 ranks brought [4, batch, 32, 64].
    %y = kernel.transpose %x rows 4 cols 2 : tensor<8x32x64xf32> -> tensor<2x128x64xf32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, I64Attr:$rows, I64Attr:$cols);
  let results = (outs StaticShapeTensorOf<[AnyType]>:$result);
  let assemblyFormat = "$x `rows` $rows `cols` $cols attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

#endif // KERNEL_COPY_OPS
