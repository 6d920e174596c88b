#!/usr/bin/env bash
# gpu-check [<option>…]: checks this machine's GPU with the programs of this folder; --help lists the options. Needs an NVIDIA
# driver and nothing else; takes at most 9 minutes. Exit code 0: all right, 1: something is not, 77: there is no GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=$(mktemp -d "${TMPDIR:-/tmp}/gpu-check.XXXXXX")
trap 'rm -rf "$programs"' EXIT
export GPU_CHECK_LIBRARY_PATH=${LD_LIBRARY_PATH:-} # for programs that are not of this folder
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$here/bin/xz" -dc "$here/programs.tar.xz" | tar -x -C "$programs"
"$here/bin/gpu-check-runner" --bundle "$here" --programs "$programs" "$@"
