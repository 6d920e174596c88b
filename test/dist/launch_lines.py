#!/usr/bin/env python3
"""dlc launch: the ranks' lines."""
import os
import re
import signal
import subprocess
import time

from launcher import LaunchTest, main


class Lines(LaunchTest):
    def test_lines_of_ranks_stay_whole(self):
        code, output, errors = self.run_launcher("-n", 4, program="*:lines=300")
        self.assertEqual((code, errors), (0, ""))
        for rank in range(4):
            mine = [line for line in output.splitlines() if line.startswith(f"[{rank}] line ")]
            self.assertEqual([int(line.split()[2]) for line in mine], list(range(300)))
            for line in mine:
                self.assertRegex(line, rf"^\[{rank}\] line \d+ of rank {rank} {'abcd'[rank]}+$")
                self.assertEqual(len(line), 99 + len("[0] "))

    def test_standard_error_is_apart(self):
        code, output, errors = self.run_launcher("-n", 2, program="*:error=oops")
        self.assertEqual((code, sorted(errors.splitlines())), (0, ["[0] oops", "[1] oops"]))
        self.assertNotIn("oops", output)

    def test_both_streams_in_one_file_stay_whole(self):
        process = self.start("-n", 3, program="*:lines=200 *:error=oops *:lines=200", stderr=subprocess.STDOUT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        pattern = re.compile(r"^\[\d\] (line \d+ of rank \d [abc]+|oops|sum 6 pid \d+ port \d+)$")
        self.assertEqual([line for line in output.splitlines() if not pattern.match(line)], [])
        self.assertEqual(len(output.splitlines()), 3 * 402)

    def test_a_last_line_is_completed(self):
        code, output, _ = self.run_launcher("-n", 2, program="*:print=end")
        self.assertEqual(code, 0)
        self.assertTrue(output.endswith("\n"))
        self.assertEqual(sorted(line for line in output.splitlines() if "sum" not in line), ["[0] end", "[1] end"])

    def test_without_prefix(self):
        code, output, _ = self.run_launcher("-n", 2, "--no-prefix", program="*:lines=50")
        self.assertEqual(code, 0)
        self.assertEqual(len(re.findall(r"^line \d+ of rank \d [ab]+$", output, re.M)), 100)

    def test_a_line_without_end_is_cut(self):
        code, output, _ = self.run_launcher("-n", 1, program="0:long=2500000")
        self.assertEqual(code, 0)
        lengths = [len(line) - len("[0] ") for line in output.splitlines() if "xx" in line]
        self.assertEqual(lengths, [1 << 20, 1 << 20, 2500000 - (2 << 20)])

    def test_a_slow_reader_gets_everything_and_signals_are_seen_to(self):
        process = self.start("-n", 2, program="*:handle=10 *:line=ready *:lines=20000")
        self.wait_for_lines(process, 2, "ready")
        time.sleep(0.5)  # pipes are full
        process.send_signal(signal.SIGUSR1)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        # The last lines begin in the buffer of the reader that waited for the first ones.
        self.assertEqual(output.count("got signal 10"), 2)
        self.assertGreater(len(output), 3_900_000)

    def test_a_reader_that_does_not_read_cannot_stop_the_shut_down(self):
        process = self.start("-n", 2, "--report-time=0.2", "--term-time=0.2", program="1:ignore=15 *:meet=ignored 1:lines=100000 0:exit=3")
        limit = time.monotonic() + 20
        while len(self.marked()) > 1 and time.monotonic() < limit:
            time.sleep(0.05)
        self.assertEqual(self.marked(), [process.pid])  # only its lines wait
        process.communicate()
        self.assertEqual(process.returncode, 3)

    def test_when_the_reader_goes_the_ranks_hear_of_it(self):
        process = self.start("-n", 2, "--report-time=0.2", program="*:lines=40000")
        self.wait_for_lines(process, 1)
        process.stdout.close()
        errors = process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)
        self.assertIn("SIGPIPE", errors)

    def test_closed_streams(self):
        process = self.start("-n", 2, program="", stdout=None, stderr=None, stdin=None, close_fds=True,
                             preexec_fn=lambda: [os.close(stream) for stream in (0, 1, 2)])
        self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    main()
