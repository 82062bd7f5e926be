// SPDX-License-Identifier: Apache-2.0
//
// The options a user can set. One table: the library's parser, the flags of `rangefinder run`,
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
  const char* flag;      ///< of `rangefinder run`; "": no flag
  const char* fallback;  ///< value when the variable is not set
  bool is_switch;        ///< the flag takes no value and sets the variable to switch_value
  const char* switch_value;
  const char* help;
};

inline constexpr std::array kOptions{
    OptionSpec{
        "RANGEFINDER_OUT", "--out", "rangefinder-%p", false, "",
        "Trace folder. %p is the process id, %h the host, %q{ENV} an environment variable, %r the rank, "
        "%% a percent sign"},
    OptionSpec{
        "RANGEFINDER_COUNTERS", "--counters", "off", false, "",
        "How to count DRAM and L2 bytes: off, sampled (every few microseconds; launches still overlap), "
        "exact (counter ranges around launches) or auto (sampled if the GPU permits it, else off without "
        "a message). `rangefinder run` uses auto by default; the library without `run` uses off"},
    OptionSpec{"RANGEFINDER_SAMPLE_INTERVAL", "--sample-interval", "20", false, "",
               "Microseconds between two samples (5 to 10000). With --monitor the default is 10000"},
    OptionSpec{
        "RANGEFINDER_SAMPLE_CPU", "--sample-cpu", "100", false, "",
        "CPU limit for sampling one GPU, in percent of a core (1 to 400; 0: no limit). Above the limit, "
        "samples become less frequent and the trace records the new interval"},
    OptionSpec{"RANGEFINDER_METRICS", "--metrics", "bytes", false, "",
               "What exact counters measure: sets (bytes, memory, compute, roofline, stalls, coalescing) or "
               "metrics, separated by commas. `rangefinder metrics` lists them"},
    OptionSpec{"RANGEFINDER_EXACT_AT", "--exact-at", "launch", false, "",
               "Unit of exact counting: launch, or range (each NVTX range together with all its launches)"},
    OptionSpec{
        "RANGEFINDER_EXACT_RANGE", "--exact-range", "", false, "",
        "Exact counters only in NVTX paths that match: * is any text within a level, ** any levels, ? one "
        "character"},
    OptionSpec{
        "RANGEFINDER_EXACT_KERNEL", "--exact-kernel", "", false, "",
        "Exact counters only for kernels whose demangled name contains a match of this regular expression "
        "(ECMAScript)"},
    OptionSpec{"RANGEFINDER_EXACT_SKIP", "--exact-skip", "", false, "",
               "No exact counters for kernels whose demangled name contains a match of this regular "
               "expression. Needed for kernels that wait for work launched later"},
    OptionSpec{
        "RANGEFINDER_EXACT_BATCH", "--exact-batch", "", false, "",
        "Counter ranges collected before CUPTI decodes them (1 to 1024). The default is 896, or 128 if "
        "the metrics need several passes"},
    OptionSpec{
        "RANGEFINDER_START", "--start", "on", false, "",
        "on: record from the first CUDA context; off: use CUPTI only while a window is open; ready: like "
        "off, but also track which NVTX ranges create the nodes of CUDA graphs"},
    OptionSpec{
        "RANGEFINDER_CAPTURE", "--capture", "", false, "",
        "Record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), in NVTX ranges "
        "(nvtx:GLOB[@domain]), in 20 ranges after skipping 10 (after:10,for:20, also after nvtx:…), or "
        "for a time (after:10s,for:20s)"},
    OptionSpec{
        "RANGEFINDER_CAPTURE_END", "--capture-end", "", false, "",
        "How many windows --capture opens: stop (one), repeat:N or repeat (no limit). The default is stop, "
        "and repeat for cudaProfilerApi"},
    OptionSpec{
        "RANGEFINDER_MONITOR", "--monitor", "off", false, "",
        "For programs that run for days: record GPU work in short windows, and count launches and NVTX "
        "ranges all the time. WINDOW/PERIOD, on (100ms/10s) or off"},
    OptionSpec{"RANGEFINDER_CHILDREN", "--children", "on", false, "",
               "Also record the processes that the program starts, each in its own folder: on or off"},
    OptionSpec{"RANGEFINDER_CONTROL", "--no-control", "on", true, "off",
               "Open no control socket: the recording cannot be queried or changed while the program runs"},
    OptionSpec{"RANGEFINDER_GRAPHS", "--graphs", "nodes", false, "",
               "CUDA graph launches: nodes (one record a node, in the range that created the node) or whole "
               "(one record a launch, at almost no cost)"},
    OptionSpec{"RANGEFINDER_MEMORY", "--no-memory", "on", true, "off", "Do not record allocations and frees"},
    OptionSpec{"RANGEFINDER_EVENTS", "--no-events", "on", true, "off",
               "Do not record event records, stream waits and synchronisation"},
    OptionSpec{
        "RANGEFINDER_REDACT", "--redact", "off", true, "on",
        "Omit the program's arguments from the trace, its summary and the answers of the control socket"},
    OptionSpec{"RANGEFINDER_FOLD_DIGITS", "--fold-digits", "off", true, "on",
               "Count `step 12345` and `step 12346` as one module, `step #`"},
    OptionSpec{"RANGEFINDER_SEGMENT_MB", "--segment-mb", "256", false, "",
               "Start a new trace file after this many MiB (1 to 4096)"},
    OptionSpec{"RANGEFINDER_MAX_SIZE_MB", "--max-size-mb", "0", false, "",
               "Maximum size on disk in MiB, for each process; 0: no limit"},
    OptionSpec{"RANGEFINDER_KEEP", "--keep", "first", false, "",
               "Part of the trace to keep when --max-size-mb is reached: first or last"},
    OptionSpec{
        "RANGEFINDER_BUFFERS", "--buffers", "32", false, "",
        "CUPTI activity buffers, in units of 2 MiB (4 to 512). While all are in use, records are dropped and "
        "counted"},
    OptionSpec{"RANGEFINDER_FLUSH_MS", "--flush-ms", "500", false, "",
               "Milliseconds between two writes of complete data to disk (50 to 60000)"},
    OptionSpec{"RANGEFINDER_SUMMARY_MS", "--summary-ms", "2000", false, "",
               "Milliseconds between two updates of summary.json (200 to 3600000); 0: only at the end"},
    OptionSpec{
        "RANGEFINDER_REPORT", "", "", false, "",
        "Where to print a table of the modules with the most GPU time when the program ends: stderr or a "
        "file. By default nowhere"},
    OptionSpec{
        "RANGEFINDER_LOG", "--log", "", false, "",
        "Log level of the library on stderr: trace, debug, info, warn or error. By default there is no log"},
    OptionSpec{"RANGEFINDER_CUPTI", "--cupti", "", false, "",
               "Path of the libcupti.so to use. By default the library searches for one"},
    OptionSpec{"RANGEFINDER_RECORD", "--record", "", false, "",
               "Also write a recording to this file. `rangefinder-replay` turns it into a trace again"},
    OptionSpec{
        "RANGEFINDER_FORCE", "", "off", false, "",
        "on: replace a trace that is already in the folder. `run --force` does this itself, before the "
        "program starts"},
    OptionSpec{"RANGEFINDER_NVTX_CHAIN", "", "", false, "",
               "Another NVTX injection library that also receives the calls. `run` sets it if "
               "NVTX_INJECTION64_PATH was set"},
    OptionSpec{"RANGEFINDER_MANIFEST", "", "", false, "",
               "File to which the library appends the trace folder. Set by `run`"},
    OptionSpec{
        "RANGEFINDER_RUN_PID", "", "", false, "",
        "Process id of `rangefinder run`. A process with another parent counts as a child. Set by `run`"},
    OptionSpec{"RANGEFINDER_TORCH_MODULES", "", "off", false, "",
               "on: NVTX ranges for PyTorch modules. Set by `run --torch-modules`"},
};

