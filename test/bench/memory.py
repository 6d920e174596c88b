#!/usr/bin/env python3
"""memory.py <dlc-bench>: 10,000 steps gain at most 1 MiB; a step's anonymous memory stays near its planned peak."""
import json
import subprocess
import sys

MIB = 1 << 20


def run(*arguments):
    return json.loads(subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True).stdout)


gained = run("growth")["gained"]
cnn = run("cnn", "0")
print(f"10,000 steps gained {gained / MIB:.2f} MiB")
print(f"SimpleCNN: anonymous {cnn['anonymous'] / MIB:.1f} MiB, planned peak {cnn['planned_peak'] / MIB:.1f} MiB")
assert gained <= MIB, "expected at most 1 MiB"
# 60 MiB: the compiler's own memory, code, stacks and the input.
assert cnn["anonymous"] <= cnn["planned_peak"] + 60 * MIB, "expected at most the planned peak and 60 MiB"
