#!/usr/bin/env python3
"""precision.py <folder of the built examples>: whether training in 16 bits ends where training in f32 does.

Runs examples/amp (SimpleCNN), resnet20 and gpt as a user would, in f32, bf16 and fp16, each pair of runs from the same seed, and
judges the mean difference to f32 over the seeds: at most 0.5 points of test accuracy, or 0.02 nats of validation loss. The file
is written after each run, and runs that are in it already are not repeated.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

PRECISIONS = {"f32": "off", "bf16": "bf16", "fp16": "fp16"}  # and the word for --amp


@dataclasses.dataclass(frozen=True)
class Net:
    arguments: tuple
    result: str  # a pattern; what it finds last, times `factor`, is the value in `unit`
    unit: str
    factor: float
    bound: float
    digits: int


NETS = {
    "amp": Net(("--epochs", "20"), r"test accuracy ([\d.]+)", "points of test accuracy", 100, 0.5, 2),
    "resnet20": Net(("--epochs", "10"), r"test accuracy ([\d.]+)", "points of test accuracy", 100, 0.5, 2),
    "gpt": Net(("--steps", "300", "--characters", "0"), r"validation loss ([\d.]+)", "nats of validation loss", 1, 0.02, 5),
}


def command(net, precision, seed):
    return [net, *NETS[net].arguments, "--amp", PRECISIONS[precision], "--seed", str(seed)]


def train(folder, words):
    """The value that a run ends with, and its seconds."""
    net = NETS[words[0]]
    start = time.monotonic()
    run = subprocess.run([folder / words[0], *words[1:]], capture_output=True, text=True)
    found = re.findall(net.result, run.stdout)
    if run.returncode or not found:
        raise RuntimeError(f"{' '.join(words)}: exit code {run.returncode}: {run.stderr[-500:]}")
    return round(float(found[-1]) * net.factor, net.digits), round(time.monotonic() - start, 1)


def judged(net, runs):
    """Values by seed, and what pairs of them differ by."""
    values = {precision: {run["seed"]: run["value"] for run in runs if run["net"] == net and run["precision"] == precision}
              for precision in PRECISIONS}
    summary = {"unit": NETS[net].unit, "bound": NETS[net].bound, "values": values, "differences": {}}
    for precision in list(PRECISIONS)[1:]:
        pairs = [round(value - values["f32"][seed], NETS[net].digits) for seed, value in sorted(values[precision].items())
                 if seed in values["f32"]]
        if len(pairs) > 1:
            mean = statistics.mean(pairs)
            summary["differences"][precision] = {
                "pairs": pairs, "mean": round(mean, NETS[net].digits + 1),
                "deviation": round(statistics.stdev(pairs), NETS[net].digits + 1), "within": abs(mean) <= NETS[net].bound}
    return summary


def write(path, runs):
    """One run a line."""
    runs = sorted(runs, key=lambda run: (list(NETS).index(run["net"]), run["seed"], list(PRECISIONS).index(run["precision"])))
    nets = {net: judged(net, runs) for net in NETS if any(run["net"] == net for run in runs)}
    lines = [f'  {json.dumps(net)}: {json.dumps(summary)}' for net, summary in nets.items()]
    text = ('{"command": "test/bench/precision.py build/release/bin", "nets": {\n'
            + ",\n".join(lines) + '},\n "runs": [\n' + ",\n".join("  " + json.dumps(run) for run in runs) + "]}\n")
    path.write_text(text)
    return nets


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of the programs amp, resnet20 and gpt")
    parser.add_argument("--seeds", type=int, default=5, help="0 to this number less 1 (default 5)")
    parser.add_argument("--nets", nargs="+", choices=list(NETS), default=list(NETS))
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side (default 1; the threads of each: DLC_THREADS)")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results/precision.json",
                        help="default: %(default)s")
    return parser.parse_args()


def main():
    options = parse()
    runs = json.loads(options.json.read_text())["runs"] if options.json.exists() else []
    known = {run["command"] for run in runs}
    wanted = [(net, precision, seed) for seed in range(options.seeds) for net in options.nets for precision in PRECISIONS
              if " ".join(command(net, precision, seed)) not in known]
    print(f"{len(wanted)} runs, {len(known)} known", flush=True)
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(train, options.folder, command(*each)): each for each in wanted}
        for done, job in enumerate(as_completed(jobs), 1):
            net, precision, seed = jobs[job]
            value, seconds = job.result()
            runs.append({"net": net, "precision": precision, "seed": seed, "value": value,
                         "command": " ".join(command(net, precision, seed))})
            write(options.json, runs)
            left = (time.monotonic() - start) / done * (len(wanted) - done)
            print(f"[{done}/{len(wanted)}] {net} {precision} seed {seed}: {value} {NETS[net].unit}, {seconds:.0f} s; "
                  f"{left / 60:.0f} min left", flush=True)
    good = True
    for net, summary in write(options.json, runs).items():
        for precision, difference in summary["differences"].items():
            good &= difference["within"]
            print(f"{net} {precision}: {difference['mean']:+} (deviation {difference['deviation']}) {summary['unit']}, "
                  f"{'within' if difference['within'] else 'BEYOND'} {summary['bound']}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
