// SPDX-License-Identifier: Apache-2.0
//
// The options a user can set, one row each. The members of Options, the flags of `rangefinder run`, their
// help and completion, docs/reference/options.md and the warning about unknown variables are made from it.
//
//   environment ─▶ read_options() ─▶ value of the row: checks the text, stores it in a member of Options
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "profiler/options/options.h"

namespace rangefinder {

/// Stores a number, the index of a word (of a bool: 0 is true), or a text.
using StoreOption = void (*)(Options& options, std::uint64_t number, std::string_view text);

template <auto kMember>
void store(Options& options, std::uint64_t number, std::string_view text) {
  auto& member = options.*kMember;
  using Member = std::remove_reference_t<decltype(member)>;
  if constexpr (std::is_same_v<Member, std::string>) {
    member = text;
  } else if constexpr (std::is_same_v<Member, bool>) {
    member = number == 0;
  } else {
    member = static_cast<Member>(number);
  }
}

inline void store_counters(Options& options, std::uint64_t word, std::string_view text) {
  options.counters_requested = text != "auto";
  options.gpm = text == "gpm";
  options.counters = text == "auto" ? CounterMode::sampled
                     : options.gpm  ? CounterMode::off
                                    : static_cast<CounterMode>(word);
}

/// Any text.
struct TextValue {
  std::string Options::*member;
};

/// A regular expression (ECMAScript).
struct PatternValue {
  std::string Options::*member;
};

struct WordValue {
  StoreOption store;
  std::array<std::string_view, 5> words;  ///< unused ones are empty
  std::string_view unlisted = {};         ///< also understood; not named in messages
};

template <auto kMember>
inline constexpr WordValue kOnOrOff{store<kMember>, {"on", "off"}};

/// A whole number from `min` to `max`, stored as a multiple of `unit`.
struct NumberValue {
  StoreOption store;
  std::uint64_t min, max, unit = 1;
  bool or_zero = false;
};

/// Their forms are those of CaptureRequest and MonitorRequest.
struct CaptureValue {};
struct CaptureEndValue {};
struct MonitorValue {};

/// What a variable may be set to, and the member that it sets. monostate: it has no member, and is read
/// where it is used.
using OptionValue = std::variant<std::monostate, TextValue, PatternValue, WordValue, NumberValue,
                                 CaptureValue, CaptureEndValue, MonitorValue>;

struct OptionRow {
  const char* variable;  ///< environment variable
  const char* flag;      ///< of `rangefinder run`; "": no flag
  const char* group;     ///< heading in --help and in docs/reference/options.md
  const char* fallback;  ///< value when the variable is not set
  OptionValue value;
  const char* help;                   ///< see help_text()
  const char* switch_value = "";      ///< what the flag sets the variable to; "": the flag takes a value
  const char* monitor_fallback = "";  ///< takes the place of `fallback` in monitor mode; "": no other
  const char* run_fallback = "";      ///< takes the place of `fallback` under `rangefinder run`; "": no other
};

/// The help of `row`. {values} stands for its limits or words, {default} and {monitor} for its defaults.
[[nodiscard]] std::string help_text(const OptionRow& row);

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline constexpr const char* kOutput = "Output";
inline constexpr const char* kCounters = "Counters";
inline constexpr const char* kStartAndStop = "Start and stop";
inline constexpr const char* kRecorded = "What is recorded";
inline constexpr const char* kProcesses = "Ranks and child processes";
inline constexpr const char* kLibrary = "The library";

/// Rows of one group stand together.
inline constexpr auto kOptions = std::to_array<OptionRow>({
    {"RANGEFINDER_OUT", "--out", kOutput, "rangefinder-%p", TextValue{&Options::out},
     "Trace folder. %p is the process id, %h the host, %q{ENV} an environment variable, %r the rank, "
     "%% a percent sign"},
    {"RANGEFINDER_REDACT", "--redact", kOutput, "off", kOnOrOff<&Options::redact>,
     "Omit the program's arguments from the trace, its summary and the answers of the control socket, and "
     "the source lines of PyTorch modules, of generated kernels and of host stacks",
     "on"},
    {"RANGEFINDER_SEGMENT_MB", "--segment-mb", kOutput, "256",
     NumberValue{store<&Options::segment_bytes>, 1, 4096, kMiB},
     "Start a new trace file after this many MiB ({values})"},
    {"RANGEFINDER_MAX_SIZE_MB", "--max-size-mb", kOutput, "0",
     NumberValue{store<&Options::max_bytes>, 0, std::uint64_t{1} << 30, kMiB},
     "Maximum size on disk in MiB, for each process; 0: no limit"},
    {"RANGEFINDER_KEEP", "--keep", kOutput, "first", WordValue{store<&Options::keep_last>, {"last", "first"}},
     "Part of the trace to keep when --max-size-mb is reached: {values}"},
    {"RANGEFINDER_REPORT", "", kOutput, "", TextValue{&Options::report},
     "Where to print a table of the modules with the most GPU time when the program ends: stderr or a "
     "file. By default nowhere"},
    {"RANGEFINDER_FORCE", "", kOutput, "off", kOnOrOff<&Options::force>,
     "on: replace a trace that is already in the folder. `run --force` does this itself, before the "
     "program starts"},
    {"RANGEFINDER_COUNTERS", "--counters", kCounters, "off",
     WordValue{store_counters, {"off", "sampled", "exact", "gpm"}, "auto"},
     "How to count DRAM and L2 bytes: off, sampled (every few microseconds; launches still overlap), "
     "exact (counter ranges around launches), gpm (NVML's DRAM bytes ten times a second, for iterations and "
     "modules of 100 ms and more; Hopper and later) or auto (sampled where the GPU permits it, else gpm; "
     "starts "
     "0.6 s after the first GPU work, which does not wait)",
     "", "", "auto"},
    {"RANGEFINDER_SAMPLE_INTERVAL", "--sample-interval", kCounters, "20",
     NumberValue{store<&Options::sample_interval_us>, 5, 10'000},
     "Microseconds between two samples ({values}). With --monitor the default is {monitor}", "", "10000"},
    {"RANGEFINDER_SAMPLE_CPU", "--sample-cpu", kCounters, "100",
     NumberValue{store<&Options::sample_cpu_percent>, 0, 400},
     "CPU limit for sampling one GPU, in percent of a core ({values}; 0: no limit). Above the limit, "
     "samples become less frequent and the trace records the new interval"},
    {"RANGEFINDER_METRICS", "--metrics", kCounters, "bytes", TextValue{&Options::metrics},
     "What exact counters measure: sets (bytes, speed-of-light, memory, occupancy, stalls, pipes, "
     "roofline, all) or metrics, separated by commas. `rangefinder metrics` lists them"},
    {"RANGEFINDER_EXACT_AT", "--exact-at", kCounters, "launch",
     WordValue{store<&Options::exact_at>, {"launch", "range"}},
     "Unit of exact counting: launch, or range (each NVTX range together with all its launches)"},
    {"RANGEFINDER_EXACT_RANGE", "--exact-range", kCounters, "", TextValue{&Options::exact_range},
     "Exact counters only in NVTX ranges that match, and below them: decoder at any level, model/decoder "
     "from the outermost one; * ** ? as in docs/reference/names.md, Patterns"},
    {"RANGEFINDER_EXACT_KERNEL", "--exact-kernel", kCounters, "", PatternValue{&Options::exact_kernel},
     "Exact counters only for kernels whose demangled name contains a match of this regular expression "
     "(ECMAScript)"},
    {"RANGEFINDER_EXACT_SKIP", "--exact-skip", kCounters, "", PatternValue{&Options::exact_skip},
     "No exact counters for kernels whose demangled name contains a match of this regular "
     "expression. Needed for kernels that wait for work launched later"},
    {"RANGEFINDER_EXACT_BATCH", "--exact-batch", kCounters, "",
     NumberValue{store<&Options::exact_batch>, 1, 1024},
     "Counter ranges collected before CUPTI decodes them ({values}). The default is 896, or 128 if "
     "the metrics need several passes"},
    {"RANGEFINDER_START", "--start", kStartAndStop, "on",
     WordValue{store<&Options::start>, {"on", "off", "ready"}},
     "on: record from the first CUDA context; off: use CUPTI only while a window is open; ready: like "
     "off, but also track which NVTX ranges create the nodes of CUDA graphs"},
    {"RANGEFINDER_CAPTURE", "--capture", kStartAndStop, "", CaptureValue{},
     "Record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), in NVTX ranges "
     "(nvtx:GLOB[@domain], GLOB as in --exact-range), in 20 ranges after skipping 10 (after:10,for:20, also "
     "after nvtx:…), or "
     "for a time (after:10s,for:20s)"},
    {"RANGEFINDER_CAPTURE_END", "--capture-end", kStartAndStop, "", CaptureEndValue{},
     "How many windows --capture opens: stop (one), repeat:N or repeat (no limit). The default is stop, "
     "and repeat for cudaProfilerApi"},
    {"RANGEFINDER_MONITOR", "--monitor", kStartAndStop, "off", MonitorValue{},
     "For programs that run for days: record GPU work in short windows, and count launches and NVTX "
     "ranges all the time. WINDOW/PERIOD, on (100ms/10s) or off"},
    {"RANGEFINDER_CONTROL", "--no-control", kStartAndStop, "on", kOnOrOff<&Options::control>,
     "Open no control socket: the recording cannot be queried or changed while the program runs", "off"},
    {"RANGEFINDER_GRAPHS", "--graphs", kRecorded, "nodes",
     WordValue{store<&Options::graphs>, {"nodes", "whole"}},
     "CUDA graph launches: nodes (one record a node, in the range that created the node) or whole "
     "(one record a launch, at almost no cost)"},
    {"RANGEFINDER_MEMORY", "--no-memory", kRecorded, "on", kOnOrOff<&Options::memory>,
     "Do not record allocations and frees", "off", "off"},
    {"RANGEFINDER_EVENTS", "--no-events", kRecorded, "on", kOnOrOff<&Options::events>,
     "Do not record event records, stream waits and synchronisation", "off", "off"},
    {"RANGEFINDER_CONDITIONS", "--no-conditions", kRecorded, "on", kOnOrOff<&Options::conditions>,
     "Do not record the clocks, power, temperature and load of the GPUs and the resources of the process, "
     "ten "
     "times a second",
     "off"},
    {"RANGEFINDER_STACKS", "--stacks", kRecorded, "on", kOnOrOff<&Options::stacks>,
     "Sample the call stacks of Python threads, a hundred times a second: which function runs while the GPU "
     "waits. CPython 3.9 to 3.14: {values}"},
    {"RANGEFINDER_FOLD_DIGITS", "--fold-digits", kRecorded, "off", kOnOrOff<&Options::fold_digits>,
     "Count `step 12345` and `step 12346` as one module, `step #`", "on"},
    {"RANGEFINDER_INHERIT", "--inherit", kRecorded, "pt_autograd_*", TextValue{&Options::inherit},
     "Threads of these names (globs, separated by commas) take the range of the one thread that has ranges "
     "open, as PyTorch's backward pass does; off: none"},
    {"RANGEFINDER_COMMUNICATION", "--communication", kRecorded, "", PatternValue{&Options::communication},
     "Kernels whose demangled name contains a match of this regular expression communicate, as those of NCCL "
     "do: they may wait for other ranks, and are no work of their own"},
    {"RANGEFINDER_TORCH_MODULES", "", kRecorded, "off", std::monostate{},
     "on: NVTX ranges for PyTorch modules; memory: also their allocations. Set by `run --torch-modules` and "
     "`--torch-memory`"},
    {"RANGEFINDER_CHILDREN", "--children", kProcesses, "on", kOnOrOff<&Options::children>,
     "Also record the processes that the program starts, each in its own folder: {values}"},
    {"RANGEFINDER_BUFFERS", "--buffers", kLibrary, "32", NumberValue{store<&Options::buffers>, 4, 512},
     "CUPTI activity buffers, in units of 2 MiB ({values}). While all are in use, records are dropped and "
     "counted"},
    {"RANGEFINDER_FLUSH_MS", "--flush-ms", kLibrary, "500",
     NumberValue{store<&Options::flush_ms>, 50, 60'000},
     "Milliseconds between two writes of complete data to disk ({values})"},
    {"RANGEFINDER_SUMMARY_MS", "--summary-ms", kLibrary, "2000",
     NumberValue{store<&Options::summary_ms>, 200, 3'600'000, 1, true},
     "Milliseconds between two updates of summary.json ({values}); 0: only at the end"},
    {"RANGEFINDER_LOG", "--log", kLibrary, "",
     WordValue{store<&Options::log>, {"trace", "debug", "info", "warn", "error"}},
     "Log level of the library on stderr: {values}. By default there is no log"},
    {"RANGEFINDER_CUPTI", "--cupti", kLibrary, "", TextValue{&Options::cupti},
     "Path of the libcupti.so to use. By default the library searches for one"},
    {"RANGEFINDER_CUPTI_FOLDER", "", kLibrary, "", TextValue{&Options::cupti_folder},
     "Folder of libcupti.so.13 in the Python environment of `rangefinder`. Searched after the copies of "
     "the program and before the toolkit. Set by the command of the Python package"},
    {"RANGEFINDER_RECORD", "--record", kLibrary, "", TextValue{&Options::record},
     "Also write a recording to this file. `rangefinder-replay` turns it into a trace again"},
    {"RANGEFINDER_NVTX_CHAIN", "", kLibrary, "", TextValue{&Options::nvtx_chain},
     "Another NVTX injection library that also receives the calls. `run` sets it if "
     "NVTX_INJECTION64_PATH was set"},
    {"RANGEFINDER_MANIFEST", "", kLibrary, "", TextValue{&Options::manifest},
     "File to which the library appends the trace folder. Set by `run`"},
    {"RANGEFINDER_RUN_PID", "", kLibrary, "", NumberValue{store<&Options::run_pid>, 1, 0x7fff'ffff},
     "Process id of `rangefinder run`. A process with another parent counts as a child. Set by `run`"},
});

}  // namespace rangefinder
