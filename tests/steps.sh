# SPDX-License-Identifier: Apache-2.0
#
# Steps of .ci/run and tests/nightly. Sourced by bash, in the repository's root.

jobs=$(tools/jobs)
failed_steps=()
step_times=()

# ThreadSanitizer of gcc 12 does not start where addresses are randomised over more bits than it expects.
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed_addresses=(setarch "$(uname -m)" -R); fi

# step NAME FUNCTION…: runs it, and remembers its duration and whether it failed.
step() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed_steps+=("$name")
  step_times+=("$name $((SECONDS - begin)) s")
}

# One line of durations, one of failed steps. False: a step failed.
report_steps() {
  printf '\n'
  ((${#step_times[@]} == 0)) || printf '%s; ' "${step_times[@]}"
  printf 'total %s s\n' "$SECONDS"
  ((${#failed_steps[@]} == 0)) || { printf 'failed: %s\n' "${failed_steps[*]}"; return 1; }
}

tests_summary() { grep -hE '^[0-9]+% tests passed' "$1" | tail -n 1; }

# sanitizer PRESET LABEL TARGET…: builds TARGET… and runs the tests with LABEL (a regular expression).
sanitizer() {
  local preset=$1 label=$2 log=build-$1/tests.log status=0
  "${fixed_addresses[@]}" tools/build "$preset" "build-$preset/build.log" "${@:3}" || return 1
  "${fixed_addresses[@]}" ctest --preset "$preset" -j "$jobs" --no-tests=error ${label:+-L "$label"} >"$log" 2>&1 || status=1
  if ((status != 0)); then
    awk '/Test +#[0-9]+:/ { shown = /\*\*\*(Failed|Timeout|Exception|Not Run)/ } shown' "$log"
  fi
  tests_summary "$log"
  return "$status"
}

# sanitized_tests PRESET: what runs inside of applications, and what faces a network.
sanitized_tests() { sanitizer "$1" sanitized sanitized_tests; }

# fuzz CASES: corrupted inputs of each kind through the program with AddressSanitizer and UBSan, as many kinds at a time
# as there are jobs. A small quarantine and short stacks, or most of the time is spent on keeping them. The last option:
# see the test preset asan. sampled_bound takes a second a case: ctest runs its few.
fuzz() {
  local cases=$1 seed=${FUZZ_SEED:-$RANDOM}
  tools/build asan build-asan/fuzz-build.log fuzz || return 1
  build-asan/tests/fuzz --list | grep -v sampled_bound |
    ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=5:intercept_tls_get_addr=0 xargs -P "$jobs" -I {} bash -c '
      log=build-asan/fuzz-$0.log
      if timeout 1800 build-asan/tests/fuzz "$0" --cases "$1" --seed "$2" >"$log" 2>&1; then
        head -n 1 "$log"
      else
        printf "%s: exit code %s; the end of it:\n" "$log" "$?"
        tail -n 40 "$log"
        exit 1
      fi' {} "$cases" "$seed"
}

# Every view of the page in a browser: tests/web/page_matrix_test.mjs. Installs Chromium and the packages of npm.
page_matrix() {
  local log=build/page-matrix.log status=0
  tools/setup --web >"$log" 2>&1 || { tail -n 20 "$log"; return 1; }
  node --test-reporter=tap tests/web/page_matrix_test.mjs build/bin/rangefinder build/bin/rangefinder-replay . >"$log" 2>&1 ||
    status=$?
  ((status != 77)) || { head -n 1 "$log"; return 0; }
  ((status == 0)) || { grep -A 40 '^not ok' "$log" | head -n 200; return 1; }
  grep -E '^# (pass|duration_ms)' "$log"
}

# The edition without CUDA builds where there is no toolkit, and shows a table. Not optimised: it is built, not measured.
viewer() {
  local folder=build-viewer
  mkdir -p "$folder"
  cmake --preset viewer -D CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 >"$folder/viewer.log" 2>&1 &&
    cmake --build --preset viewer -j "$jobs" >>"$folder/viewer.log" 2>&1 || { tail -n 40 "$folder/viewer.log"; return 1; }
  if grep -iE -m 1 'cuda|cupti|spdlog' "$folder/compile_commands.json"; then
    printf 'the viewer is compiled with the above\n'
    return 1
  fi
  "$folder/bin/rangefinder" report --example >"$folder/table.txt" && grep -q encoder_input_proj "$folder/table.txt"
}
