#!/usr/bin/env python3
"""dlc launch: what ranks are told, and wrong usage."""
import os
import tempfile

from launcher import LaunchTest, environment, main

SHOW = ["sh", "-c", "env"]


def shown(output, rank=None):
    """Variables by the lines of `env`, of one rank."""
    prefix = "" if rank is None else f"[{rank}] "
    pairs = (line[len(prefix):].split("=", 1) for line in output.splitlines() if line.startswith(prefix))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


class Arguments(LaunchTest):
    def test_ranks_know_their_place(self):
        code, output, errors = self.run_launcher("-n", 3, program=SHOW)
        self.assertEqual((code, errors), (0, ""))
        secrets, ports = set(), set()
        for rank in range(3):
            variables = shown(output, rank)
            for name, value in {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3",
                                "MASTER_ADDR": "127.0.0.1", "DLC_STORE": "external", "DLC_GENERATION": "0",
                                "DLC_TIMEOUT": "300"}.items():
                self.assertEqual(variables[name], value)
            secrets.add(variables["DLC_SECRET"])
            ports.add(variables["MASTER_PORT"])
        self.assertEqual((len(secrets), len(ports)), (1, 1))
        self.assertGreaterEqual(len(secrets.pop()), 32)

    def test_each_job_has_its_own_secret(self):
        jobs = [shown(self.run_launcher("-n", 1, "--no-prefix", program=SHOW)[1])["DLC_SECRET"] for _ in range(2)]
        self.assertNotEqual(*jobs)

    def test_processors_are_shared_out(self):
        processors = len(os.sched_getaffinity(0))
        for arguments, parts in ((("-n", 1), 1), (("-n", 2), 2), (("-n", 1, "--devices=cpu:2"), 2), (("-n", 64), 64)):
            variables = shown(self.run_launcher(*arguments, program=SHOW)[1], 0)
            share = str(max(1, processors // parts))
            self.assertEqual((variables["DLC_THREADS"], variables["OMP_NUM_THREADS"]), (share, share))

    def test_what_the_user_set_stays(self):
        outer = {"DLC_THREADS": "7", "OMP_NUM_THREADS": "5", "DLC_TIMEOUT": "12.5", "DLC_COMM": "gloo", "RANK": "9",
                 "DLC_SECRET_FILE": "/no/such/file", "DLC_DEVICES": "sim:1"}
        variables = shown(self.run_launcher("-n", 1, program=SHOW, env=outer)[1], 0)
        for name, value in {"DLC_THREADS": "7", "OMP_NUM_THREADS": "5", "DLC_TIMEOUT": "12.5", "DLC_COMM": "gloo",
                            "RANK": "0", "DLC_DEVICES": "sim:1"}.items():
            self.assertEqual(variables[name], value)
        self.assertNotIn("DLC_SECRET_FILE", variables)

    def test_options_go_before_the_environment(self):
        variables = shown(self.run_launcher("-n", 1, "--timeout=3", "--comm=shm", "--devices", "cpu:4", program=SHOW,
                                            env={"DLC_TIMEOUT": "9", "DLC_COMM": "gloo", "DLC_DEVICES": "cpu"})[1], 0)
        self.assertEqual((variables["DLC_TIMEOUT"], variables["DLC_COMM"], variables["DLC_DEVICES"]), ("3", "shm", "cpu:4"))

    def test_the_program_keeps_its_words(self):
        words = ["-n", "3", "--", "--help", "[a,b]", "a b", "", "launch"]
        for dashes in ([], ["--"]):
            code, output, _ = self.run_launcher(
                "-n2", "--no-prefix", *dashes, program=["sh", "-c", 'for word in "$@"; do echo "<$word>"; done', "name", *words])
            self.assertEqual(code, 0)
            self.assertEqual(sorted(output.splitlines()), sorted(2 * [f"<{word}>" for word in words]))

    def test_no_standard_input(self):
        code, output, _ = self.run_launcher("-n", 2, program=["sh", "-c", "wc -c"], stdin=0)
        self.assertEqual((code, sorted(output.split())), (0, ["0", "0", "[0]", "[1]"]))

    def test_ranks_meet_and_add(self):
        code, output, errors = self.run_launcher("-n", 4, program="")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(sorted(line.split(" pid")[0] for line in output.splitlines()), [f"[{r}] sum 10" for r in range(4)])

    def test_wrong_usage_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, open_secret = os.path.join(folder, "plain"), os.path.join(folder, "secret")
            for path, mode in ((plain, 0o644), (open_secret, 0o644)):
                with open(path, "w") as file:
                    file.write("text\n")
                os.chmod(path, mode)
            script = os.path.join(folder, "script")
            with open(script, "w") as file:
                file.write("#!/no/such/interpreter\n")
            os.chmod(script, 0o755)
            nodes = ["--nnodes", 2, "--master", "127.0.0.1:1"]
            for arguments, code, part in (
                    (["-n", 0, "true"], 2, "Value 0 not in range 1 to 4096"),
                    (["-n", "four", "true"], 2, "Value four not in range"),
                    (["-n", 2], 2, "a program to start is required"),
                    (["--ranks", 2, "true"], 2, "--ranks"),
                    (["--comm=smoke", "true"], 2, "--comm: smoke not in {auto,gloo,mpi,nccl,shm}"),
                    (["--timeout=0", "true"], 2, "--timeout: Value 0 not in range"),
                    (["--nnodes", 2, "true"], 2, "--master=host:port, where node 0 listens, is required"),
                    (["--master", "a:1", "true"], 2, "--master: expects several nodes; add --nnodes"),
                    (["--nnodes", 2, "--master", "here", "true"], 2, "--master: expects host:port, got 'here'"),
                    (["--nnodes", 2, "--master", "here:0", "true"], 2, "--master: expects host:port, got 'here:0'"),
                    ([*nodes, "true"], 2, "--secret-file (or DLC_SECRET_FILE, DLC_SECRET), the same secret on all nodes"),
                    ([*nodes, "--node-rank", 2, "true"], 2, "--node-rank: expects 0 to 1 with --nnodes=2, got 2"),
                    ([*nodes, "--secret-file=x", "--comm=mpi", "true"], 1, "DLC_COMM=mpi is for one node; with several"),
                    ([*nodes, "--secret-file", open_secret, "true"], 1, "expects a file that only its user can read"),
                    (["no-such-program"], 1, "dlc: launch: no program 'no-such-program' on the PATH\n"),
                    (["./no-such-program"], 1, "dlc: launch: no program './no-such-program': No such file or directory\n"),
                    ([folder], 1, "which is no file"),
                    ([plain], 1, f"'{plain}' is not executable; run chmod +x {plain}\n"),
                    ([script], 1, f"cannot start '{script}': No such file or directory; the interpreter"),
            ):
                with self.subTest(arguments=arguments):
                    got, output, errors = self.run_launcher(*arguments)
                    self.assertEqual((got, output), (code, ""))
                    self.assertIn(part, errors)
                    self.assertLessEqual(len(errors.splitlines()), code)  # usage: and "Run with --help …"

    def test_mpirun_is_missing(self):
        code, output, errors = self.run_launcher("--comm=mpi", "-n", 2, program=["/bin/true"], env={"PATH": "/no/such/folder"})
        self.assertEqual((code, output), (1, ""))
        self.assertEqual(errors, "dlc: launch: --comm=mpi starts ranks through mpirun, and there is none on the PATH; install "
                                 "Open MPI (openmpi-bin), or use another --comm\n")

    def test_help(self):
        code, output, _ = self.run_launcher("--help")
        self.assertEqual(code, 0)
        self.assertEqual(output.count("\n  dlc launch -n"), 2)  # examples
        self.assertNotIn("rank-of-mpirun", output)


if __name__ == "__main__":
    main()
