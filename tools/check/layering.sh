#!/usr/bin/env bash
# What the compiler does not see of the layers: includes between components, MLIR below or outside the compiler, names that
# say nothing. That an upward include does not compile is a test (test/layering).
set -uo pipefail
cd "$(dirname "$0")/../.."
bad=0
report() { [[ -z $1 ]] || { sed "s/^/$2: /" <<<"$1" && bad=1; }; }

# below <component> <allowed component>…: includes of other components' headers.
below() {
  local others
  others=$(printf '%s\n' ir passes codegen runtime frontend | grep -vxF "$(printf '%s\n' "$@")" | paste -sd '|')
  report "$(grep -rnE "#include \"dlc/($others)/|#include \"dlc/dlc.h\"" "$1" --include='*.cpp' --include='*.h' | grep -v '^frontend/')" \
    "upward include"
}
below runtime
below ir runtime
below passes ir runtime
below codegen passes ir runtime
report "$(grep -rnE '#include [<"](mlir|llvm)' runtime frontend/include codegen/include --include='*.cpp' --include='*.h')" "MLIR or LLVM shown"
report "$(grep -rnE '#include [<"](mlir|llvm)' frontend --include='*.cpp' --include='*.h' | grep -v '^frontend/trace/')" "MLIR outside frontend/trace"
report "$(grep -rnE '#include "\.\./' ir passes codegen runtime frontend tools examples --include='*.cpp' --include='*.h')" "relative include"
report "$(git ls-files | grep -E '/[A-Za-z]*(Utils?|Helpers?|Common|Misc|Manager)\.[a-z]+$')" "name says nothing"
exit $bad
