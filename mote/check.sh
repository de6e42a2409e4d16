#!/bin/sh
# Builds and checks everything: formatting, unit and server tests in a release build and under
# AddressSanitizer and UndefinedBehaviorSanitizer, the server tests under ThreadSanitizer, ten seconds of
# each fuzz target, and clang-tidy. About three minutes on two cores. What a missing tool keeps from being
# checked is skipped by name; cmake and ninja come from PyPI if the machine has none.
# Usage: mote/check.sh [build directory]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-"$here/build"}"
build=$(cd "${1:-"$here/build"}" && pwd)
jobs=$(nproc)

step() { printf '\n== %s\n' "$1"; }
missing() { printf '   skipped: %s is not installed\n' "$1"; }

# Shows what a command wrote only if it fails; a pipe would lose its exit status.
quietly() { # log, command...
  log=$1
  shift
  "$@" >"$log" 2>&1 || {
    status=$?
    cat "$log"
    printf '\nmote: failed: %s\n' "$*"
    exit "$status"
  }
}

# cmake and ninja, if one is missing, in an environment of their own; fails without Python.
fetch_builders() {
  for tool in cmake ninja; do
    command -v "$tool" >/dev/null || absent=yes
  done
  [ -n "${absent:-}" ] || return 0
  step 'cmake and ninja from PyPI'
  command -v python3 >/dev/null || return 1
  PATH="$build/tools/bin:$PATH"
  [ -x "$build/tools/bin/ninja" ] && return 0
  quietly "$build/tools.log" python3 -m venv "$build/tools"
  quietly "$build/tools.log" "$build/tools/bin/pip" install --quiet --require-hashes -r "$here/requirements.lock"
}

has_gtest() {
  printf '#include <gtest/gtest.h>\n' | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1
}

compile() { # name, target, options...
  name=$1
  target=$2
  shift 2
  quietly "$build/$name.log" cmake -S "$here" -B "$build/$name" -G Ninja -DMOTE_UNITY=ON "$@"
  quietly "$build/$name.log" cmake --build "$build/$name" -j "$jobs" --target "$target"
}

run_tests() { # name, options of ctest...
  name=$1
  shift
  quietly "$build/$name-tests.log" ctest --test-dir "$build/$name" -j "$((jobs * 2))" --output-on-failure "$@"
  grep 'tests passed' "$build/$name-tests.log"
}

step 'clang-format'
if command -v clang-format >/dev/null; then
  find "$here" -path "$build" -prune -o \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 clang-format --dry-run --Werror
else
  missing clang-format
fi

if ! command -v c++ >/dev/null; then
  missing 'a C++ compiler'
  exit 0
fi
if ! fetch_builders; then
  missing 'cmake or ninja, and Python to get them,'
  exit 0
fi
if ! has_gtest; then
  step 'release: the library'
  compile release all -DCMAKE_BUILD_TYPE=Release -DMOTE_TESTS=OFF
  missing GoogleTest
  exit 0
fi

step 'release: all tests'
compile release all -DCMAKE_BUILD_TYPE=Release
run_tests release

step 'clang-tidy'
if command -v clang-tidy >/dev/null; then
  # The whole library is one translation unit here, which includes its sources.
  quietly "$build/tidy.log" clang-tidy --quiet -p "$build/release" \
    --config-file="$here/.clang-tidy" --checks=-bugprone-suspicious-include \
    "$build/release/CMakeFiles/mote.dir/Unity/unity_0_cxx.cxx"
else
  missing clang-tidy
fi

step 'AddressSanitizer and UndefinedBehaviorSanitizer: all tests'
compile asan all -DCMAKE_BUILD_TYPE=Debug -DMOTE_SANITIZE=address,undefined
# Memory is measured without a sanitizer: each keeps memory of its own, which grows with use.
run_tests asan -E DoesNotGrow

step 'ThreadSanitizer: the server tests'
compile tsan mote_server_tests -DCMAKE_BUILD_TYPE=Debug -DMOTE_SANITIZE=thread
quietly "$build/tsan-tests.log" "$build/tsan/tests/mote_server_tests" --gtest_brief=1 \
  --gtest_filter='-*DoesNotGrow*'
grep 'PASSED' "$build/tsan-tests.log"

step 'libFuzzer: ten seconds a target'
if command -v clang++ >/dev/null; then
  compile fuzz all -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ \
    -DMOTE_TESTS=OFF -DMOTE_FUZZ=ON -DMOTE_SANITIZE=address,undefined
  fuzz() { # target
    mkdir -p "$build/corpus/$1"
    quietly "$build/fuzz-$1.log" "$build/fuzz/fuzz/fuzz_$1" -max_total_time=10 \
      -verbosity=0 -print_final_stats=1 "-artifact_prefix=$build/" \
      "$build/corpus/$1" "$here/fuzz/corpus/$1"
    printf '   %s: %s\n' "$1" "$(grep number_of_executed_units "$build/fuzz-$1.log")"
  }
  fuzz head &
  head=$!
  fuzz body &
  body=$!
  fuzz connection
  wait "$head"
  wait "$body"
else
  missing clang
fi

printf '\nmote: all checks passed\n'
