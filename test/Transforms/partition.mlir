// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" --tessera-partition --tessera-verify-partition | FileCheck %s --check-prefix=SP
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2 sequence-parallel=off" --tessera-partition --tessera-verify-partition | FileCheck %s --check-prefix=TP
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=4" --tessera-partition --tessera-verify-partition | FileCheck %s --check-prefix=KV
// RUN: tessera-opt %S/Inputs/gpt2.mlir --tessera-plan-layout="mesh=tp=2" --tessera-partition --tessera-verify-partition | FileCheck %s --check-prefix=GPT2
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=1,tp=1" --tessera-partition --tessera-verify-partition | FileCheck %s --check-prefix=ONE

// Sequence parallelism: one all-gather before and one reduce-scatter after
// each half of the block, and nothing else.
// SP-LABEL: func.func private @block
// SP-SAME: (%[[X:.*]]: tensor<1x8x64xf32> {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>}) -> (tensor<1x8x64xf32> {tessera.sharding
// SP: %[[N:.*]] = tessera.rms_norm %[[X]]
// SP-NEXT: %[[G:.*]] = tessera.all_gather %[[N]] over ["tp"] dim 1 ranks 2 : tensor<1x8x64xf32> -> tensor<1x16x64xf32>
// SP: tessera.linear %[[G]], %{{.*}} -> tensor<1x16x32xf32>
// SP: tessera.linear %[[G]], %{{.*}} -> tensor<1x16x16xf32>
// SP: tessera.linear %[[G]], %{{.*}} -> tensor<1x16x16xf32>
// SP: tessera.attention {{.*}} -> tensor<1x16x32xf32>
// SP: %[[O:.*]] = tessera.linear {{.*}} -> tensor<1x16x64xf32>
// SP-NEXT: %[[S:.*]] = tessera.reduce_scatter %[[O]] over ["tp"] dim 1 ranks 2
// SP-NEXT: %[[R:.*]] = tessera.add %[[X]], %[[S]]
// SP: tessera.rms_norm %[[R]]
// SP-NEXT: tessera.all_gather
// SP-NOT: all_
// SP: tessera.swiglu
// SP-NEXT: tessera.linear
// SP-NEXT: %[[D:.*]] = tessera.reduce_scatter
// SP-NEXT: tessera.add %[[R]], %[[D]]
// SP-NEXT: return

// The logits are never gathered: three numbers a token and rank are.
// SP-LABEL: func.func @forward
// SP: %[[OFF:.*]] = tessera.shard_offset ["tp"] size 125
// SP-NEXT: tessera.embedding {{.*}} offset %[[OFF]] : tensor<1x16xi32>, tensor<125x64xf32>
// SP-NEXT: tessera.reduce_scatter
// SP-NEXT: tessera.layers @block
// SP: tessera.cross_entropy_stats {{.*}} vocab 250 : tensor<1x16x125xf32>, tensor<1x16xi32> -> tensor<1x16x3xf32>
// SP-NEXT: tessera.all_gather {{.*}} dim 2 ranks 2 : tensor<1x16x3xf32> -> tensor<1x16x6xf32>
// SP-NEXT: tessera.cross_entropy_combine
// SP-NEXT: tessera.token_sum
// SP-NEXT: tessera.all_reduce {{.*}} over ["dp"]
// SP-NEXT: tessera.token_mean

// TP-LABEL: func.func private @block
// TP-SAME: tensor<1x16x64xf32>
// TP-NOT: tessera.all_gather
// TP: tessera.attention
// TP: tessera.linear
// TP-NEXT: tessera.all_reduce {{.*}} over ["tp"]
// TP-NOT: all_
// TP: tessera.swiglu
// TP-NEXT: tessera.linear
// TP-NEXT: tessera.all_reduce {{.*}} over ["tp"]

// Each rank has one query head and shares one key-value head with its pair.
// KV-LABEL: func.func private @block
// KV: tessera.all_gather {{.*}} over ["tp", "tpr"] dim 1 ranks 4
// KV: tessera.get_parameter @wq : tensor<16x64xf32>
// KV: tessera.get_parameter @wk : tensor<16x64xf32>
// KV: tessera.attention {{.*}} tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<2x16x16xf32> -> tensor<2x16x16xf32>
// KV: tessera.reduce_scatter {{.*}} over ["tp", "tpr"] dim 1 ranks 4
// A vocabulary of 250 on four ranks is padded to 63 rows each.
// KV-LABEL: func.func @forward
// KV: tessera.get_parameter @embed : tensor<63x64xf32>
// KV: tessera.linear {{.*}} -> tensor<2x16x63xf32>

// A row-parallel bias is added after the reduction, once.
// GPT2-LABEL: func.func private @block
// GPT2: tessera.get_parameter @bq : tensor<32xbf16>
// GPT2: tessera.attention
// GPT2: tessera.linear
// GPT2-NEXT: %[[S:.*]] = tessera.reduce_scatter
// GPT2-NEXT: tessera.add_bias %[[S]], %{{.*}} : tensor<2x8x64xbf16>, tensor<64xbf16>
// GPT2-LABEL: func.func @forward
// GPT2: %[[P:.*]] = tessera.shard_offset ["tp"] size 8
// GPT2-NEXT: tessera.add_positions {{.*}} offset %[[P]]

// ONE-NOT: tessera.all_
// ONE-NOT: tessera.reduce_scatter
// ONE-NOT: tessera.shard_offset
// ONE: tessera.cross_entropy
