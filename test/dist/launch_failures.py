#!/usr/bin/env python3
"""dlc launch: ranks that fail, and that nothing is left of a job."""
import os
import re
import signal
import socket
import time

from launcher import RANK, LaunchTest, listening, main

# Limits that a test waits for are short, the others long enough for a busy machine.
QUICK = ["--report-time=0.3", "--term-time=30"]
LONG = ["--report-time=30"]
KILL = ["--report-time=0.3", "--term-time=0.3"]
HOST = re.escape(socket.gethostname())


class Failures(LaunchTest):
    def failure(self, program, *arguments, ranks=3):
        """Returns exit code, the one line that sums up, and standard output."""
        code, output, errors = self.run_launcher("-n", ranks, *(arguments or QUICK), program=program)
        lines = [line for line in errors.splitlines() if line.startswith("dlc: launch: ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertEqual(lines[0], errors.splitlines()[-1])
        return code, lines[0], output

    def test_an_exit_code(self):
        code, line, output = self.failure("1:exit=3 *:hang")
        pid = re.search(r"\[1\] sum 6 pid (\d+)", output).group(1)
        self.assertEqual(code, 3)
        self.assertRegex(line, rf"^dlc: launch: rank 1 \(host {HOST}, pid {pid}\) ended with exit code 3; "
                               r"ranks 0, 2: ended by the launcher with SIGTERM \(signal 15\)$")

    def test_a_signal(self):
        for number, name in ((9, "SIGKILL"), (11, "SIGSEGV")):
            code, line, _ = self.failure(f"2:signal={number} *:exit=4", *LONG)
            self.assertEqual(code, 128 + number)
            self.assertRegex(line, rf"rank 2 \(host {HOST}, pid \d+\) was killed by {name} \(signal {number}\); "
                                   "ranks 0, 1: exit code 4$")

    def test_who_only_saw_a_peer_fail_is_not_the_reason(self):
        code, line, _ = self.failure("0:exit=4 1:sleep=100 1:exit=6 2:exit=4", *LONG)
        self.assertEqual(code, 6)
        self.assertIn("ranks 0, 2: exit code 4", line)

    def test_survivors_finish_their_reports(self):
        code, _, output = self.failure("1:exit=3 *:sleep=500 *:print=report *:exit=4", *LONG, ranks=2)
        self.assertEqual(code, 3)
        self.assertIn("[0] report\n", output)

    def test_survivors_learn_how_a_rank_ended(self):
        for action, text in (("exit=3", "exit code 3"), ("signal=9", "killed by SIGKILL (signal 9)")):
            _, _, output = self.failure(f"1:{action} *:ended=1 *:exit=4", *LONG)
            self.assertEqual(sorted(line for line in output.splitlines() if "rank 1: " in line),
                             [f"[{r}] rank 1: {text}" for r in (0, 2)])

    def test_verdicts_say_how_a_rank_ended(self):
        training = [os.path.join(os.path.dirname(RANK), "dist_rank"), "1000000", "kill", "1", "3"]
        code, _, errors = self.run_launcher("-n", 3, "--timeout=20", *LONG, program=training)
        self.assertEqual(code, 128 + signal.SIGKILL)
        for rank in (0, 2):
            self.assertRegex(errors, rf"(?m)^\[{rank}\] rank 1 \(host .*\) ended without leaving the job: killed by SIGKILL \(signal 9\)(;|$)")

    def test_who_ignores_sigterm_is_killed(self):
        code, line, _ = self.failure("*:ignore=15 *:meet=ignored 0:exit=5 *:hang", *KILL, ranks=2)
        self.assertEqual(code, 5)
        self.assertIn("; rank 1: ended by the launcher with SIGKILL (signal 9)", line)

    def test_a_stopped_rank_ends_too(self):
        code, line, _ = self.failure(f"1:signal={int(signal.SIGSTOP)} 0:sleep=200 0:exit=4", ranks=2)
        self.assertEqual(code, 4)
        self.assertIn("; rank 1: ended by the launcher with SIGTERM (signal 15)", line)

    def test_one_that_ends_well_after_sigterm(self):
        code, line, _ = self.failure("1:endon=15 *:meet=set 0:exit=2 1:hang", ranks=2)
        self.assertEqual(code, 2)
        self.assertIn("; rank 1: done when asked to end", line)

    def test_grandchildren_end_with_the_job(self):
        code, output, errors = self.run_launcher("-n", 2, *KILL, program="0:grandchild 1:daemon")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(self.marked(), [])

    def test_grandchildren_end_with_a_failed_job(self):
        code, _, _ = self.failure("0:grandchild *:daemon 1:exit=7 *:hang", *KILL, ranks=2)
        self.assertEqual((code, self.marked()), (7, []))

    def test_a_killed_launcher_takes_its_ranks_along(self):
        process = self.start("-n", 3, program="*:ignore=15 *:line=ready *:hang")
        lines = [line for line in self.wait_for_lines(process, 3, "ready") if "sum" in line]
        port = int(lines[0].split()[-1])
        self.assertIn(port, listening())
        process.kill()
        limit = time.monotonic() + 5
        while (self.marked() or port in listening()) and time.monotonic() < limit:
            time.sleep(0.02)
        self.assertEqual(self.marked(), [])
        self.assertNotIn(port, listening())

    def test_ranks_have_groups_of_their_own(self):
        process = self.start("-n", 2, program="*:hang")
        pids = [int(line.split()[4]) for line in self.wait_for_lines(process, 2, "sum")]
        self.assertEqual([os.getpgid(pid) for pid in pids], pids)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM)

    def test_ranks_start_again(self):
        code, output, errors = self.run_launcher("-n", 2, *QUICK, "--max-restarts", 3, program="1@0:exit=3 0@1:signal=9")
        self.assertEqual(code, 0)
        self.assertEqual([line.split(";")[-1] for line in errors.splitlines() if line.startswith("dlc: launch")],
                         2 * [" all ranks start again"])
        ports = re.findall(r"\[0\] sum 3 pid \d+ port (\d+)", output)
        self.assertEqual(len(ports), 3)
        self.assertEqual(listening().intersection(map(int, ports)), set())

    def test_generations_have_secrets_of_their_own(self):
        show = ["sh", "-c", "echo $DLC_GENERATION $DLC_SECRET; exit 1"]
        code, output, errors = self.run_launcher("-n", 1, "--no-prefix", "--max-restarts", 2, program=show)
        generations, secrets = zip(*map(str.split, output.splitlines()))
        self.assertEqual((code, generations, len(set(secrets))), (1, ("0", "1", "2"), 3))
        self.assertEqual(len(errors.splitlines()), 3)

    def test_no_restart_of_a_program_that_cannot_start(self):
        code, _, errors = self.run_launcher("-n", 2, "--max-restarts", 3, program=["/no/such/program"])
        self.assertEqual((code, len(errors.splitlines())), (1, 1))


class Signals(LaunchTest):
    def test_signals_are_forwarded(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            with self.subTest(number=number):
                process = self.start("-n", 2, *QUICK, program=f"*:handle={int(number)} *:line=ready *:hang")
                self.wait_for_lines(process, 2, "ready")
                process.send_signal(number)
                self.wait_for_lines(process, 2, f"got signal {int(number):02}")
                process.send_signal(signal.SIGKILL)
                process.wait(timeout=30)

    def test_an_interrupt_ends_the_job_and_there_is_no_restart(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("-n", 2, *QUICK, "--max-restarts", 5, program="*:hang")
            self.wait_for_lines(process, 2, "sum")
            process.send_signal(number)
            output, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 128 + number)
            self.assertNotIn("again", errors)

    def test_ranks_may_end_well(self):
        process = self.start("-n", 2, *QUICK, program="*:endon=15 *:line=ready *:hang")
        self.wait_for_lines(process, 2, "ready")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_a_second_interrupt_kills(self):
        process = self.start("-n", 2, "--report-time=60", "--term-time=60", program="*:ignore=2 *:ignore=15 *:line=ready *:hang")
        self.wait_for_lines(process, 2, "ready")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGINT)
        self.assertIn("interrupted", process.stderr.read())

    def test_what_was_ignored_stays_ignored(self):
        process = self.start("-n", 2, *QUICK, program="*:handle=10 *:line=ready *:hang",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_lines(process, 2, "ready")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        process.send_signal(signal.SIGUSR1)
        self.wait_for_lines(process, 2, "got signal 10")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM)

    def test_sigchld_ignored_before(self):
        code, _, errors = self.run_launcher("-n", 2, *QUICK, program="1:exit=3",
                                            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(code, 3, errors)


if __name__ == "__main__":
    main()
