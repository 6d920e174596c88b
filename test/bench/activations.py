#!/usr/bin/env python3
"""activations.py <dlc-bench> [<file>]: bytes of intermediate values at the peak of a GPT's training step (4 layers, 128 wide, 16 pieces of
128 characters); under 16-bit autocast at most 60 % of those of f32. Writes what it found to the file, as JSON."""
import json
import pathlib
import subprocess
import sys

found = json.loads(subprocess.run([sys.argv[1], "gpt_activations"], check=True, capture_output=True, text=True).stdout)
result = {"bytes": {dtype: found[dtype] for dtype in ("f32", "bf16", "f16")}}
result["of_f32"] = {dtype: round(found[dtype] / found["f32"], 4) for dtype in ("bf16", "f16")}
text = json.dumps(result, indent=2)
print(text)
if len(sys.argv) > 2:
    pathlib.Path(sys.argv[2]).write_text(text + "\n")
assert all(share <= 0.6 for share in result["of_f32"].values()), "expected at most 60 % of f32's bytes"
