#!/usr/bin/env python3
"""Nets over epochs whose last batch is short, on every engine and number of members: under DLC_INVARIANT=data:8 losses and state
have the bits of one rank, without it losses are PyTorch's by the golden rule (test/golden). Also jobs that go on in the middle
of an epoch on another number of ranks.

matrix.py <dlc> <rank_workload> [--engines …] [--members …] [--steps n] [--json file]

The engine nccl has members on devices of --gpus, the library that stands in for NVIDIA's, in one process and in one each; there
sums are NCCL's, so that nothing has the bits of one rank.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from state import read_state

NETS = ["mlp", "cnn", "transformer"]
LEAVES = 8
SMALL_BUCKET = 0.002  # megabytes: a few gradients each
# Whose loss is divided by no power of two: micro-batches are divided before they are added, so only the state has the same bits.
ROUNDED_ELSEWHERE = ["mlp"]
LIMIT = 1800  # seconds a job


@dataclasses.dataclass(frozen=True)
class Job:
    engine: str
    ranks: int
    devices: int  # members of each rank
    invariant: bool
    bucket_mb: float  # 0: as the compiler cuts
    micros: tuple
    nets: tuple
    resume: int = 0  # ranks that go on, 0: one job from beginning to end

    @property
    def members(self):
        return self.ranks * self.devices

    def __str__(self):
        text = f"{self.engine} {self.ranks}x{self.devices}" + (f" -> {self.resume}x{self.devices}" if self.resume else "")
        return text + (" invariant" if self.invariant else "") + (f" bucket {self.bucket_mb} MB" if self.bucket_mb else "")


def launch(options, job, ranks, folder, stop=0):
    """Nothing, or what went wrong."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("DLC_", "OMPI_", "PMI"))}
    variables.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", DLC_THREADS="1", OMP_NUM_THREADS="1",
                     DLC_CACHE=options.cache)  # each program is compiled once for all
    command = [options.dlc, "launch", "-n", str(ranks), f"--devices=cpu:{job.devices}", "--timeout=300"]
    if job.engine == "inprocess":
        variables["DLC_COMM"] = "inprocess"
    elif job.engine == "nccl":
        variables.update(DLC_GPU_LIBRARY=options.gpus, DLCFAKE_DEVICES=str(ranks * job.devices), DLC_COMM="nccl")
        command[4] = f"--devices=cuda:{job.devices}"
    else:
        command.append(f"--comm={job.engine}")
    if job.invariant:
        variables["DLC_INVARIANT"] = f"data:{LEAVES}"
    if job.bucket_mb:
        variables["DLC_BUCKET_MB"] = str(job.bucket_mb)
    command += [options.program, folder, str(options.steps)] + (["--stop", str(stop)] if stop else [])
    command += [f"{net}:{micro}" for net in job.nets for micro in job.micros]
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"longer than {LIMIT} s"
    return "" if done.returncode == 0 else f"exit code {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}"


def results(options, job, folder, net, micro):
    """Losses and state of a run, of both jobs where a second one went on."""
    first = folder / f"{net}-{micro}-0.safetensors"
    state = read_state(first)
    losses = state.pop("losses").values()
    if job.resume:
        state = read_state(folder / f"{net}-{micro}-{stop_of(options)}.safetensors")
        losses += state.pop("losses").values()
    return losses, state


def stop_of(options):
    return options.steps * 47 // 100  # in the middle of an epoch of each net


def outside_rule(losses, golden, net):
    """Where losses leave PyTorch's curve."""
    single, exact = golden[f"{net}.loss_f32"].values(), golden[f"{net}.loss_f64"].values()
    spread = 0
    for step, loss in enumerate(losses):
        spread = max(spread, abs(single[step] - exact[step]))
        bound = max(1e-5 * abs(single[step]), 4 * spread)
        if not abs(loss - single[step]) <= bound:
            return f"step {step}: loss {loss}, PyTorch's {single[step]}, at most {bound:.1e} apart"
    return ""


def other_bits(losses, state, reference, with_losses):
    step = next((i for i, (one, other) in enumerate(zip(losses, reference[0])) if one != other), None)
    if with_losses and step is not None:
        return f"step {step}: loss {losses[step].hex()}, one rank's {reference[0][step].hex()}"
    differing = [name for name in reference[1] if state.get(name) != reference[1][name]]
    return f"other bits in {', '.join(differing)}" if differing or state.keys() != reference[1].keys() else ""


def has_same_losses(net, micro):
    return micro == 1 or net not in ROUNDED_ELSEWHERE


def outcome_of(job, net, micro):
    if not job.invariant:
        return "golden rule"
    return "same bits" if has_same_losses(net, micro) else "same bits of the state"


def judge(options, job, folder, net, micro, known):
    """Nothing, or what is wrong with a run."""
    losses, state = results(options, job, folder, net, micro)
    if len(losses) != options.steps:
        return f"{len(losses)} losses of {options.steps}"
    wrong = outside_rule(losses, known["golden"], net)
    if job.invariant and not wrong:
        wrong = other_bits(losses, state, known["one"].setdefault(net, (losses, state)), has_same_losses(net, micro))
    return wrong


