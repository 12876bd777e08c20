// A decoder of GPT-2's shape: learned positions, layer norms, biases, GELU, weights stored [in, out].
module attributes {tessera.model = {architecture = "GPT2LMHeadModel", vocab = 256 : i64}} {
  tessera.parameter @wte : tensor<256x64xbf16> checkpoint #tessera.checkpoint<"wte.weight"> {padded}
  tessera.parameter @wpe : tensor<32x64xbf16> checkpoint #tessera.checkpoint<"wpe.weight">
  tessera.parameter @g1 : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.ln_1.weight"> layers first 0 count 2
  tessera.parameter @b1 : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.ln_1.bias"> layers first 0 count 2
  tessera.parameter @wq : tensor<64x64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.weight" view [64, 3, 64] dim 1 index 0> layers first 0 count 2
  tessera.parameter @wk : tensor<64x64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.weight" view [64, 3, 64] dim 1 index 1> layers first 0 count 2
  tessera.parameter @wv : tensor<64x64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.weight" view [64, 3, 64] dim 1 index 2> layers first 0 count 2
  tessera.parameter @bq : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.bias" view [3, 64] dim 0 index 0> layers first 0 count 2
  tessera.parameter @bk : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.bias" view [3, 64] dim 0 index 1> layers first 0 count 2
  tessera.parameter @bv : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_attn.bias" view [3, 64] dim 0 index 2> layers first 0 count 2
  tessera.parameter @wo : tensor<64x64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_proj.weight"> layers first 0 count 2
  tessera.parameter @bo : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.attn.c_proj.bias"> layers first 0 count 2
  tessera.parameter @g2 : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.ln_2.weight"> layers first 0 count 2
  tessera.parameter @b2 : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.ln_2.bias"> layers first 0 count 2
  tessera.parameter @wi : tensor<64x256xbf16> checkpoint #tessera.checkpoint<"h.{layer}.mlp.c_fc.weight"> layers first 0 count 2
  tessera.parameter @bi : tensor<256xbf16> checkpoint #tessera.checkpoint<"h.{layer}.mlp.c_fc.bias"> layers first 0 count 2
  tessera.parameter @wp : tensor<256x64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.mlp.c_proj.weight"> layers first 0 count 2
  tessera.parameter @bp : tensor<64xbf16> checkpoint #tessera.checkpoint<"h.{layer}.mlp.c_proj.bias"> layers first 0 count 2
  func.func private @block(%x: tensor<2x16x64xbf16>) -> tensor<2x16x64xbf16> {
    %g1 = tessera.get_parameter @g1 : tensor<64xbf16>
    %b1 = tessera.get_parameter @b1 : tensor<64xbf16>
    %h = tessera.layer_norm %x, %g1 bias %b1 : tensor<64xbf16> eps 1.0e-5 : tensor<2x16x64xbf16>, tensor<64xbf16>
    %wq = tessera.get_parameter @wq : tensor<64x64xbf16>
    %wk = tessera.get_parameter @wk : tensor<64x64xbf16>
    %wv = tessera.get_parameter @wv : tensor<64x64xbf16>
    %bq = tessera.get_parameter @bq : tensor<64xbf16>
    %bk = tessera.get_parameter @bk : tensor<64xbf16>
    %bv = tessera.get_parameter @bv : tensor<64xbf16>
    %q0 = tessera.linear %h, %wq {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x64xbf16>, tensor<64x64xbf16> -> tensor<2x16x64xbf16>
    %k0 = tessera.linear %h, %wk {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x64xbf16>, tensor<64x64xbf16> -> tensor<2x16x64xbf16>
    %v0 = tessera.linear %h, %wv {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x64xbf16>, tensor<64x64xbf16> -> tensor<2x16x64xbf16>
    %q = tessera.add_bias %q0, %bq : tensor<2x16x64xbf16>, tensor<64xbf16>
    %k = tessera.add_bias %k0, %bk : tensor<2x16x64xbf16>, tensor<64xbf16>
    %v = tessera.add_bias %v0, %bv : tensor<2x16x64xbf16>, tensor<64xbf16>
    %a = tessera.attention %q, %k, %v head_dim 16 scale 0.25 causal : tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16> -> tensor<2x16x64xbf16>
    %wo = tessera.get_parameter @wo : tensor<64x64xbf16>
    %bo = tessera.get_parameter @bo : tensor<64xbf16>
    %o0 = tessera.linear %a, %wo {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x64xbf16>, tensor<64x64xbf16> -> tensor<2x16x64xbf16>
    %o = tessera.add_bias %o0, %bo : tensor<2x16x64xbf16>, tensor<64xbf16>
    %r = tessera.add %x, %o : tensor<2x16x64xbf16>
    %g2 = tessera.get_parameter @g2 : tensor<64xbf16>
    %b2 = tessera.get_parameter @b2 : tensor<64xbf16>
    %m = tessera.layer_norm %r, %g2 bias %b2 : tensor<64xbf16> eps 1.0e-5 : tensor<2x16x64xbf16>, tensor<64xbf16>
    %wi = tessera.get_parameter @wi : tensor<64x256xbf16>
    %bi = tessera.get_parameter @bi : tensor<256xbf16>
    %i0 = tessera.linear %m, %wi {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x64xbf16>, tensor<64x256xbf16> -> tensor<2x16x256xbf16>
    %i1 = tessera.add_bias %i0, %bi : tensor<2x16x256xbf16>, tensor<256xbf16>
    %i = tessera.activation gelu_tanh %i1 : tensor<2x16x256xbf16>
    %wp = tessera.get_parameter @wp : tensor<256x64xbf16>
    %bp = tessera.get_parameter @bp : tensor<64xbf16>
    %p0 = tessera.linear %i, %wp {weight_layout = #tessera<weight_layout in_out>} : tensor<2x16x256xbf16>, tensor<256x64xbf16> -> tensor<2x16x64xbf16>
    %p = tessera.add_bias %p0, %bp : tensor<2x16x64xbf16>, tensor<64xbf16>
    %y = tessera.add %r, %p : tensor<2x16x64xbf16>
    return %y : tensor<2x16x64xbf16>
  }
  func.func @forward(%tokens: tensor<2x16xi32>, %labels: tensor<2x16xi32>) -> (tensor<2x16xf32>, tensor<f32>) {
    %we = tessera.get_parameter @wte : tensor<256x64xbf16>
    %wp = tessera.get_parameter @wpe : tensor<32x64xbf16>
    %e = tessera.embedding %tokens, %we : tensor<2x16xi32>, tensor<256x64xbf16> -> tensor<2x16x64xbf16>
    %ep = tessera.add_positions %e, %wp : tensor<2x16x64xbf16>, tensor<32x64xbf16>
    %x = tessera.layers @block(%ep) first 0 count 2 : tensor<2x16x64xbf16> -> tensor<2x16x64xbf16>
    %logits = tessera.linear %x, %we : tensor<2x16x64xbf16>, tensor<256x64xbf16> -> tensor<2x16x256xf32>
    %nll = tessera.cross_entropy %logits, %labels vocab 256 : tensor<2x16x256xf32>, tensor<2x16xi32> -> tensor<2x16xf32>
    %sum = tessera.token_sum %nll, %labels : tensor<2x16xf32>, tensor<2x16xi32> -> tensor<2xf32>
    %loss = tessera.token_mean %sum : tensor<2xf32> -> tensor<f32>
    return %nll, %loss : tensor<2x16xf32>, tensor<f32>
  }
}
