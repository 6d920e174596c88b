#!/usr/bin/env python3
"""remat.py <dlc> [--rounds N] [--output FILE]: a training step of a GPT (4 layers, 128 wide, 16 rows of 128 characters) with and without a
budget of half its activation bytes: bytes, estimated and measured time on one thread (runs in turn), and whether state and loss after 5
steps are the same bytes. One JSON object."""
import argparse
import json
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROWS, LENGTH, WIDTH, HEADS, LAYERS, CHARACTERS = 16, 128, 128, 4, 4, 96


class Module:
    """Text of an entry that computes the loss."""

    def __init__(self):
        self.variables, self.reads, self.ops = [], [], []

    def parameter(self, name, *shape, init="#dl.normal<0.0, 0.02>"):
        self.variables.append(f"dl.variable @{name} : {self.tensor(shape)} role(parameter) init({init})")
        value = "%" + name.replace(".", "_")
        self.reads.append(f"{value} = dl.read @{name} : {self.tensor(shape)}")
        return value

    @staticmethod
    def tensor(shape, element="f32"):
        return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"

    def add(self, text):
        value = f"%v{len(self.ops)}"
        self.ops.append(f"{value} = {text}")
        return value

    def linear(self, name, x, shape, out):
        weight = self.parameter(f"{name}.weight", out, shape[-1])
        bias = self.parameter(f"{name}.bias", out, init="#dl.zeros")
        full, last = self.tensor(shape[:-1] + (out,)), len(shape) - 1
        y = self.add(f"dl.dot_general {x}, {weight} batch [] x [] contract [{last}] x [1] : "
                     f"({self.tensor(shape)}, {self.tensor((out, shape[-1]))}) -> {full}")
        rows = self.add(f"dl.broadcast {bias} dims [{last}] : ({self.tensor((out,))}) -> {full}")
        return self.add(f"dl.add {y}, {rows} : {full}")

    def norm(self, name, x, shape):
        weight = self.parameter(f"{name}.weight", shape[-1], init="#dl.constant<1.0>")
        bias = self.parameter(f"{name}.bias", shape[-1], init="#dl.zeros")
        one, full = self.tensor(shape[-1:]), self.tensor(shape)
        return self.add(f"dl.layer_norm {x} weight {weight} bias {bias} axis 2 eps 1.0e-05 : ({full}, {one}, {one}) -> {full}")

    def heads(self, x, part):
        shape = (ROWS, LENGTH, WIDTH)
        split = (ROWS, LENGTH, HEADS, WIDTH // HEADS)
        y = self.add(f"dl.slice {x} starts [0, 0, {part * WIDTH}] limits [{ROWS}, {LENGTH}, {(part + 1) * WIDTH}] strides [1, 1, 1] : "
                     f"({self.tensor((ROWS, LENGTH, 3 * WIDTH))}) -> {self.tensor(shape)}")
        y = self.add(f"dl.reshape {y} : ({self.tensor(shape)}) -> {self.tensor(split)}")
        return self.swap(y, split)

    def swap(self, x, shape):
        swapped = (shape[0], shape[2], shape[1], shape[3])
        return self.add(f"dl.transpose {x} permutation [0, 2, 1, 3] : ({self.tensor(shape)}) -> {self.tensor(swapped)}")

    def attention(self, name, x, shape):
        qkv = self.linear(f"{name}.in", x, shape, 3 * WIDTH)
        parts = [self.heads(qkv, part) for part in range(3)]
        whole = (ROWS, HEADS, LENGTH, WIDTH // HEADS)
        one, rows = self.tensor(whole), self.tensor(whole[:-1])
        self.ops.append(f"%a{len(self.ops)}:2 = dl.attention {', '.join(parts)} causal scale {(WIDTH // HEADS) ** -0.5!r} : "
                        f"({one}, {one}, {one}) -> ({one}, {rows})")
        y = self.swap(f"%a{len(self.ops) - 1}#0", whole)
        y = self.add(f"dl.reshape {y} : ({self.tensor((ROWS, LENGTH, HEADS, WIDTH // HEADS))}) -> {self.tensor(shape)}")
        return self.linear(f"{name}.out", y, shape, WIDTH)

    def text(self):
        shape, indices = (ROWS, LENGTH, WIDTH), self.tensor((ROWS, LENGTH), "i64")
        full = self.tensor(shape)
        token, position = self.parameter("token", CHARACTERS, WIDTH), self.parameter("position", LENGTH, WIDTH)
        x = self.add(f"dl.gather {token}, %x axis 0 : ({self.tensor((CHARACTERS, WIDTH))}, {indices}) -> {full}")
        rows = self.add(f"dl.broadcast {position} dims [1, 2] : ({self.tensor((LENGTH, WIDTH))}) -> {full}")
        x = self.add(f"dl.add {x}, {rows} : {full}")
        for layer in range(LAYERS):
            y = self.attention(f"l{layer}.attention", self.norm(f"l{layer}.norm1", x, shape), shape)
            x = self.add(f"dl.add {x}, {y} : {full}")
            wide = (ROWS, LENGTH, 4 * WIDTH)
            y = self.linear(f"l{layer}.fc1", self.norm(f"l{layer}.norm2", x, shape), shape, 4 * WIDTH)
            y = self.linear(f"l{layer}.fc2", self.add(f"dl.gelu {y} : {self.tensor(wide)}"), wide, WIDTH)
            x = self.add(f"dl.add {x}, {y} : {full}")
        y = self.linear("head", self.norm("norm", x, shape), shape, CHARACTERS)
        flat, scores = self.tensor((ROWS * LENGTH,), "i64"), self.tensor((ROWS * LENGTH, CHARACTERS))
        y = self.add(f"dl.reshape {y} : ({self.tensor((ROWS, LENGTH, CHARACTERS))}) -> {scores}")
        target = self.add(f"dl.reshape %y : ({indices}) -> {flat}")
        loss = self.add(f"dl.cross_entropy {y}, {target} : ({scores}, {flat}) -> tensor<f32>")
        body = "\n".join("  " + line for line in self.reads + self.ops)
        return "\n".join(self.variables) + f"""
func.func @step(%x: {indices}, %y: {indices}) -> (tensor<f32> {{dl.name = "loss"}}) attributes {{dl.entry}} {{
{body}
  return {loss} : tensor<f32>
}}
"""


def write_characters(path, seed):
    values = [(seed + 7 * i + i * i % 11) % CHARACTERS for i in range(ROWS * LENGTH)]
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({ROWS}, {LENGTH}), }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}q", *values))


