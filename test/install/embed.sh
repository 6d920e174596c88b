#!/usr/bin/env bash
# embed.sh <work> <examples>: a program that links dlc::runtime only trains a module compiled ahead of time.
set -euo pipefail
work=$1 examples=$2
rm -rf "$work/embed"
cp -r "$(dirname "$0")/embed" "$work/embed"
cd "$work/embed"
"$work/prefix/bin/dlc" compile "$examples/mlir/digits.mlir" -o digits.so
cmake -G Ninja -B build -DCMAKE_PREFIX_PATH="$work/prefix" >cmake.log || { cat cmake.log; exit 1; }
cmake --build build
build/app digits.so "$examples/digits/data/digits.csv.gz" state.safetensors
for file in build/app digits.so "$work"/prefix/lib*/libdlc_runtime.so; do
  if ldd "$file" | grep -E 'LLVM|MLIR|not found'; then
    echo "$file: expected neither LLVM nor MLIR among its libraries" >&2
    exit 1
  fi
done
size=$(stat -Lc %s "$work"/prefix/lib*/libdlc_runtime.so)
# An instrumented library may be larger.
if ((size > 5 << 20)) && [[ ${CXXFLAGS:-} != *-fsanitize* ]]; then
  echo "libdlc_runtime.so has $size bytes, at most 5 MiB" >&2
  exit 1
fi
