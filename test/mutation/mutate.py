#!/usr/bin/env python3
"""Do the simulated device and its checks notice broken kernels? For each kind of kernel: the emitter's own output must give
the cpu's result in every order of threads, with and without checks; each mutant must be noticed, by an error or by a wrong
result, in one of the two modes that suffice (warp order, copies late or eager).

usage: mutate.py DLC [KIND…]"""
import concurrent.futures
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ORDERS = ["forward", "reverse", "warp", "warp-reverse", "random:1"]
COPIES = ["late", "eager"]
TOLERANCE = 2e-5  # of 1 + |value|: sums of 40,000 f32 in another order


class Failed(Exception):
    pass


# How kernels are broken: functions from text to text.

def replace_nth(text, pattern, replacement, nth):
    """Occurrence `nth` of a pattern within the kernels replaced; negative counts from the end."""
    found = list(re.finditer(pattern, text[text.index("gpu.module"):]))
    if not -len(found) <= nth < len(found):
        raise Failed(f"expects {pattern!r} {nth} times in the kernel, got {len(found)}; bring the mutants up to date")
    match, start = found[nth], text.index("gpu.module")
    return text[:start + match.start()] + match.expand(replacement) + text[start + match.end():]


def no_barrier(nth):
    return lambda text: replace_nth(text, r"gpu\.barrier", "", nth)


def loose_bound(bound):
    """One element too many is let through, at every comparison with a bound."""
    def change(text):
        changed, count = re.subn(rf"cmpi (s|u)lt, (%\S+), (%c{bound}_i\d+\w*) :", r"cmpi \1le, \2, \3 :", text)
        if not count:
            raise Failed(f"expects comparisons with {bound} in the kernel; bring the mutants up to date")
        return changed
    return change


def tight_bound(nth):
    """The last element is not let through."""
    return lambda text: replace_nth(text, r"cmpi (s|u)le", r"cmpi \1lt", nth)


def no_bound(nth):
    """Every thread is let through."""
    return lambda text: replace_nth(text, r"cmpi (slt|ult|sle), (%\S+), (%\S+) :", r"cmpi eq, \2, \2 :", nth)


def everyone(nth):
    """What one thread does, all do."""
    return lambda text: replace_nth(text, r"cmpi eq,", "cmpi uge,", nth)


def shifted_store(nth):
    """A store to global memory one element off."""
    return lambda text: replace_nth(
        text, r"llvm\.store (%\S+), (%\w+) \{[^}]*\} : (\S+), !llvm\.ptr<1>",
        r"%off = llvm.getelementptr \2[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8"
        "\n" r"llvm.store \1, %off {alignment = 4 : i64} : \3, !llvm.ptr<1>", nth)


def constant(old, new, nth=0):
    """A constant of the index arithmetic changed."""
    return lambda text: replace_nth(text, rf"arith\.constant {old} : i(32|64)", rf"arith.constant {new} : i\1", nth)


# kind: (range of integer inputs, mutants)
KINDS = {
    "pointwise": (0, {
        "no guard of the last threads": no_bound(0),
        "a vector past the last": loose_bound(1002),
        "an element past the last": loose_bound(1005),
        "writes the next element": shifted_store(0),
        "blocks overlap": constant(256, 255),
    }),
    "transpose": (0, {
        "no barrier between writing and reading the tile": no_barrier(0),
        "columns past the last": loose_bound(97),
        "rows past the last": loose_bound(70),
        "tiles overlap": constant(32, 31),
        "pitch of the tile too small": constant(33, 31),
    }),
    "warp_row": (0, {
        "lanes reduced over half the warp": constant(16, 0, 1),
        "mask of the last lanes": loose_bound(75),
        "rows overlap": constant(300, 299),
    }),
    "block_row": (0, {
        "no barrier before the maximum is read": no_barrier(0),
        "no barrier before the sum is read": no_barrier(1),
        "every lane writes the warp's maximum": everyone(0),
        "mask of the last threads": loose_bound(3001),
        "writes the next element": shifted_store(-1),
    }),
    "chunked_row": (0, {
        "no barrier in the first launch": no_barrier(0),
        "no barrier in the second launch": no_barrier(1),
        "every thread writes the part's sum": everyone(1),
        "the last part is forgotten": constant(10, 9),
        "mask of the last part": loose_bound(40003),
    }),
    "column": (0, {
        "no barrier before the parts are added": no_barrier(0),
        "every row of threads adds the parts": everyone(0),
        "no guard of the last columns": no_bound(0),
        "a row too many": constant(300, 301),
    }),
    "matmul": (0, {
        "no barrier after the first tile": no_barrier(0),
        "no barrier after the next tile": no_barrier(1),
        "rows past the last": loose_bound(70),
        "columns past the last": loose_bound(90),
        "k past the last": loose_bound(50),
        "a step of k forgotten": constant(4, 3, 2),
    }),
    "conv": (0, {
        "no barrier after the first tile": no_barrier(0),
        "no barrier after the next tile": no_barrier(1),
        "a filter too many": loose_bound(7),
        "window reaches past the last column": loose_bound(11),
        "an output too many": loose_bound(198),
        "writes the next element": shifted_store(0),
    }),
    "pool": (0, {
        "no guard of the last threads": no_bound(0),
        "window reaches past the last column": loose_bound(13),
        "writes the next element": shifted_store(0),
    }),
    "scatter": (9, {
        "no barrier before the rows are read": no_barrier(0),
        "every team takes every update": everyone(1),
        "no guard of the last columns": no_bound(0),
        "a position past the last": loose_bound(33),
        "a bit of another lane": constant(31, 30),
        "writes the next element": shifted_store(-1),
    }),
    "attention": (0, {
        "no barrier before a block of keys is overwritten": no_barrier(0),
        "no barrier before the scores": no_barrier(1),
        "no barrier before the values overwrite the keys": no_barrier(2),
        "no barrier before the values are read": no_barrier(3),
        "rows past the last": loose_bound(70),
        "the mask hides a row's own key": tight_bound(0),
        "writes the next element": shifted_store(-1),
    }),
}