enum class CounterMode : std::uint8_t { off, sampled, exact };
enum class GraphTracing : std::uint8_t { nodes, whole };
enum class ExactAt : std::uint8_t { launch, range };
enum class StartMode : std::uint8_t { on, off, ready };

/// GPU work is recorded for window_ns at the beginning of each period.
struct MonitorRequest {
  std::int64_t window_ns = 0, period_ns = 0;  ///< 0: monitor mode is off
  [[nodiscard]] bool on() const noexcept { return period_ns != 0; }
};

[[nodiscard]] constexpr const char* counter_mode_text(CounterMode mode) noexcept {
  return mode == CounterMode::exact ? "exact" : mode == CounterMode::sampled ? "sampled" : "off";
}

/// The options of one process, checked.
struct Options {
  std::string out = "rangefinder-%p";
  CounterMode counters = CounterMode::off;
  bool counters_requested = true;  ///< false for auto: a refusal is not reported
  std::uint32_t sample_interval_us = 20;
  std::uint32_t sample_cpu_percent = 100;  ///< of one core, for each GPU; 0: no limit
  std::string metrics = "bytes";
  ExactAt exact_at = ExactAt::launch;
  std::string exact_range;        ///< glob over paths; empty: everywhere
  std::string exact_kernel;       ///< valid regular expression, or empty: all
  std::string exact_skip;         ///< valid regular expression, or empty
  std::uint32_t exact_batch = 0;  ///< 0: chosen by the metrics
  StartMode start = StartMode::on;
  CaptureRequest capture;
  MonitorRequest monitor;
  bool control = true;
  bool children = true;
  std::int32_t run_pid = 0;  ///< 0: unknown
  GraphTracing graphs = GraphTracing::nodes;
  bool memory = true;
  bool events = true;
  bool redact = false;
  bool fold_digits = false;
  std::uint64_t segment_bytes = std::uint64_t{256} << 20;
  std::uint64_t max_bytes = 0;  ///< 0: no limit
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
  /// One sentence for each variable that was not understood. The default is used instead.
  std::vector<std::string> problems;
};

/// Reads RANGEFINDER_* from `environment` (like `environ`: NAME=value, nullptr at the end).
/// Unknown names and bad values are reported in `problems`; an unknown name with the nearest known one.
[[nodiscard]] Options read_options(const char* const* environment);

/// Whether recording starts without a request. `start` and `capture`: the texts of RANGEFINDER_START and
/// RANGEFINDER_CAPTURE; nullptr: not set.
[[nodiscard]] bool starts_recording(const char* start, const char* capture) noexcept;

}  // namespace rangefinder
