#!/usr/bin/env python3
"""gpu_check.py <build tree>: tools/gpu-check over the library that stands in for the driver: makes a bundle, runs it where there is
nothing else, then with faults, each of which costs its own part only."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
PARTS = ["device", "conformance", "ops", "speed", "models", "graphs", "end"]
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
LISTING = "#!/bin/sh\nif [ \"$1\" = --gtest_list_tests ]; then printf 'On/Conformance.\\n  First/cuda_0\\n  Second/cuda_0\\n'; exit; fi\n"


def run(bundle, *options, **variables):
    """Exit code, result by part, and output of a run in an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([bundle / "gpu-check", "--json", "found.json", *options], cwd=folder, capture_output=True, text=True,
                                env={"PATH": "/usr/bin:/bin", "TMPDIR": folder, **variables}, timeout=50)
        left = sorted(path.name for path in pathlib.Path(folder).iterdir())
        assert left == ["found.json"], left
        found = json.loads((pathlib.Path(folder) / "found.json").read_text())
    return result.returncode, {part["name"]: part for part in found["parts"]}, result.stdout + result.stderr


def states(parts):
    return [part["state"] for part in parts.values()]


def check_whole(bundle):
    code, parts, output = run(bundle)
    assert code == 0 and list(parts) == PARTS and set(states(parts)) == {"ok"}, output
    assert {row["name"] for row in parts["ops"]["rows"]} == {"add", "add.bf16", "conv", "conv.bf16", "conv.f16", "conv.library", "conv.bf16.library", "conv.f16.library"}
    assert all(row["values"]["cases"] > 0 for row in parts["ops"]["rows"])
    assert parts["conformance"]["checks"] > 30, output
    assert all(row["values"]["worst"] <= 1 and row["values"]["steps"] == 19 for row in parts["models"]["rows"]), output
    assert {"memory", "timeline", "too much memory"} <= {row["name"] for row in parts["end"]["rows"]}
    assert all("of peak" in row["values"] for row in parts["speed"]["rows"]) and parts["speed"]["checks"] >= 20, output


def check_alone(bundle):
    """Nothing comes from the build tree: neither libraries nor files."""
    for file in [*(bundle / "bin").iterdir(), *(bundle / "lib").iterdir()]:
        lines = subprocess.run(["ldd", file], capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(bundle / "lib")}).stdout
        for line in lines.splitlines():
            name, arrow, path = line.partition(" => ")
            assert not arrow or name.strip() in SYSTEM or path.startswith(str(bundle)), f"{file}: {line}"
    hidden = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {BUILD} && exec \"$0\" --json /dev/null --only conformance", bundle / "gpu-check"]
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", BUILD], capture_output=True).returncode == 0:
        result = subprocess.run(hidden, cwd=bundle, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


def check_no_device(bundle):
    code, parts, output = run(bundle, DLCFAKE_DEVICES="0")
    assert code == 77 and states(parts) == ["no device"], output


def check_failing_calls(bundle):
    code, parts, output = run(bundle, "--only", "conformance,ops", DLCFAKE_FAIL="cuMemAlloc:2")
    assert code == 1 and states(parts) == ["failed", "failed"], output
    assert 0 < parts["ops"]["failed"] < parts["ops"]["checks"] and "cuMemAlloc" in output, output


def check_early_ends(bundle):
    """A part that crashes, and one that hangs."""
    suite = bundle / "bin/conformance_tests"
    whole = suite.read_bytes()
    hang = "echo '[ RUN      ]'; exec sleep 100\n"
    for script, state, said in [("kill -SEGV $PPID\n", "crashed", "signal 11"), (hang, "failed", "nothing happened for 1 s")]:
        suite.write_text(LISTING + script)
        code, parts, output = run(bundle, "--only", "conformance,ops", "--silence", "1")
        assert code == 1 and states(parts) == [state, "ok"] and said in output, output
    suite.write_text(LISTING + "while :; do echo '[ RUN      ]'; sleep 1; done\n")
    code, parts, output = run(bundle, "--only", "conformance,ops", "--limit", "conformance=2")
    assert code == 1 and states(parts) == ["time over", "ok"], output
    suite.write_bytes(whole)


def check_wrong_value(bundle):
    """Another expectation is seen."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(bundle / "programs.tar.xz") as archive:
            archive.extractall(folder)
        file = pathlib.Path(folder) / "ops/add.safetensors"
        content = bytearray(file.read_bytes())
        content[8 + int.from_bytes(content[:8], "little") + 7] ^= 1  # sign, exponent or highest byte of the first f64 or i64
        file.write_bytes(content)
        with tarfile.open(bundle / "programs.tar.xz", "w:xz", preset=0) as archive:
            archive.add(folder, arcname=".")
    code, parts, output = run(bundle, "--only", "ops")
    assert code == 1 and parts["ops"]["failed"] == 1 and "add" in output, output


def main():
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder).resolve() / "bundle"
        subprocess.run([ROOT / "tools/gpu-check", "--fake", "--ops", "add,conv", "--no-build", "--build", BUILD, "--bundle", bundle], check=True)
        for check in [check_whole, check_alone, check_no_device, check_failing_calls, check_early_ends, check_wrong_value]:
            check(bundle)
            print(check.__name__, "ok")


main()
