#!/usr/bin/env python3
"""The examples for clusters, on this host: what their ranks are told is a whole contract, by which they meet."""
import os
import random
import re
import socket
import subprocess
import tempfile

from launcher import RANK, LaunchTest, environment, main

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/cluster")

# Starts its command as the tasks of one step, as far as ranks can see.
SRUN = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
for task in 0 1 2 3; do
  SLURM_PROCID=$task SLURM_LOCALID=$((task % 2)) SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=127.0.0.1 SLURM_STEP_ID=0 "$@" &
done
wait
"""


class Cluster(LaunchTest):
    def reserve(self, ports):
        """A port that nobody listens on, kept from others as nobody is given one that is bound."""
        for port in ports:
            bound = socket.socket()
            self.addCleanup(bound.close)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                bound.bind(("127.0.0.1", port))
            except OSError:
                continue
            return bound.getsockname()[1]
        self.fail("no free port")

    def test_slurm(self):
        first = 20000  # of the ports that jobs get
        port = self.reserve(random.sample(range(first, first + 12000), 50))
        with tempfile.TemporaryDirectory() as folder:
            srun = os.path.join(folder, "srun")
            with open(srun, "w") as file:
                file.write(SRUN)
            os.chmod(srun, 0o755)
            os.mkdir(os.path.join(folder, "submitted"))
            variables = environment(PATH=folder + os.pathsep + os.environ["PATH"], DLC_TEST_MARK=self.mark,
                                    SLURM_JOB_ID=str(port - first), SLURM_JOB_NODELIST="127.0.0.1", SLURM_PROCID="0",
                                    SLURM_NTASKS="4", SLURM_CPUS_PER_TASK="1", SLURM_SUBMIT_DIR=os.path.join(folder, "submitted"))
            ran = subprocess.run(["bash", os.path.join(EXAMPLES, "train.sbatch"), RANK], env=variables, capture_output=True,
                                 text=True, timeout=60)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertEqual([line.split(" pid")[0] for line in ran.stdout.splitlines()], 4 * ["sum 10"])
            self.assertEqual({line.split()[-1] for line in ran.stdout.splitlines()}, {str(port)})
            self.assertEqual(os.listdir(os.path.join(folder, "submitted")), [])  # the secret

    def test_kubernetes(self):
        with open(os.path.join(EXAMPLES, "train.yaml")) as file:
            manifest = file.read()
        told = dict(re.findall(r'- \{name: (\w+), value: "?([^"}]+)"?\}', manifest))
        number = int(told["WORLD_SIZE"])
        for name in ("completions", "parallelism"):
            self.assertEqual(int(re.search(rf"\n  {name}: (\d+)", manifest).group(1)), number)
        service, job = re.findall(r"\nmetadata:\n  name: (\S+)", manifest)
        self.assertIn(f"\n    job-name: {job}\n", manifest)
        self.assertIn(f"\n      subdomain: {service} ", manifest)
        self.assertEqual(told["MASTER_ADDR"], f"{job}-0.{service}")
        self.assertIn("- name: DLC_SECRET\n", manifest)
        told.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(self.reserve([0])), DLC_SECRET="secret", DLC_TEST_MARK=self.mark)
        pods = [subprocess.Popen([RANK], env=environment(**told, JOB_COMPLETION_INDEX=str(index)), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for index in range(number)]
        self.started += pods
        for pod in pods:
            output, errors = pod.communicate(timeout=60)
            self.assertEqual((pod.returncode, errors, output.split(" pid")[0]), (0, "", "sum 10"))


if __name__ == "__main__":
    main()
