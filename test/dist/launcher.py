"""What the launcher's tests share: how to start it, and what must not be left of it."""
import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

DLC, RANK = map(os.path.abspath, sys.argv[1:3])


def environment(**variables):
    """This one, without what a launcher or a user may have set."""
    mine = {name: value for name, value in os.environ.items()
            if not name.startswith(("DLC_", "MASTER_", "OMPI_", "SLURM_", "PMI"))}
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMP_NUM_THREADS"):
        mine.pop(name, None)
    return {**mine, **variables}


def listening():
    """TCP ports of this host that somebody listens on."""
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as lines:
            for line in list(lines)[1:]:
                words = line.split()
                if words[3] == "0A":
                    ports.add(int(words[1].split(":")[1], 16))
    return ports


class LaunchTest(unittest.TestCase):
    """Each test marks its processes by a variable, and none may be left."""

    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.started = []

    def tearDown(self):
        limit = time.monotonic() + 5
        while self.marked() and time.monotonic() < limit:
            time.sleep(0.02)
        left = self.marked()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.communicate()
        self.assertEqual(left, [], "processes are left")

    def marked(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    variables = file.read()
            except OSError:
                continue
            if self.mark.encode() in variables:
                found.append(int(pid))
        return found

    def start(self, *arguments, env=None, program=None, **options):
        """Starts the launcher with these arguments; `program` is the rank program's, or a whole command."""
        command = [DLC, "launch", *map(str, arguments)]
        if program is not None:
            command += program if isinstance(program, list) else [RANK, *program.split()]
        variables = environment(DLC_TEST_MARK=self.mark, **(env or {}))
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen(command, env=variables, text=True, **pipes)
        self.started.append(process)
        return process

    def run_launcher(self, *arguments, limit=60, **options):
        """Returns exit code, standard output, standard error."""
        process = self.start(*arguments, **options)
        output, errors = process.communicate(timeout=limit)
        return process.returncode, output, errors

    def wait_for_lines(self, process, count, part=""):
        """Reads that many lines with `part`, and returns them all."""
        lines = []
        while sum(part in line for line in lines) < count:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", f"ended after {lines}")
            lines.append(line.rstrip("\n"))
        return lines


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
