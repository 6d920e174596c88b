#!/usr/bin/env bash
# mpirun.sh <ranks> <test program>: its tests of the communicator "mpi", with a member in each rank. 77: no mpirun.
set -u
command -v mpirun >/dev/null || { echo "skipped: no mpirun here"; exit 77; }
DLC_TEST_SHARED=$(mktemp -d)
export DLC_TEST_SHARED
trap 'rm -rf "$DLC_TEST_SHARED"' EXIT
# After failures, which these tests make, a rank ends without MPI_Finalize; so mpirun's own code says nothing.
mpirun --allow-run-as-root --oversubscribe -n "$1" "$2" "--gtest_filter=${3:-On/Engine*/mpi*}" >"$DLC_TEST_SHARED/output" 2>&1
passed=$(cat "$DLC_TEST_SHARED"/store.*/result.* 2>/dev/null | grep -o passed | wc -l)
[[ $passed -eq $1 ]] && exit 0
cat "$DLC_TEST_SHARED/output"
echo "$passed of $1 ranks passed"
exit 1
