#!/usr/bin/env python3
"""digits.py <digits program> <digits.csv.gz> <folder>: runs the quickstart and judges it by the files it leaves.

The accuracy is computed again, here, from the saved predictions and the data file; the program's own word counts for nothing."""
import gzip
import json
import pathlib
import re
import resource
import struct
import subprocess
import sys
import xml.etree.ElementTree


def read_npy(path):
    """A one-dimensional int64 .npy file as a list."""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", "not .npy 1.0"
    size = struct.unpack("<H", content[8:10])[0]
    header = content[10:10 + size].decode()
    count = int(re.fullmatch(r"\{'descr': '<i8', 'fortran_order': False, 'shape': \((\d+),\), \} *\n", header).group(1))
    assert len(content) == 10 + size + 8 * count, "size differs from the header"
    return list(struct.unpack(f"<{count}q", content[10 + size:]))


def tensors(path):
    """Shapes of a safetensors file's tensors by name."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    return {name: tuple(entry["shape"]) for name, entry in header.items() if name != "__metadata__"}


def test_labels(data):
    labels = [int(line.split(",")[-1]) for line in gzip.open(data, "rt")]
    assert len(labels) == 1797
    return [label for i, label in enumerate(labels) if i % 5 == 4]


def main():
    program, data, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    output = subprocess.run([program, "--data", data, "--output", str(folder)], check=True, capture_output=True, text=True).stdout
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(output)

    predictions, labels = read_npy(folder / "predictions.npy"), test_labels(data)
    assert len(predictions) == len(labels) == 359
    accuracy = sum(found == label for found, label in zip(predictions, labels)) / 359
    assert accuracy >= 0.975, f"accuracy {accuracy:.4f}, expected at least 0.975"
    assert output.splitlines()[-1] == f"test accuracy {accuracy:.4f}", "the last line says something else"
    assert "\r" not in output and "\033" not in output, "control characters although the output is no terminal"

    shapes = tensors(folder / "checkpoint.safetensors")
    assert shapes["conv1.weight"] == (32, 1, 3, 3) and shapes["conv2.weight"] == (64, 32, 3, 3)
    assert shapes["fc.weight"] == (10, 256) and shapes["opt.momentum_buffer.fc.weight"] == (10, 256)
    svg = xml.etree.ElementTree.parse(folder / "loss.svg").getroot()
    assert len(svg.findall(".//{*}polyline")) == 2
    assert (folder / "digits.so").read_bytes()[:4] == b"\x7fELF"
    print(f"accuracy {accuracy:.4f} in {seconds:.1f} s of processor time")
    # A minute on two processors; not wall time, which other work on the machine stretches.
    assert seconds <= 120, f"{seconds:.0f} s of processor time, expected at most 120"


main()
