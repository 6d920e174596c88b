#!/usr/bin/env python3
"""examples/ddp on one rank and on two: the same batches, so the same losses within rounding."""
import os
import re
import subprocess
import sys
import tempfile


def run(program, ranks, folder):
    done = subprocess.run([os.path.abspath(program), str(ranks), "4"], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{ranks} ranks: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    lines = re.findall(r"^epoch \d+  loss (\S+)  test accuracy (\S+)$", done.stdout, re.MULTILINE)
    return [(float(loss), float(accuracy)) for loss, accuracy in lines]


with tempfile.TemporaryDirectory() as folder:
    alone, together = (run(sys.argv[1], ranks, folder) for ranks in (1, 2))
if len(alone) != 4 or len(together) != 4:
    sys.exit(f"expected 4 epochs each, got {alone} and {together}")
for (loss, accuracy), (loss2, accuracy2) in zip(alone, together):
    if abs(loss - loss2) > 1e-4 * loss or abs(accuracy - accuracy2) > 0.01:
        sys.exit(f"one rank {alone}, two ranks {together}")
if alone[-1][1] < 0.9:
    sys.exit(f"nothing was learnt: {alone}")
