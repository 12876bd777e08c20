// Roles are found in the graph; the same file serves several meshes.
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" | FileCheck %s --check-prefix=LLAMA
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=4" | FileCheck %s --check-prefix=KV
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2 sequence-parallel=off" | FileCheck %s --check-prefix=NOSP
// RUN: tessera-opt %S/Inputs/gpt2.mlir --tessera-plan-layout="mesh=tp=4" | FileCheck %s --check-prefix=GPT2

// LLAMA: module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2>
// Embedding and output head over the vocabulary, norms replicated.
// LLAMA: @embed {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @n1 {{.*}} sharding <[{}]>
// LLAMA: @wq {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @wk {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @wv {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @wo {{.*}} sharding <[{}, {"tp"}]>
// LLAMA: @wg {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @wu {{.*}} sharding <[{"tp"}, {}]>
// LLAMA: @wd {{.*}} sharding <[{}, {"tp"}]>
// LLAMA: func.func private @block(%{{.*}}: tensor<2x16x64xf32> {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>})
// LLAMA: tessera.rms_norm {{.*}} {tessera.sharding = #tessera.sharding<[{"dp"}, {}, {}]>}
// LLAMA: tessera.attention
// LLAMA-NEXT: tessera.get_parameter @wo
// LLAMA-NEXT: tessera.linear {{.*}} {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>}
// LLAMA: func.func @forward(%{{.*}}: tensor<2x16xi32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>}, %{{.*}}: tensor<2x16xi32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>})
// LLAMA: tessera.embedding {{.*}} {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>}

// Two key-value heads on four ranks: the axis is split in two.
// KV: module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2, "tpr" = 2>
// KV: @wq {{.*}} sharding <[{"tp", "tpr"}, {}]>
// KV: @wk {{.*}} sharding <[{"tp"}, {}]>
// KV: @wv {{.*}} sharding <[{"tp"}, {}]>
// KV: @wo {{.*}} sharding <[{}, {"tp", "tpr"}]>

// Without sequence parallelism every rank holds the whole stream.
// NOSP: func.func private @block(%{{.*}}: tensor<2x16x64xf32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}, {}]>})
// NOSP-NOT: {"dp"}, {"tp"}

// Weights stored [in, out]; biases follow their linear.
// GPT2: @wte {{.*}} sharding <[{"tp"}, {}]>
// GPT2: @wpe {{.*}} sharding <[{}, {}]>
// GPT2: @wq {{.*}} sharding <[{}, {"tp"}]>
// GPT2: @bq {{.*}} sharding <[{"tp"}]>
// GPT2: @wo {{.*}} sharding <[{"tp"}, {}]>
// GPT2: @bo {{.*}} sharding <[{}]>
// GPT2: @wi {{.*}} sharding <[{}, {"tp"}]>
// GPT2: @bi {{.*}} sharding <[{"tp"}]>
// GPT2: @wp {{.*}} sharding <[{"tp"}, {}]>
// GPT2: @bp {{.*}} sharding <[{}]>
