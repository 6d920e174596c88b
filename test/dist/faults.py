"""Faults of one rank among four: every survivor names it within the limit, and nothing is left behind.

faults.py <rank program> <fault> [--store tcp|file] [--limit s] [--repeat n] [--json file] [--gpus library]

With --gpus members are on devices of the library that stands in for NVIDIA's, and collectives stay there.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

RANKS = 4
# Faults of one of several members of a process: how many ranks of how many members.
MEMBERS = {"member-stuck": (2, 2), "member-broken": (2, 2), "alone-stuck": (1, 3), "alone-broken": (1, 3)}
# Exit code of the survivors, and what each of them must say of the rank at fault ({rank}) or else.
FAULTS = {
    "kill": (4, "rank {rank} (host"),
    "exit": (4, "rank {rank} (host"),
    "stop": (4, "rank {rank} (host"),
    "slow": (4, "rank {rank} (host"),
    "close": (4, "rank {rank} (host"),
    "early": (4, "rank {rank} (host"),
    "diverge": (4, "rank {rank} (host"),
    "broken": (4, "rank {rank} (host"),
    "program": (1, "ranks run different programs"),
    "shapes": (1, "ranks run different programs"),
    "world": (1, "wrong world size"),
    "memory": (4, "rank {rank} (host"),
    "interface": (4, "rank {rank} (host"),
    "member-stuck": (4, "rank {rank} (host"),
    "member-broken": (4, "rank {rank} (host"),
    "alone-stuck": (4, "rank 0 (host"),
    "alone-broken": (1, ""),
}
# The rank at fault ends as it likes.
ITS_OWN = ["kill", "exit", "close", "early", "broken", "memory", "interface", "member-broken", "alone-broken"]
# Faults in the middle of steps: survivors leave a file of their last collectives.
RECORDED = [fault for fault in FAULTS if fault not in ("program", "shapes", "world", "memory", "interface", "alone-broken")]
# A store in files needs no connection that could be closed.
NOT_WITH_FILES = ["close"]
# The collective that they wait in, with its source line, belongs to it (DIST-13; early: DIST-01).
WHERE = "(model.cpp:"
MUST_SAY = {
    "stop": ["stopped responding", WHERE],
    "slow": ["is slow or stuck", WHERE],
    "early": ["left early", WHERE],
    "kill": [WHERE],
    "exit": [WHERE],
    "close": [WHERE],
    "diverge": ["logits", WHERE],
    "broken": ["failed: model.cpp:30"],
    "memory": ["cannot run step, broken: ", "out of memory"],
    "interface": ["cannot open the communicator of group 'data': "],
    "member-stuck": ["), cpu:1 is slow or stuck", WHERE],
    "member-broken": [", cpu:1) failed: model.cpp:30"],
    "alone-stuck": ["), cpu:2 is slow or stuck", WHERE, "did not come back"],
    "alone-broken": [", cpu:2): model.cpp:30"],
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def recording_problems(folder, rank, text):
    """What is wrong with the file that the flight recorder left."""
    path = f"{folder}/rank{rank}.json"
    if path not in text:
        return [f"rank {rank} does not name {path}"]
    with open(path) as file:
        recorded = json.load(file)
    last = [communicator["operations"][-1] for communicator in recorded["communicators"] if communicator["operations"]]
    if recorded["about"]["rank"] != rank or not any(operation["state"] != "done" for operation in last):
        return [f"{path} shows nothing that rank {rank} was in: {recorded['about']} {last}"]
    return []


def run_once(program, fault, store, limit, slack, guilty, gpus):
    folder = tempfile.mkdtemp(prefix="dlc-faults-")
    count, members = MEMBERS.get(fault, (RANKS, 1))
    guilty %= count
    base = dict(os.environ, WORLD_SIZE=str(count), DLC_TIMEOUT=str(limit), DLC_THREADS="1")
    base.update(DLC_DEVICES=f"cpu:{members}", DLC_FLIGHT_RECORDER=folder)
    base["DLC_COMM"] = os.environ.get("DLC_COMM", "nccl" if gpus else "gloo")
    if gpus:
        base.update(DLC_DEVICES=f"cuda:{members}", DLC_GPU_LIBRARY=gpus, DLCFAKE_DEVICES=str(count * members))
    if store == "tcp":
        base.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    else:
        base.update(MASTER_ADDR="file://" + folder + "/store", MASTER_PORT="1")
    ranks = []
    started = time.monotonic()
    for rank in range(count):
        variables = dict(base, RANK=str(rank), LOCAL_RANK=str(rank))
        if fault == "world" and rank == guilty:
            variables["WORLD_SIZE"] = str(count + 1)
        if fault == "interface" and rank == guilty:
            variables["DLC_IFACE"] = "none-such"
        command = [program, "1000000", fault.replace("alone", "member"), str(guilty), "3"]
        log = open(f"{folder}/{rank}", "w+")
        ranks.append((subprocess.Popen(command, env=variables, stdout=log, stderr=log), log))
    code, says = FAULTS[fault]
    problems, texts, waits, seconds = [], [], [], 0
    try:
        for rank, (process, log) in enumerate(ranks):
            if rank == guilty and fault in ("stop", "slow"):
                continue
            try:
                got = process.wait(timeout=3 * limit + 10)
            except subprocess.TimeoutExpired:
                problems.append(f"rank {rank} hangs")
                continue
            seconds = max(seconds, time.monotonic() - started)
            log.seek(0)
            text = log.read()
            waited = re.search(r"^waited ([0-9.]+) s", text, re.MULTILINE)
            waits.append(float(waited[1]) if waited else 0)
            texts.append(f"rank {rank} ended with {got}: {text}")
            if rank == guilty and fault in ITS_OWN and count > 1:
                continue
            if got != code:
                problems.append(f"rank {rank} ended with {got}, expected {code}")
            if fault in RECORDED:
                problems += recording_problems(folder, rank, text)
            for part in [says.format(rank=guilty)] + MUST_SAY.get(fault, []):
                if gpus: # numbered over the host's
                    part = re.sub(r", cpu:(\d)", lambda found: f", cuda:{guilty * members + int(found[1])}", part)
                if part not in text:
                    problems.append(f"rank {rank} does not say '{part}'")
        if max(waits) > limit + slack:
            problems.append(f"a survivor waited {max(waits)} s, limit {limit} s")
    finally:
        for process, log in ranks:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            log.close()
        shutil.rmtree(folder, ignore_errors=True)
    if problems:
        print("\n".join(problems + texts))
    return {"fault": fault, "store": store, "rank": guilty, "waited": max(waits), "seconds": round(seconds, 2), "good": not problems}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("faults", help="separated by commas, or all")
    arguments.add_argument("--store", default="tcp", choices=["tcp", "file"])
    arguments.add_argument("--limit", type=float, default=4)
    arguments.add_argument("--slack", type=float, default=0, help="seconds above the limit, for busy machines")
    arguments.add_argument("--repeat", type=int, default=1)
    arguments.add_argument("--rank", type=int, default=None)
    arguments.add_argument("--json")
    arguments.add_argument("--gpus", type=os.path.abspath)
    options = arguments.parse_args()
    faults = list(FAULTS) if options.faults == "all" else options.faults.split(",")
    if options.store == "file":
        faults = [fault for fault in faults if fault not in NOT_WITH_FILES]
    results = []
    for fault in faults:
        for turn in range(options.repeat):
            guilty = options.rank if options.rank is not None else (turn + 1) % RANKS
            results.append(run_once(options.program, fault, options.store, options.limit, options.slack, guilty, options.gpus))
            print(results[-1], flush=True)
    if options.json:
        with open(options.json, "w") as file:
            command = "ctest --preset release -C slow -R faults.all"
            summary = {"command": command, "limit": options.limit, "ranks": RANKS, "bad": sum(not each["good"] for each in results),
                       "longest_wait": max(each["waited"] for each in results)}
            file.write(json.dumps(summary)[:-1] + ',\n "runs": [\n  ')
            file.write(",\n  ".join(map(json.dumps, results)) + "\n ]}\n")
    return 0 if all(result["good"] for result in results) else 1


sys.exit(main())
