// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=1" --tessera-partition --tessera-fuse | FileCheck %s --check-prefix=ONE
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=2" --tessera-partition --tessera-fuse | FileCheck %s --check-prefix=TP
// RUN: tessera-opt %S/Inputs/gpt2.mlir --tessera-plan-layout="mesh=tp=1" --tessera-partition --tessera-fuse | FileCheck %s --check-prefix=GPT2
// RUN: tessera-opt %S/Inputs/gpt2.mlir --tessera-plan-layout="mesh=tp=2" --tessera-partition --tessera-fuse | FileCheck %s --check-prefix=GPT2TP
// RUN: tessera-opt %s --tessera-fuse | FileCheck %s --check-prefix=EDGE
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=1" --tessera-partition --tessera-fuse="fuse-epilogues=false fuse-norms=false fuse-chains=false" | FileCheck %s --check-prefix=OFF

// One rank: the residual add and SwiGLU go into the products.
// ONE-LABEL: func.func private @block(%arg0
// ONE: kernel.group row "rms_norm"
// ONE: %[[Q:.*]] = kernel.group matmul "linear"
// ONE: kernel.group elementwise "rotary"
// ONE: kernel.group attention "attention"
// ONE: %[[R:.*]] = kernel.group matmul "linear_add" (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[X:.*]] = %arg0 : tensor<2x16x64xf32>)
// ONE-NEXT: %[[L:.*]] = tessera.linear
// ONE-NEXT: %[[S:.*]] = tessera.add %[[X]], %[[L]]
// ONE-NEXT: kernel.yield %[[S]]
// ONE: kernel.group row "rms_norm" (%{{.*}} = %[[R]]
// ONE: %[[G:.*]] = kernel.group matmul "linear" {{.*}} -> tensor<2x16x128xf32>
// ONE: %[[U:.*]] = kernel.group matmul "linear_swiglu" ({{.*}}, %{{.*}} = %[[G]] : tensor<2x16x128xf32>)
// ONE: kernel.group matmul "linear_add" (%{{.*}} = %[[U]]
// ONE-NOT: kernel.group elementwise "add"
// ONE-LABEL: func.func @forward
// ONE: kernel.group embedding "embedding"
// ONE: kernel.group cross_entropy "cross_entropy"
// ONE: kernel.group cross_entropy "token_sum"
// ONE: kernel.group cross_entropy "token_mean"

// A reduction stands between product and add: the add goes to the norm, both
// the sum and its norm are stored; the last add of the block stays alone.
// TP-LABEL: func.func private @block(%arg0
// TP: %[[O:.*]] = tessera.reduce_scatter
// TP: %[[R:.*]]:2 = kernel.group row "add_rms_norm" (%{{.*}} = %arg0 {{.*}}, %{{.*}} = %[[O]]
// TP: kernel.yield %{{.*}}, %{{.*}} : tensor<2x8x64xf32>, tensor<2x8x64xf32>
// TP: tessera.all_gather %[[R]]#1
// TP: kernel.group matmul "linear_swiglu"
// TP: %[[D:.*]] = tessera.reduce_scatter
// TP: kernel.group elementwise "add" (%{{.*}} = %[[R]]#0 {{.*}}, %{{.*}} = %[[D]]
// TP-LABEL: func.func @forward
// TP: %[[START:.*]] = tessera.shard_offset
// TP: kernel.group embedding "embedding" ({{.*}}, %{{.*}} = %[[START]] : index)
// TP: kernel.group cross_entropy "cross_entropy_stats"
// TP: kernel.group cross_entropy "cross_entropy_combine"

// GPT2-LABEL: func.func private @block
// GPT2: kernel.group row "layer_norm"
// GPT2: kernel.group matmul "linear_add_bias"
// GPT2: kernel.group matmul "linear_add_bias_add"
// GPT2: kernel.group matmul "linear_add_bias_activation"
// GPT2: kernel.group matmul "linear_add_bias_add"
// GPT2-NOT: kernel.group elementwise

// Bias and residual behind a reduction are one pass over memory.
// GPT2TP-LABEL: func.func private @block
// GPT2TP: tessera.reduce_scatter
// GPT2TP-NEXT: kernel.group elementwise "add_bias_add"
// GPT2TP: kernel.group row "layer_norm"

// OFF-NOT: kernel.group matmul "linear_
// OFF-NOT: kernel.group row "add_
// OFF: kernel.group elementwise "swiglu"
// OFF: kernel.group elementwise "add"

// A product with a second user is stored, and its user stays apart.
// EDGE-LABEL: func.func @second_use
func.func @second_use(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>) {
  // EDGE: kernel.group matmul "linear"
  // EDGE: kernel.group elementwise "add_bias_activation"
  %y = tessera.linear %x, %w : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
  %z = tessera.add_bias %y, %b : tensor<1x8x16xf32>, tensor<16xf32>
  %a = tessera.activation relu %z : tensor<1x8x16xf32>
  return %y, %a : tensor<1x8x16xf32>, tensor<1x8x16xf32>
}

// An epilogue has one residual and its order is fixed.
// EDGE-LABEL: func.func @order
func.func @order(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>, %r: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  // EDGE: kernel.group matmul "linear_add"
  // EDGE: kernel.group elementwise "add_bias_activation"
  %y = tessera.linear %x, %w : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
  %s = tessera.add %y, %r : tensor<1x8x16xf32>
  %z = tessera.add_bias %s, %b : tensor<1x8x16xf32>, tensor<16xf32>
  %a = tessera.activation relu %z : tensor<1x8x16xf32>
  return %a : tensor<1x8x16xf32>
}

// f32 logits of bf16 operands take no epilogue.
// EDGE-LABEL: func.func @wide_result
func.func @wide_result(%x: tensor<1x8x16xbf16>, %w: tensor<16x16xbf16>) -> tensor<1x8x16xf32> {
  // EDGE: kernel.group matmul "linear"
  // EDGE: kernel.group elementwise "activation"
  %y = tessera.linear %x, %w : tensor<1x8x16xbf16>, tensor<16x16xbf16> -> tensor<1x8x16xf32>
  %a = tessera.activation relu %y : tensor<1x8x16xf32>
  return %a : tensor<1x8x16xf32>
}

// A sum that is read before its norm cannot wait for it.
// EDGE-LABEL: func.func @read_before
func.func @read_before(%x: tensor<1x8x16xf32>, %r: tensor<1x8x16xf32>, %w: tensor<16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>) {
  // EDGE: kernel.group elementwise "add"
  // EDGE: kernel.group elementwise "activation"
  // EDGE: kernel.group row "rms_norm"
  %s = tessera.add %x, %r : tensor<1x8x16xf32>
  %a = tessera.activation relu %s : tensor<1x8x16xf32>
  %n = tessera.rms_norm %s, %w eps 1.0e-5 : tensor<1x8x16xf32>, tensor<16xf32>
  return %a, %n : tensor<1x8x16xf32>, tensor<1x8x16xf32>
}

// Only the gate comes from a product.
// EDGE-LABEL: func.func @gate_only
func.func @gate_only(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>, %u: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  // EDGE: kernel.group matmul "linear_swiglu"
  %g = tessera.linear %x, %w : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
  %s = tessera.swiglu %g, %u : tensor<1x8x16xf32>
  return %s : tensor<1x8x16xf32>
}
