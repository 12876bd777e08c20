#!/usr/bin/env python3
"""Writes one rank's program whose activations go `ways` through the mesh.

Each way takes the replicated activations apart and together again, so all
programs compute the same: `none`, `exchange` (slice, all-to-all, all-gather),
`scatter` (reduce-scatter, all-gather) on dimensions that are not leading.
"""
import sys

X = "tensor<2x16x8xf32>"
STEPS = {
    "none": f"%y = kernel.transpose %x rows 1 cols 1 : {X} -> {X}",
    "exchange": f"""
    %a = tessera.slice %x over ["tp"] dim 1 ranks 2 : {X} -> tensor<2x8x8xf32>
    %b = tessera.all_to_all %a over ["tp"] split 2 concat 1 ranks 2 : tensor<2x8x8xf32> -> tensor<2x16x4xf32>
    %y = tessera.all_gather %b over ["tp"] dim 2 ranks 2 : tensor<2x16x4xf32> -> {X}""",
    # Both ranks hold x, so the sum is 2 x; the embedding is halved for it.
    "scatter": f"""
    %a = tessera.slice %x over ["tp"] dim 2 ranks 2 : {X} -> tensor<2x16x4xf32>
    %b = tessera.all_gather %a over ["tp"] dim 2 ranks 2 : tensor<2x16x4xf32> -> {X}
    %c = tessera.reduce_scatter %b over ["tp"] dim 1 ranks 2 : {X} -> tensor<2x8x8xf32>
    %d = tessera.all_gather %c over ["tp"] dim 1 ranks 2 : tensor<2x8x8xf32> -> {X}
    %n = tessera.get_parameter @norm : tensor<8xf32>
    %y = tessera.rms_norm %d, %n eps 0.0 : {X}, tensor<8xf32>""",
    "norm": f"""
    %n = tessera.get_parameter @norm : tensor<8xf32>
    %y = tessera.rms_norm %x, %n eps 0.0 : {X}, tensor<8xf32>""",
}

print(f"""module attributes {{tessera.mesh = #tessera.mesh<"tp" = 2>, tessera.model = {{vocab = 32}}}} {{
  tessera.parameter @embed : tensor<32x8xf32> checkpoint #tessera.checkpoint<"embed"> {{init_std = 1.0 : f64}}
  tessera.parameter @norm : tensor<8xf32> checkpoint #tessera.checkpoint<"norm"> {{init_mean = 1.0 : f64}}
  func.func @forward(%tokens: tensor<2x16xi32>, %labels: tensor<2x16xi32>) -> (tensor<2x16xf32>, tensor<f32>) {{
    %t = tessera.get_parameter @embed : tensor<32x8xf32>
    %x = tessera.embedding %tokens, %t : tensor<2x16xi32>, tensor<32x8xf32> -> {X}
    {STEPS[sys.argv[1]]}
    %l = tessera.linear %y, %t : {X}, tensor<32x8xf32> -> tensor<2x16x32xf32>
    %nll = tessera.cross_entropy %l, %labels vocab 32 : tensor<2x16x32xf32>, tensor<2x16xi32> -> tensor<2x16xf32>
    %s = tessera.token_sum %nll, %labels : tensor<2x16xf32>, tensor<2x16xi32> -> tensor<2xf32>
    %loss = tessera.token_mean %s : tensor<2xf32> -> tensor<f32>
    return %nll, %loss : tensor<2x16xf32>, tensor<f32>
  }}
}}""")
