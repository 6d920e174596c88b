#!/usr/bin/env python3
"""dlc launch --comm=mpi: ranks through mpirun."""
import shutil
import signal
import sys
import time

from launcher import LaunchTest, main

ALLOW = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Mpi(LaunchTest):
    def start(self, *arguments, env=None, **options):
        return super().start("--comm=mpi", *arguments, env={**ALLOW, **(env or {})}, **options)

    def test_ranks_meet_and_their_lines_stay_whole(self):
        code, output, errors = self.run_launcher("-n", 3, program="*:lines=200 *:error=oops")
        self.assertEqual((code, sorted(errors.splitlines())), (0, [f"[{r}] oops" for r in range(3)]))
        for rank in range(3):
            mine = [line for line in output.splitlines() if line.startswith(f"[{rank}] ")]
            self.assertTrue(mine[0].startswith(f"[{rank}] sum 6 "))
            self.assertEqual([int(line.split()[2]) for line in mine[1:]], list(range(200)))

    def test_variables(self):
        show = ["sh", "-c", "echo $OMPI_COMM_WORLD_SIZE ${RANK-none} $MASTER_ADDR $DLC_STORE $DLC_COMM $DLC_TIMEOUT"]
        code, output, _ = self.run_launcher("-n", 2, "--no-prefix", "--timeout=9", program=show, env={"RANK": "7"})
        self.assertEqual((code, output), (0, 2 * "2 none 127.0.0.1 external mpi 9\n"))

    def fail(self, action, code, how):
        got, output, errors = self.run_launcher("-n", 3, program=f"1:{action} *:hang")
        pid = next(line.split()[4] for line in output.splitlines() if line.startswith("[1] sum"))
        self.assertEqual(got, code)
        self.assertRegex(errors.splitlines()[-1], rf"^dlc: launch: rank 1 \(host \S+, pid {pid}\) {how}; mpirun ended the others$")

    def test_the_rank_that_exits_is_named(self):
        self.fail("exit=3", 3, "ended with exit code 3")

    def test_the_rank_that_is_killed_is_named(self):
        self.fail("signal=9", 137, "was killed by signal 9")

    def test_an_interrupt(self):
        process = self.start("-n", 2, program="*:hang")
        self.wait_for_lines(process, 2, "sum")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)

    def test_a_killed_launcher_takes_its_ranks_along(self):
        process = self.start("-n", 2, program="*:ignore=15 *:line=ready *:hang")
        self.wait_for_lines(process, 2, "ready")
        process.kill()
        limit = time.monotonic() + 10
        while self.marked() and time.monotonic() < limit:
            time.sleep(0.02)
        self.assertEqual(self.marked(), [])

    def test_a_program_that_is_not_there(self):
        code, _, errors = self.run_launcher("-n", 2, program=["./no-such-program"])
        self.assertEqual((code, len(errors.splitlines())), (1, 1))


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: no mpirun on the PATH")
        sys.exit(77)
    main()
