#!/usr/bin/env python3
"""watch.py <dlc devices --watch … with one GPU and two processes>: its table on a terminal of 60 columns, one with rows for
all of it and one without, and its end by Ctrl-C with code 0."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

COLUMNS = 60
ALL = ["device", "cpu", "gpu", "pid", "pid", "sim"]


def watch(rows):
    """What the command writes until it is interrupted in its third frame or later."""
    parent, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
    process = subprocess.Popen(sys.argv[1:], stdout=terminal)
    os.close(terminal)
    try:
        seen = b""
        while seen.count(b"\033[H") < 3:
            seen += os.read(parent, 65536)
        process.send_signal(signal.SIGINT)
        while True:
            try:
                more = os.read(parent, 65536)
            except OSError:  # nobody has the terminal's other end
                break
            if not more:
                break
            seen += more
        code = process.wait(timeout=60)
    finally:
        process.kill()
        os.close(parent)
    assert code == 0, code
    return seen.decode()


def check(text, begins):
    assert text.startswith("\033[2J\033[H"), text[:20]
    for frame in text.removeprefix("\033[2J").split("\033[H")[1:]:
        assert frame.endswith("\033[K\r\n\033[J"), repr(frame)
        lines = frame.removesuffix("\033[J").split("\033[K\r\n")[:-1]
        assert re.match(r"\d\d:\d\d:\d\d, every 0.05 s; Ctrl-C ends$", lines[0]), lines[0]
        assert [line.split()[0] for line in lines[1:]] == begins, lines
        assert max(len(line) for line in lines) == COLUMNS, lines


check(watch(rows=24), ALL)
check(watch(rows=6), ALL[:3] + ["and"])