class Bench:
    def __init__(self, dlc, folder):
        self.dlc, self.folder = dlc, folder
        (folder / "gpt.mlir").write_text(Module().text())
        for seed, name in enumerate("xy"):
            write_characters(folder / f"{name}.npy", seed)

    def call(self, *arguments):
        return subprocess.run([self.dlc, *map(str, arguments)], check=True, capture_output=True, text=True, cwd=self.folder).stdout

    def compile(self, name, *options):
        """Bytes of activations, and estimated milliseconds of what runs again."""
        self.call("compile", "gpt.mlir", "--train=adamw", *options, "-o", f"{name}.so")
        text = self.call("inspect", f"{name}.so")
        again = [float(each) * int(times or 1) for each, times in re.findall(r"about ([\d.]+) ms(?:, (\d+) times)?", text)]
        return int(re.search(r"activation +(\d+)", text)[1]), sum(again)

    def run(self, name, steps, *options):
        start = time.perf_counter()
        self.call("run", f"{name}.so", "--threads=1", "--input", "x.npy", "--input", "y.npy", f"--steps={steps}", *options)
        return time.perf_counter() - start

    def bits(self, name, steps):
        self.run(name, steps, "--output", f"loss={name}.npy", "--save-state", f"{name}.safetensors")
        return (self.folder / f"{name}.npy").read_bytes(), (self.folder / f"{name}.safetensors").read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dlc", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5, help="of timing; 0: none")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.5, help="of the activation bytes")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.dlc.resolve(), pathlib.Path(folder))
        plain, _ = bench.compile("plain")
        less, estimated = bench.compile("less", "--activation-budget", int(plain * options.share))
        same = all(bench.bits("plain", steps) == bench.bits("less", steps) for steps in (1, 2, 3, 4, 5))
        times, ratios = {"plain": [], "less": []}, []
        for _ in range(options.rounds):
            for name, list_ in times.items():
                short, long = bench.run(name, 1), bench.run(name, 1 + options.steps)
                list_.append((long - short) / options.steps)
            ratios.append(times["less"][-1] / times["plain"][-1])
        result = {"name": "rematerialization of a GPT", "load": os.getloadavg()[0], "activation_bytes": plain,
                  "activation_bytes_less": less, "share": less / plain, "same_bits_over_5_steps": same,
                  "estimated_ms_more": round(estimated, 2)}
        if ratios:
            result |= {"step_seconds": statistics.median(times["plain"]), "step_seconds_less": statistics.median(times["less"]),
                       "ratio": statistics.median(ratios), "ratios": ratios}
    text = json.dumps(result, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    if not same or less > plain * options.share:
        sys.exit("expected the same bits within the budget")


main()
