"""Training on several ranks ends with the state of one process: curve.py <dlc> <module> <ranks> [<devices of each> [<library>]].

With a library that stands in for NVIDIA's, members are on its devices and NCCL moves gradients there.
"""

import os
import subprocess
import sys
import tempfile

from curve_inputs import write_inputs
from state import read_state


def main(dlc, module, ranks, devices="1", gpus=None):
    ranks, devices = int(ranks), int(devices)
    folder = tempfile.TemporaryDirectory()
    path = folder.name
    command = [dlc, "compile", module, "--train=adamw"]
    subprocess.run(command + ["-o", f"{path}/one.so"], check=True)
    mesh = ["--data-parallel", f"--mesh=data={ranks * devices}"]
    target = ["--target=sim"] if gpus else []
    subprocess.run(command + mesh + target + ["-o", f"{path}/members.so"], check=True)
    inputs = write_inputs(dlc, f"{path}/one.so", path)
    run = ["run", "--steps", "10", "--seed", "1"] + inputs
    subprocess.run([dlc] + run + [f"{path}/one.so", "--save-state", f"{path}/one.state"], check=True)
    kind, variables = "cpu", dict(os.environ)
    if gpus:
        variables.update(DLC_GPU_LIBRARY=gpus, DLCFAKE_DEVICES=str(ranks * devices), DLCFAKE_GRAPH="reverse", DLC_COMM="nccl")
        kind = "cuda"
    launch = [dlc, "launch", "-n", str(ranks), "--timeout", "60", f"--devices={kind}:{devices}", dlc]
    subprocess.run(launch + run + [f"{path}/members.so", "--save-state", f"{path}/members.state"], check=True, env=variables)
    one, members = read_state(f"{path}/one.state"), read_state(f"{path}/members.state")
    assert one.keys() == members.keys() and one, (one.keys(), members.keys())
    one, members = ({name: tensor.values() for name, tensor in state.items() if tensor.dtype in ("F32", "F64")} for state in (one, members))
    for name in one:
        # Sums in another order, ten times: 1e-4 of the largest value is far above f32's rounding and far below a step.
        largest = max(abs(value) for value in one[name])
        worst = max(abs(a - b) for a, b in zip(one[name], members[name]))
        assert worst <= 1e-4 * largest + 1e-7, f"{name} differs by {worst}, the largest value is {largest}"
    print(f"{len(one)} variables are equal on {ranks} ranks of {devices}")


main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
