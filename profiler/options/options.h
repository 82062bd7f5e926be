// SPDX-License-Identifier: Apache-2.0
//
// What a user can set. One table: the library's parser, the flags of `rangefinder run`,
// their help, the table in README.md and the warning about unknown variables are all
// made from it, so none of them can forget an option.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/options/capture_request.h"

namespace rangefinder {

struct OptionSpec {
  const char* variable;  ///< environment variable
  const char* flag;      ///< of `rangefinder run`; "" where run offers none
  const char* fallback;  ///< value when the variable is not set
  bool is_switch;        ///< the flag takes no value and sets the variable to switch_value
  const char* switch_value;
  const char* help;
};

inline constexpr std::array kOptions{
    OptionSpec{"RANGEFINDER_OUT", "--out", "rangefinder-%p", false, "",
               "Folder of the trace. %p process id, %h host, %q{ENV} a variable, %r rank, %% a percent sign"},
    OptionSpec{"RANGEFINDER_COUNTERS", "--counters", "off", false, "",
               "DRAM and L2 bytes: off; sampled: every few microseconds, while launches overlap as always; "
               "exact: in "
               "counter ranges around launches; auto, which `rangefinder run` takes unless told otherwise: "
               "sampled if "
               "the GPU permits it, and not a word if it does not"},
    OptionSpec{"RANGEFINDER_SAMPLE_INTERVAL", "--sample-interval", "20", false, "",
               "Microseconds between two samples (5 to 10000)"},
    OptionSpec{"RANGEFINDER_SAMPLE_CPU", "--sample-cpu", "100", false, "",
               "Percent of a core that sampling one GPU may take; beyond, samples come less often, and the "
               "trace says so (1 to 400); 0: as much as it takes"},
    OptionSpec{"RANGEFINDER_METRICS", "--metrics", "bytes", false, "",
               "What exact counters measure: sets (bytes, memory, compute, roofline, stalls, coalescing) or "
               "metrics, separated by commas; `rangefinder metrics` lists them"},
    OptionSpec{
        "RANGEFINDER_EXACT_AT", "--exact-at", "launch", false, "",
        "A counter range for each launch, or for each NVTX range with all its launches: launch or range"},
    OptionSpec{
        "RANGEFINDER_EXACT_RANGE", "--exact-range", "", false, "",
        "Exact counters only inside paths like this: * any text within a level, ** any levels, ? a letter"},
    OptionSpec{
        "RANGEFINDER_EXACT_KERNEL", "--exact-kernel", "", false, "",
        "Exact counters only for kernels whose demangled name holds this regular expression (ECMAScript)"},
    OptionSpec{"RANGEFINDER_EXACT_SKIP", "--exact-skip", "", false, "",
               "No counter range for kernels with this in their name: those that wait for later work"},
    OptionSpec{"RANGEFINDER_EXACT_BATCH", "--exact-batch", "", false, "",
               "Counter ranges between two decodings (1 to 1024); 896, or 128 where metrics take turns"},
    OptionSpec{
        "RANGEFINDER_START", "--start", "on", false, "",
        "on: record from the first context on; off: load, and touch CUPTI only when a window is opened; "
        "ready: the same, but learn in which ranges the nodes of CUDA graphs are made"},
    OptionSpec{"RANGEFINDER_CAPTURE", "--capture", "", false, "",
               "Record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), in ranges "
               "(nvtx:GLOB[@domain]), in 20 ranges after 10 others (after:10,for:20, also behind nvtx:…), or "
               "for a time (after:10s,for:20s)"},
    OptionSpec{
        "RANGEFINDER_CAPTURE_END", "--capture-end", "", false, "",
        "How many windows --capture opens: stop (one), repeat:N, repeat [stop; cudaProfilerApi: repeat]"},
    OptionSpec{
        "RANGEFINDER_MONITOR", "--monitor", "off", false, "",
        "For programs that run for days: record GPU work in short windows, and count launches and NVTX "
        "ranges all the while; WINDOW/PERIOD, as in 100ms/10s, which `on` means, or off"},
    OptionSpec{"RANGEFINDER_CHILDREN", "--children", "on", false, "",
               "Also record programs that the program starts, in folders of their own: on or off"},
    OptionSpec{"RANGEFINDER_CONTROL", "--no-control", "on", true, "off",
               "No control socket: nobody can ask or change anything while the program runs"},
    OptionSpec{"RANGEFINDER_GRAPHS", "--graphs", "nodes", false, "",
               "Launches of CUDA graphs: a record of each node, by the range that made it, or of the launch "
               "as a whole, which costs next to nothing: nodes or whole"},
    OptionSpec{"RANGEFINDER_MEMORY", "--no-memory", "on", true, "off", "Leave out allocations and frees"},
    OptionSpec{"RANGEFINDER_EVENTS", "--no-events", "on", true, "off",
               "Leave out event records, stream waits and synchronisation"},
    OptionSpec{
        "RANGEFINDER_REDACT", "--redact", "off", true, "on",
        "Leave the program's arguments out of the trace, its summary and what the control socket tells"},
    OptionSpec{"RANGEFINDER_FOLD_DIGITS", "--fold-digits", "off", true, "on",
               "Count `step 12345` and `step 12346` as one module, `step #`"},
    OptionSpec{"RANGEFINDER_SEGMENT_MB", "--segment-mb", "256", false, "",
               "A new file of the trace after so many MiB (1 to 4096)"},
    OptionSpec{"RANGEFINDER_MAX_SIZE_MB", "--max-size-mb", "0", false, "",
               "Most MiB on disk for one process; 0: no bound"},
    OptionSpec{"RANGEFINDER_KEEP", "--keep", "first", false, "",
               "Which part to keep when --max-size-mb is reached: first or last"},
    OptionSpec{"RANGEFINDER_BUFFERS", "--buffers", "32", false, "",
               "Activity buffers, in 2 MiB (4 to 512); when all are in use records are dropped and counted"},
    OptionSpec{"RANGEFINDER_FLUSH_MS", "--flush-ms", "500", false, "",
               "How often what is complete goes to disk (50 to 60000)"},
    OptionSpec{"RANGEFINDER_SUMMARY_MS", "--summary-ms", "2000", false, "",
               "How often summary.json is rewritten (200 to 3600000); 0: only at the end"},
    OptionSpec{"RANGEFINDER_REPORT", "", "", false, "",
               "stderr, or a file: the heaviest modules as a table when the program ends"},
    OptionSpec{"RANGEFINDER_LOG", "--log", "", false, "",
               "What the library does, to stderr: trace, debug, info, warn"},
    OptionSpec{"RANGEFINDER_CUPTI", "--cupti", "", false, "",
               "The libcupti.so to use, instead of the one that is found"},
    OptionSpec{"RANGEFINDER_RECORD", "--record", "", false, "",
               "Also write a recording that `rangefinder-replay` turns into the trace again, to this file"},
    OptionSpec{"RANGEFINDER_FORCE", "", "off", false, "",
               "on: replace the trace that the folder holds already. `run --force` does so itself, before "
               "the program starts"},
    OptionSpec{"RANGEFINDER_NVTX_CHAIN", "", "", false, "",
               "Another NVTX library that is to see the calls too (set by `run` where one was there before)"},
    OptionSpec{"RANGEFINDER_MANIFEST", "", "", false, "",
               "File that gets a line with the trace's folder (set by `run`)"},
    OptionSpec{"RANGEFINDER_RUN_PID", "", "", false, "",
               "Process id of `rangefinder run`: who was started by others is a child (set by `run`)"},
    OptionSpec{"RANGEFINDER_TORCH_MODULES", "", "off", false, "",
               "on: NVTX ranges for PyTorch modules (set by `run --torch-modules`)"},
};

enum class CounterMode : std::uint8_t { off, sampled, exact };
enum class GraphTracing : std::uint8_t { nodes, whole };
enum class ExactAt : std::uint8_t { launch, range };
enum class StartMode : std::uint8_t { on, off, ready };

/// GPU work is recorded for window_ns at the beginning of each period.
struct MonitorRequest {
  std::int64_t window_ns = 0, period_ns = 0;  ///< 0: all the while
  [[nodiscard]] bool on() const noexcept { return period_ns != 0; }
};

[[nodiscard]] constexpr const char* counter_mode_text(CounterMode mode) noexcept {
  return mode == CounterMode::exact ? "exact" : mode == CounterMode::sampled ? "sampled" : "off";
}

/// The options of one process, checked.
struct Options {
  std::string out = "rangefinder-%p";
  CounterMode counters = CounterMode::off;
  bool counters_requested = true;  ///< false for auto: a refusal is no news to the user
  std::uint32_t sample_interval_us = 20;
  std::uint32_t sample_cpu_percent = 100;  ///< of one core, for each GPU; 0: no bound
  std::string metrics = "bytes";
  ExactAt exact_at = ExactAt::launch;
  std::string exact_range;        ///< glob over paths; empty: everywhere
  std::string exact_kernel;       ///< valid regular expression, or empty: all
  std::string exact_skip;         ///< valid regular expression, or empty
  std::uint32_t exact_batch = 0;  ///< 0: as the metrics want it
  StartMode start = StartMode::on;
  CaptureRequest capture;
  MonitorRequest monitor;
  bool control = true;
  bool children = true;
  std::int32_t run_pid = 0;  ///< 0: not known
  GraphTracing graphs = GraphTracing::nodes;
  bool memory = true;
  bool events = true;
  bool redact = false;
  bool fold_digits = false;
  std::uint64_t segment_bytes = std::uint64_t{256} << 20;
  std::uint64_t max_bytes = 0;  ///< 0: no bound
  bool keep_last = false;
  std::uint32_t buffers = 32;
  std::uint32_t flush_ms = 500;
  std::uint32_t summary_ms = 2000;
  std::string report;
  std::string log;
  std::string cupti;
  std::string record;
  bool force = false;
  std::string nvtx_chain;
  std::string manifest;
  /// One sentence for each variable that was not understood; its default is in use.
  std::vector<std::string> problems;
};

/// Reads RANGEFINDER_* out of `environment` (as `environ`: NAME=value, nullptr at the end).
/// Unknown names and bad values end up in `problems`, which name the nearest known one.
[[nodiscard]] Options read_options(const char* const* environment);

/// Whether the first window opens by itself, by the texts of RANGEFINDER_START and RANGEFINDER_CAPTURE;
/// nullptr: not set.
[[nodiscard]] bool starts_recording(const char* start, const char* capture) noexcept;

}  // namespace rangefinder
