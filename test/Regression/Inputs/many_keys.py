"""Files of frameworks with a hundred thousand keys besides those of the layout."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
keys = range(100000)
yaml = "parallelism:\n  dp: 2\n  tp: 1\n  pp: 1\n"
(folder / "many.yaml").write_text(yaml + "".join(f"key_{i}: {i}\n" for i in keys))
toml = "[training]\nseq_len = 4096\n[parallelism]\ndata_parallel_shard_degree = 2\n[more]\n"
(folder / "many.toml").write_text(toml + "".join(f"key_{i} = {i}\n" for i in keys))
(folder / "many.sh").write_text("--micro-batch-size 1\n" + "".join(f"--key-{i} {i}\n" for i in keys))
