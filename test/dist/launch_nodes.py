#!/usr/bin/env python3
"""dlc launch on several nodes, all of them on this host."""
import os
import re
import signal
import socket
import tempfile

from launcher import LaunchTest, listening, main

QUICK = ["--report-time=0.3", "--term-time=0.3"]


class Nodes(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.secret = self.make_secret(folder.name, "secret", "a common secret\n")
        self.other_secret = self.make_secret(folder.name, "other", "another one\n")
        # Bound and not listening: nobody else is given this port, and a launcher may still listen on it.
        reserved = socket.socket()
        self.addCleanup(reserved.close)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        self.port = reserved.getsockname()[1]

    @staticmethod
    def make_secret(folder, name, text):
        path = os.path.join(folder, name)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)
        return path

    def node(self, rank, *arguments, nodes=2, ranks=2, secret=None, program=""):
        return self.start("-n", ranks, "--nnodes", nodes, "--node-rank", rank, "--master", f"127.0.0.1:{self.port}",
                          "--secret-file", secret or self.secret, *QUICK, *arguments, program=program)

    def ends(self, processes):
        """Exit code, output and errors of each node."""
        results = [process.communicate(timeout=60) for process in processes]
        return [(process.returncode, *result) for process, result in zip(processes, results)]

    def test_ranks_of_all_nodes_meet(self):
        ends = self.ends([self.node(1, ranks=3), self.node(0, ranks=2)])
        self.assertEqual([end[0] for end in ends], [0, 0], ends)
        self.assertEqual([end[2] for end in ends], ["", ""])
        for (_, output, _), ranks in zip(ends, ([2, 3, 4], [0, 1])):
            self.assertEqual(sorted(line.split(" pid")[0] for line in output.splitlines()), [f"[{r}] sum 15" for r in ranks])
        self.assertNotIn(self.port, listening())

    def test_ranks_know_their_place(self):
        show = ["sh", "-c", "echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE $MASTER_ADDR $DLC_SECRET"]
        ends = self.ends([self.node(rank, "--no-prefix", program=show) for rank in (0, 1)])
        lines = sorted(line for end in ends for line in end[1].splitlines())
        places = [" ".join(line.split()[:5]) for line in lines]
        self.assertEqual(places, [f"{2 * node + local} {local} 2 4 127.0.0.1" for node in (0, 1) for local in (0, 1)])
        secrets = {line.split()[5] for line in lines}
        self.assertEqual(len(secrets), 1)
        self.assertNotIn("a common secret", secrets)

    def test_all_nodes_agree_on_the_first_failure(self):
        for failing in (0, 2):
            with self.subTest(failing=failing):
                ends = self.ends([self.node(rank, program=f"{failing}:exit=7 *:hang") for rank in (0, 1)])
                self.assertEqual([end[0] for end in ends], [7, 7])
                lines = [end[2].splitlines()[-1] for end in ends]
                self.assertEqual(lines[0], lines[1])
                self.assertRegex(lines[0], rf"^dlc: launch: rank {failing} \(host \S+, pid \d+\) ended with exit code 7; ranks ")

    def test_all_nodes_start_again(self):
        ends = self.ends([self.node(rank, "--max-restarts", 2 if rank == 0 else 0, program="3@0:exit=3 0@1:signal=9")
                          for rank in (0, 1)])
        self.assertEqual([end[0] for end in ends], [0, 0], ends)
        for code, output, errors in ends:
            self.assertEqual(errors.count("all ranks start again"), 2)
            self.assertEqual(len(re.findall(r" sum 10 ", output)), 6)

    def test_an_interrupted_node_ends_all(self):
        nodes = [self.node(rank, "--max-restarts=3", program="*:hang") for rank in (0, 1)]
        for node in nodes:
            self.wait_for_lines(node, 2, "sum")
        nodes[1].send_signal(signal.SIGINT)
        ends = self.ends(nodes)
        self.assertEqual([end[0] for end in ends], [128 + signal.SIGINT] * 2, ends)

    def test_a_program_that_only_one_node_has(self):
        nodes = [self.node(0, program="*:hang"), self.node(1, program=["/no/such/program"])]
        self.assertEqual(nodes[1].wait(timeout=30), 1)
        nodes[0].send_signal(signal.SIGINT)
        self.assertEqual(nodes[0].wait(timeout=30), -signal.SIGINT)  # it still waited for the other launcher

    def lose(self, lost, how=signal.SIGKILL, timeout=60):
        nodes = [self.node(rank, f"--timeout={timeout}", "--max-restarts=3", program="*:hang") for rank in (0, 1)]
        for node in nodes:
            self.wait_for_lines(node, 2, "sum")
        nodes[lost].send_signal(how)
        _, errors = nodes[1 - lost].communicate(timeout=30)
        self.assertEqual(nodes[1 - lost].returncode, 4)
        self.assertIn(f"dlc: launch: lost the launcher of node {lost}", errors)
        nodes[lost].kill()

    def test_the_loss_of_node_0_ends_the_others(self):
        self.lose(0)

    def test_the_loss_of_another_node_ends_all(self):
        self.lose(1)

    def test_a_launcher_that_is_silent_is_lost(self):
        self.lose(1, signal.SIGSTOP, timeout=2)

    def misfit(self, part, *nodes, timeout=60):
        ends = self.ends([self.node(each.pop("rank"), f"--timeout={timeout}", **each) for each in nodes])
        self.assertTrue(all(end[0] in (1, 4) for end in ends), ends)
        self.assertIn(part, "".join(end[2] for end in ends))

    def test_two_nodes_of_one_rank(self):
        self.misfit("port in use", {"rank": 0}, {"rank": 0}, timeout=1.5)
        self.misfit("duplicate rank", {"rank": 0, "nodes": 3}, {"rank": 1, "nodes": 3}, {"rank": 1, "nodes": 3})

    def test_one_node_may_be_asked_for(self):
        [(code, output, errors)] = self.ends([self.node(0, nodes=1)])
        self.assertEqual((code, errors, output.count(" sum 3 ")), (0, "", 2))

    def test_another_number_of_nodes(self):
        self.misfit("wrong world size", {"rank": 0}, {"rank": 1, "nodes": 3})

    def test_another_secret(self):
        self.misfit("refused", {"rank": 0}, {"rank": 1, "secret": self.other_secret}, timeout=1.5)

    def test_a_node_is_missing(self):
        self.misfit("not all ranks came within 1 s (DLC_TIMEOUT): rank 1 of 2", {"rank": 0}, timeout=1)
        self.misfit("no store at 127.0.0.1", {"rank": 1}, timeout=1)


if __name__ == "__main__":
    main()
