// What is decided can be read as remarks.
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=4" --tessera-partition --tessera-fuse --tessera-select-tiles --remarks-filter="plan|fuse|tile" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: 2 key-value heads, each on 2 ranks: the tensor axis is split into tp = 2 and tpr = 2
// CHECK-DAG: the residual stream is split over the sequence along tp
// CHECK-DAG: 2 ops become one matmul kernel: linear_swiglu
// CHECK-DAG: 2 ops become one row kernel: add_rms_norm
// CHECK-DAG: attention: #kernel.attention_config<block_q
