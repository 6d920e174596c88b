#!/usr/bin/env bash
# train.sh <work>: a program that links dlc::dlc, the front end with its compiler, trains a model.
set -euo pipefail
work=$1
rm -rf "$work/train"
cp -r "$(dirname "$0")/train" "$work/train"
cd "$work/train"
cmake -G Ninja -B build -DCMAKE_PREFIX_PATH="$work/prefix" >cmake.log || { cat cmake.log; exit 1; }
cmake --build build
build/app
