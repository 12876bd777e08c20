// A decoder of Llama's shape: 4 heads of 16, 2 key-value heads, width 64, MLP 128.
module attributes {tessera.model = {architecture = "LlamaForCausalLM", vocab = 250 : i64}} {
  tessera.parameter @embed : tensor<250x64xf32> checkpoint #tessera.checkpoint<"model.embed_tokens.weight"> {padded}
  tessera.parameter @n1 : tensor<64xf32> checkpoint #tessera.checkpoint<"l.{layer}.n1"> layers first 0 count 3
  tessera.parameter @wq : tensor<64x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.q"> layers first 0 count 3
  tessera.parameter @wk : tensor<32x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.k"> layers first 0 count 3
  tessera.parameter @wv : tensor<32x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.v"> layers first 0 count 3
  tessera.parameter @wo : tensor<64x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.o"> layers first 0 count 3
  tessera.parameter @n2 : tensor<64xf32> checkpoint #tessera.checkpoint<"l.{layer}.n2"> layers first 0 count 3
  tessera.parameter @wg : tensor<128x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.gate"> layers first 0 count 3
  tessera.parameter @wu : tensor<128x64xf32> checkpoint #tessera.checkpoint<"l.{layer}.up"> layers first 0 count 3
  tessera.parameter @wd : tensor<64x128xf32> checkpoint #tessera.checkpoint<"l.{layer}.down"> layers first 0 count 3
  tessera.parameter @nf : tensor<64xf32> checkpoint #tessera.checkpoint<"model.norm.weight">
  func.func private @block(%x: tensor<2x16x64xf32>) -> tensor<2x16x64xf32> {
    %n1 = tessera.get_parameter @n1 : tensor<64xf32>
    %h = tessera.rms_norm %x, %n1 eps 1.0e-5 : tensor<2x16x64xf32>, tensor<64xf32>
    %wq = tessera.get_parameter @wq : tensor<64x64xf32>
    %wk = tessera.get_parameter @wk : tensor<32x64xf32>
    %wv = tessera.get_parameter @wv : tensor<32x64xf32>
    %q = tessera.linear %h, %wq : tensor<2x16x64xf32>, tensor<64x64xf32> -> tensor<2x16x64xf32>
    %k = tessera.linear %h, %wk : tensor<2x16x64xf32>, tensor<32x64xf32> -> tensor<2x16x32xf32>
    %v = tessera.linear %h, %wv : tensor<2x16x64xf32>, tensor<32x64xf32> -> tensor<2x16x32xf32>
    %t = tessera.rotary_table <theta = 1.0e4 : f64, dim = 16> : tensor<16x8x2xf32>
    %qr = tessera.rotary %q, %t head_dim 16 : tensor<2x16x64xf32>, tensor<16x8x2xf32>
    %kr = tessera.rotary %k, %t head_dim 16 : tensor<2x16x32xf32>, tensor<16x8x2xf32>
    %a = tessera.attention %qr, %kr, %v head_dim 16 scale 0.25 causal : tensor<2x16x64xf32>, tensor<2x16x32xf32>, tensor<2x16x32xf32> -> tensor<2x16x64xf32>
    %wo = tessera.get_parameter @wo : tensor<64x64xf32>
    %o = tessera.linear %a, %wo : tensor<2x16x64xf32>, tensor<64x64xf32> -> tensor<2x16x64xf32>
    %r = tessera.add %x, %o : tensor<2x16x64xf32>
    %n2 = tessera.get_parameter @n2 : tensor<64xf32>
    %m = tessera.rms_norm %r, %n2 eps 1.0e-5 : tensor<2x16x64xf32>, tensor<64xf32>
    %wg = tessera.get_parameter @wg : tensor<128x64xf32>
    %wu = tessera.get_parameter @wu : tensor<128x64xf32>
    %wd = tessera.get_parameter @wd : tensor<64x128xf32>
    %g = tessera.linear %m, %wg : tensor<2x16x64xf32>, tensor<128x64xf32> -> tensor<2x16x128xf32>
    %u = tessera.linear %m, %wu : tensor<2x16x64xf32>, tensor<128x64xf32> -> tensor<2x16x128xf32>
    %s = tessera.swiglu %g, %u : tensor<2x16x128xf32>
    %d = tessera.linear %s, %wd : tensor<2x16x128xf32>, tensor<64x128xf32> -> tensor<2x16x64xf32>
    %y = tessera.add %r, %d : tensor<2x16x64xf32>
    return %y : tensor<2x16x64xf32>
  }
  func.func @forward(%tokens: tensor<2x16xi32>, %labels: tensor<2x16xi32>) -> (tensor<2x16xf32>, tensor<f32>) {
    %we = tessera.get_parameter @embed : tensor<250x64xf32>
    %e = tessera.embedding %tokens, %we : tensor<2x16xi32>, tensor<250x64xf32> -> tensor<2x16x64xf32>
    %x = tessera.layers @block(%e) first 0 count 3 : tensor<2x16x64xf32> -> tensor<2x16x64xf32>
    %nf = tessera.get_parameter @nf : tensor<64xf32>
    %h = tessera.rms_norm %x, %nf eps 1.0e-5 : tensor<2x16x64xf32>, tensor<64xf32>
    %logits = tessera.linear %h, %we : tensor<2x16x64xf32>, tensor<250x64xf32> -> tensor<2x16x250xf32>
    %nll = tessera.cross_entropy %logits, %labels vocab 250 : tensor<2x16x250xf32>, tensor<2x16xi32> -> tensor<2x16xf32>
    %sum = tessera.token_sum %nll, %labels : tensor<2x16xf32>, tensor<2x16xi32> -> tensor<2xf32>
    %loss = tessera.token_mean %sum : tensor<2xf32> -> tensor<f32>
    return %nll, %loss : tensor<2x16xf32>, tensor<f32>
  }
}
