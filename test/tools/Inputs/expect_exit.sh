#!/bin/sh
# expect_exit.sh <code> <command>…: passes its output on and succeeds when the exit code is the one expected.
expected=$1
shift
"$@"
actual=$?
[ "$actual" -eq "$expected" ] || { echo "expected exit code $expected, got $actual"; exit 1; }
