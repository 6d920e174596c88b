#!/usr/bin/env bash
# train.sh <work> train|readme|digits <tree>: builds a program that links dlc::dlc, front end and compiler, against the installed
# tree, and runs it: the one beside this file, the README's first C++ block, or the quickstart's for an epoch.
set -euo pipefail
work=$1 name=$2 tree=$3
rm -rf "${work:?}/$name"
case $name in
  digits) cp -r "$tree/examples/digits" "$work/digits" ;;
  *) cp -r "$tree/test/install/train" "$work/$name" ;;
esac
cd "$work/$name"
if [[ $name == readme ]]; then
  sed -n '/^```cpp$/,/^```$/{/^```$/q;/^```/!p}' "$tree/README.md" >main.cpp
  mkdir -p examples
  cp -r "$tree/examples/digits" examples/digits
fi
cmake -G Ninja -B build -DCMAKE_PREFIX_PATH="$work/prefix" >cmake.log || { cat cmake.log; exit 1; }
cmake --build build
if [[ $name == digits ]]; then
  build/digits --epochs 1
else
  build/app
fi
