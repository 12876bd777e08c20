"""Prints a model of N + 1 blocks, each of which calls the next one twice."""
import sys

T = "tensor<2x8x4xf32>"
count = int(sys.argv[1])
print("module attributes {tessera.model = {vocab = 8 : i64}} {")
for i in range(count):
    print(f"""func.func private @b{i}(%x: {T}) -> {T} {{
  %0 = tessera.layers @b{i + 1}(%x) first 0 count 2 : {T} -> {T}
  %1 = tessera.layers @b{i + 1}(%0) first 0 count 2 : {T} -> {T}
  return %1 : {T}
}}""")
print(f"""func.func private @b{count}(%x: {T}) -> {T} {{
  %0 = tessera.add %x, %x : {T}
  return %0 : {T}
}}
func.func @forward(%tokens: {T}) -> {T} {{
  %0 = tessera.layers @b0(%tokens) first 0 count 1 : {T} -> {T}
  return %0 : {T}
}}
}}""")
