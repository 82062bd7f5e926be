// SPDX-License-Identifier: Apache-2.0
//
// The options of a process. option_table.h states each of them: its variable, default, limits and help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/options/capture_request.h"

namespace rangefinder {

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

/// The options of one process, checked. A new object has the defaults of kOptions.
struct Options {
  Options();

  std::string out;
  CounterMode counters{};
  bool counters_requested{};  ///< false for auto: a refusal is not reported, and NVML counts instead
  bool gpm{};                 ///< NVML counts DRAM bytes; `counters` is off
  std::uint32_t sample_interval_us{};
  std::uint32_t sample_cpu_percent{};  ///< of one core, for each GPU; 0: no limit
  std::string metrics;
  ExactAt exact_at{};
  std::string exact_range;                              ///< profiler/base/path_glob.h; empty: everywhere
  std::string exact_kernel, exact_skip, communication;  ///< valid regular expressions, or empty
  std::uint32_t exact_batch{};                          ///< 0: chosen by the metrics
  StartMode start{};
  CaptureRequest capture;
  MonitorRequest monitor;
  std::int32_t run_pid{};  ///< 0: unknown
  GraphTracing graphs{};
  bool control{}, children{}, memory{}, events{}, conditions{}, stacks{}, redact{}, fold_digits{},
      keep_last{}, force{};
  std::uint64_t segment_bytes{}, max_bytes{};  ///< 0: no limit
  std::uint32_t buffers{}, flush_ms{}, summary_ms{};
  std::string report, log, cupti, cupti_folder, record, nvtx_chain, manifest, inherit;
  /// One sentence for each variable that was not understood. The default is used instead.
  std::vector<std::string> problems;

  /// Whether recording starts without a request.
  [[nodiscard]] bool starts_recording() const noexcept { return start == StartMode::on && capture.empty(); }
};

/// Reads RANGEFINDER_* from `environment` (like `environ`: NAME=value, nullptr at the end).
/// Unknown names and bad values are reported in `problems`; an unknown name with the nearest known one.
[[nodiscard]] Options read_options(const char* const* environment);

}  // namespace rangefinder
