#!/usr/bin/env python3
"""Starts and ends jobs of two ranks many times: nothing may be left of them. Writes what it counted as JSON.

launch_many.py <dlc> <rank program> <result> [<jobs>]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid

from launcher import DLC, RANK, environment, listening


def marked(mark):
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                count += mark.encode() in file.read()
        except OSError:
            pass
    return count


def shared_memory():
    """Without Open MPI's, which these ranks do not use: tests beside this one may kill some that do."""
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {f"/dev/shm/{name}" for name in names if not name.startswith("vader_segment.")}


def main():
    result_file, jobs = sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    mark = uuid.uuid4().hex
    shared = shared_memory()
    failures, ports, times = [], set(), []
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(DLC_TEST_MARK=mark, TMPDIR=folder, XDG_RUNTIME_DIR=folder, HOME=folder)
        for job in range(jobs):
            begin = time.monotonic()
            ran = subprocess.run([DLC, "launch", "-n", "2", RANK], env=variables, cwd=folder, capture_output=True, text=True,
                                 timeout=120)
            times.append(time.monotonic() - begin)
            found = re.findall(r"^\[[01]\] sum 3 pid \d+ port (\d+)$", ran.stdout, re.M)
            if ran.returncode != 0 or ran.stderr or len(found) != 2:
                failures.append({"job": job, "code": ran.returncode, "output": ran.stdout, "errors": ran.stderr})
            ports.update(map(int, found))
        files = sorted(os.listdir(folder))
    # Another program may have been given a port since: then it has an owner that is not ours, and is no leak.
    owners = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True).stdout if ports & listening() else ""
    ports_left = sorted(port for port in ports & listening() if f":{port} " not in owners or "users:" not in owners)
    result = {
        "command": "ctest --preset release -C slow -R dist.launch.many", "jobs": jobs, "failures": failures,
        "processes_left": marked(mark), "ports_used": len(ports), "ports_left": ports_left,
        "files_left": files, "shared_memory_left": sorted(shared_memory() - shared), "seconds": round(sum(times), 1),
        "slowest_seconds": round(max(times), 2),
    }
    with open(result_file, "w") as file:
        json.dump(result, file, indent=2)
    print(json.dumps({**result, "failures": len(failures)}))
    left = failures or result["processes_left"] or ports_left or files or result["shared_memory_left"]
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
