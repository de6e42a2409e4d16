#!/bin/sh
# Builds and checks everything: formatting, unit and server tests in a release build and under
# AddressSanitizer and UndefinedBehaviorSanitizer, the server tests under ThreadSanitizer, ten seconds of
# each fuzz target, and clang-tidy. Usage: mote/check.sh [build directory]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-"$here/build"}
jobs=$(nproc)

step() { printf '\n== %s\n' "$1"; }
missing() { printf '   skipped: %s is not installed\n' "$1"; }

configure_and_build() { # name, options...
  name=$1
  shift
  cmake -S "$here" -B "$build/$name" -G Ninja "$@" >"$build/$name.log" || {
    cat "$build/$name.log"
    exit 1
  }
  cmake --build "$build/$name" -j "$jobs" | tail -n 1
}

mkdir -p "$build"

step 'clang-format'
if command -v clang-format >/dev/null; then
  find "$here" -path "$build" -prune -o \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 clang-format --dry-run --Werror
else
  missing clang-format
fi

step 'release: all tests'
configure_and_build release -DCMAKE_BUILD_TYPE=Release
ctest --test-dir "$build/release" -j 4 --output-on-failure | tail -n 3

step 'AddressSanitizer and UndefinedBehaviorSanitizer: all tests'
configure_and_build asan -DCMAKE_BUILD_TYPE=Debug -DMOTE_SANITIZE=address,undefined
ctest --test-dir "$build/asan" -j 4 --output-on-failure | tail -n 3

step 'ThreadSanitizer: the server tests'
configure_and_build tsan -DCMAKE_BUILD_TYPE=Debug -DMOTE_SANITIZE=thread
# Memory is measured without it: its shadow memory grows with every access.
"$build/tsan/tests/mote_server_tests" --gtest_brief=1 --gtest_filter='-*DoesNotGrow*'

step 'libFuzzer: ten seconds a target'
if command -v clang++ >/dev/null; then
  configure_and_build fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ \
    -DMOTE_TESTS=OFF -DMOTE_FUZZ=ON -DMOTE_SANITIZE=address,undefined
  for target in head body connection; do
    mkdir -p "$build/corpus/$target"
    "$build/fuzz/fuzz/fuzz_$target" -max_total_time=10 -verbosity=0 -print_final_stats=1 \
      "$build/corpus/$target" "$here/fuzz/corpus/$target" 2>&1 | grep number_of_executed_units
  done
else
  missing clang
fi

step 'clang-tidy'
if command -v clang-tidy >/dev/null; then
  find "$here/src" -name '*.cpp' -print0 |
    xargs -0 -P "$jobs" -n 6 clang-tidy --quiet -p "$build/release" 2>/dev/null
else
  missing clang-tidy
fi

printf '\nmote: all checks passed\n'
