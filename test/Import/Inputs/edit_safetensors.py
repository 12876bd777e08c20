"""Copies a model folder with one change to its safetensors file.

    edit_safetensors.py IN OUT drop NAME | add NAME | strip PREFIX | truncate BYTES
                              | replace OLD NEW | shape NAME D0,D1 | dtype NAME TYPE | shard

Standard library only. `add` adds a tensor of one F32 zero, `shape` and `dtype`
change the header alone (to a shape or type of as many bytes), `shard` splits
the file in two with an index.
"""
import json
import pathlib
import shutil
import struct
import sys


def read(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    data = raw[8 + size :]
    return {name: (info["dtype"], info["shape"], data[slice(*info["data_offsets"])])
            for name, info in header.items()}


def write(path, tensors):
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t[2] for t in tensors.values()))


source, out, action, *arguments = sys.argv[1:]
out = pathlib.Path(out)
if out.exists():
    shutil.rmtree(out)
shutil.copytree(source, out)
(out / "reference.safetensors").unlink()
path = out / "model.safetensors"
tensors = read(path)
if action == "drop":
    del tensors[arguments[0]]
elif action == "add":
    tensors[arguments[0]] = ("F32", [1], bytes(4))
elif action == "strip":
    tensors = {name.removeprefix(arguments[0]): value for name, value in tensors.items()}
elif action == "replace":
    tensors = {name.replace(*arguments): value for name, value in tensors.items()}
elif action == "shape":
    dtype, _, data = tensors[arguments[0]]
    tensors[arguments[0]] = (dtype, [int(d) for d in arguments[1].split(",")], data)
elif action == "dtype":
    _, shape, data = tensors[arguments[0]]
    tensors[arguments[0]] = (arguments[1], shape, data)
if action == "shard":
    names = sorted(tensors)
    index = {}
    for i, part in enumerate((names[::2], names[1::2])):
        file = f"model-{i + 1:05}-of-00002.safetensors"
        write(out / file, {name: tensors[name] for name in part})
        index.update({name: file for name in part})
    (out / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    path.unlink()
elif action == "truncate":
    path.write_bytes(path.read_bytes()[: -int(arguments[0])])
else:
    write(path, tensors)