def run(arguments, environment=None):
    result = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if result.returncode:
        raise Failed(result.stderr.strip() or f"exit code {result.returncode}")
    return result.stdout


def write_npy(path, shape, kind, values):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({''.join(f'{d}, ' for d in shape)}), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    code = {"f4": "f", "i8": "q"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])


def differs(found, expected):
    return any(not abs(a - b) <= TOLERANCE * (1 + abs(b)) for a, b in zip(found, expected))


class Kind:
    """A module with inputs, its result on the cpu, and the text of its kernels."""

    def __init__(self, dlc, folder, name):
        self.dlc, self.folder, self.name = dlc, folder, name
        module = f"{HERE}/kernels/{name}.mlir"
        cpu = self.compile(module, "cpu", "--target=cpu")
        self.inputs = self.write_inputs(run([dlc, "inspect", cpu]), KINDS[name][0])
        self.expected = self.result(cpu)
        run([dlc, "compile", module, "--target=sim", "--emit=gpu", "-o", self.path("gpu")])
        with open(self.path("gpu")) as file:
            self.text = file.read()

    def path(self, suffix):
        return f"{self.folder}/{self.name}.{suffix}"

    def compile(self, module, tag, *options):
        run([self.dlc, "compile", module, "-o", self.path(f"{tag}.so"), *options])
        return self.path(f"{tag}.so")

    def write_inputs(self, inspected, bound):
        generator, options = random.Random(self.name), []
        for name, kind, dims in re.findall(r"(\w+): (f32|i64)\[([\d,]+)\]", inspected.split("->")[0]):
            shape = [int(d) for d in dims.split(",")]
            count = 1
            for extent in shape:
                count *= extent
            values = [generator.randrange(bound) if kind == "i64" else generator.uniform(-2, 2) for _ in range(count)]
            write_npy(self.path(f"{name}.npy"), shape, {"f32": "f4", "i64": "i8"}[kind], values)
            options += ["--input", f"{name}={self.path(f'{name}.npy')}"]
        return options

    def result(self, artifact, options=(), environment=None):
        out = artifact + ".npy"
        run([self.dlc, "run", artifact, *self.inputs, "--output", out, *options], environment)
        return read_npy(out)

    def notice(self, artifact, order, copy, check):
        """How a mode shows that the kernel is wrong, or None."""
        options = ["--device=sim:0", f"--sim-order={order}"] + (["--sim-check"] if check else [])
        try:
            found = self.result(artifact, options, {"DLC_SIM_COPY": copy})
        except Failed as error:
            return str(error)
        return "wrong result" if differs(found, self.expected) else None

    def artifacts(self, text, tag):
        with open(self.path(f"{tag}.mlir"), "w") as file:
            file.write(text)
        for check in (1, 0):
            options = ["--target=sim"] + ["--sim-check"] * check
            yield self.compile(self.path(f"{tag}.mlir"), f"{tag}.{check}", *options), check

    def check_unchanged(self):
        for artifact, check in self.artifacts(self.text, "unchanged"):
            for order in ORDERS:
                for copy in COPIES:
                    if problem := self.notice(artifact, order, copy, check):
                        return [f"BAD {self.name}: unchanged: {order}/{copy}{' checked' * check}: {problem}"]
        return []

    def check_mutant(self, number, what, change):
        try:
            text = change(self.text)
        except Failed as outdated:
            return [f"BAD {self.name}: {what}: {outdated}"]
        for artifact, check in self.artifacts(text, f"m{number}"):
            for copy in COPIES:
                if problem := self.notice(artifact, "warp", copy, check):
                    print(f"ok  {self.name}: {what}: {'checked' if check else 'run'}, {copy}: {problem}", flush=True)
                    return []
        return [f"BAD {self.name}: {what}: not noticed"]


def main():
    dlc, names = sys.argv[1], sys.argv[2:] or list(KINDS)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = []
        for kind in pool.map(lambda name: Kind(dlc, folder, name), names):
            jobs.append(pool.submit(kind.check_unchanged))
            for number, (what, change) in enumerate(KINDS[kind.name][1].items()):
                jobs.append(pool.submit(kind.check_mutant, number, what, change))
        problems = [problem for job in jobs for problem in job.result()]
    print("\n".join(problems) or f"{len(jobs)} checks of {len(names)} kinds of kernels: ok")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
