// RUN: tessera-opt %S/../Transforms/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" --tessera-partition --tessera-print-counts -o /dev/null | FileCheck %s
// RUN: tessera-opt %S/../Transforms/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" --tessera-partition --tessera-fuse --tessera-print-counts -o /dev/null | FileCheck %s --check-prefix=FUSED
// RUN: tessera-opt %S/../Transforms/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" --tessera-partition --tessera-print-counts=json -o /dev/null \
// RUN:   | %python -c "import json, sys; d = json.load(sys.stdin); print(sum(c['bytes_moved'] for c in d['collectives']))" | FileCheck %s --check-prefix=MOVED

// By hand, for one rank of four: 16 tokens, 2 heads of 16, 1 key-value head,
// MLP width 64, 125 rows of vocabulary, 3 layers. Products, two operations per
// multiply-add:
//   q 2*16*64*32, k and v 2*16*64*16 each, o 2*16*32*64,
//   gate and up 2*16*64*64 each, down 2*16*64*64: 589824 a layer;
//   attention: 16*17/2 visible pairs, 4*136*16 a head: 17408 a layer;
//   logits 2*16*64*125 = 256000;   3 * (589824 + 17408) + 256000
// CHECK: matrix operations 2077696
// FUSED: matrix operations 2077696
// Parameters: 125*64 + 7 norms of 64 + 3 * (32*64 + 2*16*64 + 64*32 + 3*64*64), times 4
// CHECK: parameter bytes 254976
// Per layer two all-gathers and two reduce-scatters of 8 tokens times 64, one
// more all-gather before the logits and one more reduce-scatter after the
// embedding; the statistics of 16 tokens; two numbers over the batch. Bytes are
// those of the whole tensor of both ranks.
// CHECK: collective all_gather over tp, f32 x 48: 1 call, 384 bytes
// CHECK-NEXT: collective all_gather over tp, f32 x 512: 7 calls, 28672 bytes
// CHECK-NEXT: collective all_reduce over dp, f32 x 2: 1 call, 8 bytes
// CHECK-NEXT: collective reduce_scatter over tp, f32 x 512: 7 calls, 28672 bytes
// CHECK: op tessera.attention: 3
// FUSED: collective all_gather over tp, f32 x 512: 7 calls, 28672 bytes
// FUSED-NOT: op tessera.linear
// FUSED: op kernel.group: 46
// A rank of two receives what the other sends: 192 + 14336 + 8 + 14336.
// MOVED: 28872
