#!/usr/bin/env bash
# lit.sh <work> <LLVM's tools>: somebody's own lit and FileCheck suite runs against the installed dlc-opt.
set -euo pipefail
work=$1 tools=$2
rm -rf "$work/lit"
cp -r "$(dirname "$0")/lit" "$work/lit"
DLC_PREFIX=$work/prefix LLVM_TOOLS=$tools "$tools/lit" -sv "$work/lit"
# The suite can fail: a wrong expectation is found.
sed -i '/CHECK: /s/dl\.add/dl.sub/' "$work/lit/simplify.mlir"
if DLC_PREFIX=$work/prefix LLVM_TOOLS=$tools "$tools/lit" -q "$work/lit" >/dev/null 2>&1; then
  echo "a wrong expectation went unnoticed" >&2
  exit 1
fi
