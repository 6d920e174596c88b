"""Training on several CUDA devices in graphs ends with the bits of plain launches: graphs.py <dlc> <fakegpu> <module>.

Devices are those of the library that stands in for the driver. Members exchange by the host, in one process and in two, so
that a step is a row of graphs. An entry point for graphs that fails ends the job with a message, soon.
"""

import os
import re
import subprocess
import sys
import tempfile

from curve_inputs import write_inputs

STEPS = 6
GRAPH_CALLS = ["cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphLaunch", "cuGraphDestroy"]


def main(dlc, library, module):
    folder = tempfile.TemporaryDirectory()
    path = folder.name
    program = f"{path}/members.so"
    compiled = [dlc, "compile", module, "--train=adamw", "--target=cpu,sim"]
    subprocess.run(compiled + ["-o", f"{path}/one.so"], check=True)
    subprocess.run(compiled + ["--data-parallel", "--mesh=data=2", "--bucket-mb=0.01", "-o", program], check=True)
    step = [dlc, "run", program, "--steps", str(STEPS), "--seed", "1", *write_inputs(dlc, f"{path}/one.so", path)]
    launch = [dlc, "launch", "-n", "2", "--comm=shm", "--timeout", "60", "--devices=cuda:1"]
    ways = {"one process": (step + ["--devices=cuda:2"], 1), "two processes": (launch + step, 2)}
    # Gradients by NCCL in graphs, the loss over the host meanwhile: a boundary lies between the start of the one and its wait.
    shown = subprocess.run(compiled + ["--data-parallel", "--mesh=data=2", "--bucket-mb=0.01", "--emit=rt"], check=True,
                           capture_output=True, text=True).stdout
    mixed = shown.replace("@c1 kind(all_reduce) reduce(sum)", "@c1 kind(all_reduce) reduce(max)")
    assert mixed != shown
    with open(f"{path}/mixed.mlir", "w") as file:
        file.write(mixed)
    subprocess.run([dlc, "compile", f"{path}/mixed.mlir", "--target=cpu,sim", "-o", f"{path}/mixed.so"], check=True)
    over_nccl = ["--comm=nccl" if word == "--comm=shm" else word for word in launch]
    mixed_step = [f"{path}/mixed.so" if word == program else word for word in step]
    environment = dict(os.environ, DLC_GPU_LIBRARY=library, DLCFAKE_DEVICES="2", DLCFAKE_LEAKS="1")

    def run(command, settings, state=None):
        given = command + (["--save-state", state] if state else [])
        return subprocess.run(given, env=environment | settings, timeout=120, capture_output=True, text=True)

    def check_values(way, command, processes, graphs):
        bits = {}
        for settings in [{"DLC_CUDA_GRAPHS": "0"}, {}, {"DLC_SIM_STREAM": "eager"}, {"DLCFAKE_GRAPH": "reverse"}]:
            state = f"{path}/state"
            done = run(command, settings | {"DLCFAKE_COUNT": "cuGraphLaunch"}, state)
            assert done.returncode == 0, (way, settings, done.stderr)
            launches = [int(count) for count in re.findall(r"cuGraphLaunch: (\d+) calls", done.stderr)]
            alive = re.findall(r"fakegpu: alive: (.*)", done.stderr)
            assert len(launches) == processes and len(alive) == processes, (way, settings, done.stderr)
            assert not any(re.search("[1-9]", line) for line in alive), (way, alive)
            # From the second step on; each process has as many.
            least = 0 if "DLC_CUDA_GRAPHS" in settings else graphs * (STEPS - 1) // processes
            assert all(count >= least and (count == 0) == (least == 0) for count in launches), (way, settings, launches)
            with open(state, "rb") as file:
                bits[str(settings)] = file.read()
        assert len(set(bits.values())) == 1, f"{way}: states differ among {list(bits)}"
        print(f"{way}: {launches} graphs launched")

    def check_failures(way, command, processes):
        for name in GRAPH_CALLS:
            for result in ["304", "719"] if processes == 1 else ["304"]:
                done = run(command, {"DLCFAKE_FAIL": f"{name}:2:{result}", "DLCFAKE_LEAKS": "0"})
                assert done.returncode not in (0, -11, -6), (way, name, result, done.returncode)
                # What ends a device comes back from whichever call is next, of any thread.
                said = name if result == "304" else r"\w+"
                assert re.search(rf"cuda:[01]: (.*: )?{said}: CUDA_ERROR_", done.stderr), (way, name, result, done.stderr)

    for way, (command, processes) in ways.items():
        check_values(way, command, processes, graphs=4)
        check_failures(way, command, processes)
    check_values("two processes by NCCL and the host", over_nccl + mixed_step, 2, graphs=2)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3])
