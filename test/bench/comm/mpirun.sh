#!/usr/bin/env bash
# mpirun.sh <comm-bench> <ranks> <rounds> <engine>[:fixed]…: comm-bench with mpirun's ranks. 77: no mpirun.
set -u
command -v mpirun >/dev/null || { echo "skipped: no mpirun here"; exit 77; }
DLC_TEST_SHARED=$(mktemp -d)
export DLC_TEST_SHARED
trap 'rm -rf "$DLC_TEST_SHARED"' EXIT
mpirun --allow-run-as-root --oversubscribe -n "$2" "$1" "${@:2}"