def run(options, job, known):
    """A cell for each net and number of micro-batches."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failure = launch(options, job, job.ranks, name, stop_of(options) if job.resume else 0)
        if job.resume and not failure:
            failure = launch(options, job, job.resume, name)
        cells = []
        for net in job.nets:
            for micro in job.micros:
                try:
                    wrong = judge(options, job, folder, net, micro, known)
                except FileNotFoundError:
                    wrong = failure or "no result"
                cells.append({"engine": job.engine, "ranks": job.ranks, "devices": job.devices, "resumed_on": job.resume,
                              "net": net, "micro": micro, "bucket_mb": job.bucket_mb, "invariant": job.invariant,
                              "outcome": wrong or outcome_of(job, net, micro), "good": not wrong and not failure})
        if failure:
            cells[-1]["outcome"] = failure
    return cells


def jobs_of(options):
    """The reference of the same bits is first."""
    nets = tuple(options.nets)
    jobs = [Job("inprocess", 1, 1, True, 0, (1,), nets)] if options.engines != ["nccl"] else []

    def add(engine, ranks, devices, members):
        micros = tuple(micro for micro in options.micro if micro * members <= LEAVES)
        for bucket in options.buckets:
            some = micros if not bucket else micros[:2]
            if engine != "nccl":
                jobs.append(Job(engine, ranks, devices, True, bucket, some, nets))
            jobs.append(Job(engine, ranks, devices, False, bucket, some, nets))

    for engine in options.engines:
        for members in options.members:
            add(engine, *((1, members) if engine == "inprocess" else (members, 1)), members)
            if engine == "nccl" and members > 1:
                add(engine, 1, members, members)
        if engine in ("shm", "gloo") and options.mixed:  # MPI's members have a process each
            add(engine, 2, 2, 4)
        if engine != "inprocess":
            for first, second in options.resume:
                modes = (False,) if engine == "nccl" else (True, False)
                jobs += [Job(engine, first, 1, invariant, 0, (1,), nets, second) for invariant in modes]
    return jobs


def progress(done, all_jobs, text, bad):
    width = 30
    bar = "#" * (width * done // all_jobs) + "-" * (width - width * done // all_jobs)
    line = f"[{bar}] {done}/{all_jobs} jobs, {bad} cells failed  {text}"
    print(f"\r\033[K{line}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


def numbers(text):
    return [int(part) for part in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dlc", type=os.path.abspath)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["inprocess", "shm", "gloo", "mpi"])
    parser.add_argument("--members", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--nets", type=lambda text: text.split(","), default=NETS)
    parser.add_argument("--micro", type=numbers, default=[1, 2, 4, 8], help="numbers of micro-batches")
    parser.add_argument("--buckets", type=lambda text: [float(part) for part in text.split(",")], default=[0, SMALL_BUCKET],
                        help="megabytes, 0: as the compiler cuts")
    parser.add_argument("--resume", type=lambda text: [numbers(pair.replace("-", ",")) for pair in text.split(",") if pair],
                        default=[[4, 2], [2, 4], [1, 4]], help="ranks before and after, as 4-2,2-4")
    parser.add_argument("--mixed", action=argparse.BooleanOptionalAction, default=True, help="two ranks of two members too")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--cache", help="a folder for compiled programs; one of this run's own if not given")
    parser.add_argument("--json")
    parser.add_argument("--gpus", type=os.path.abspath)
    return parser.parse_args()


def main():
    options = arguments()
    if "mpi" in options.engines and not shutil.which("mpirun"):
        print("without mpi: there is no mpirun on the PATH")
        options.engines.remove("mpi")
    golden = pathlib.Path(__file__).parents[1] / "golden/epochs.safetensors"
    kept = tempfile.TemporaryDirectory()
    options.cache = options.cache or kept.name
    known, cells = {"golden": read_state(golden), "one": {}}, []
    jobs = jobs_of(options)
    for done, job in enumerate(jobs):
        progress(done, len(jobs), str(job), sum(not cell["good"] for cell in cells))
        cells += run(options, job, known)
        for cell in cells[-len(job.nets) * len(job.micros):]:
            if not cell["good"]:
                print(f"\n{job}, {cell['net']}, {cell['micro']} micro-batches: {cell['outcome']}", flush=True)
    bad = sum(not cell["good"] for cell in cells)
    progress(len(jobs), len(jobs), "", bad)
    print(f"\n{len(cells) - bad} of {len(cells)} cells are right")
    if options.json:
        lines = ",\n  ".join(json.dumps(cell) for cell in cells)
        command = "ctest --preset release -C slow -R ranks.matrix.slow"
        with open(options.json, "w") as file:
            file.write(f'{{\n "command": "{command}", "steps": {options.steps}, "right": {len(cells) - bad}, "cells": [\n  {lines}\n ]\n}}\n')
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
