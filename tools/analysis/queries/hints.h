// SPDX-License-Identifier: Apache-2.0
//
// Hints: why a number is missing, and the recording that would have it. One function of what was recorded
// makes each, so that no hint recommends what the run already had.
//
//   header, samples of the trace ─▶ no_bytes_hint, bytes_option, metrics_option
//   samples and bounds of rows ───▶ SampleNeed ─▶ few_samples_hint; NoNumbers ─▶ remark below a table
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {

/// What a trace has of counters.
struct RecordedCounters {
  explicit RecordedCounters(const TraceTotals& trace)
      : mode(trace.header.counters),
        refused(!trace.header.counters_reason.empty()),
        samples(trace.samples_lines != 0),
        sampling_ended(trace.sampling_ended) {}
  RecordedCounters(std::string_view counters, bool has_samples, std::string_view ended = {})
      : mode(counters), refused(counters == "refused"), samples(has_samples), sampling_ended(ended) {}

  [[nodiscard]] bool off() const noexcept { return !refused && !exact() && !sampled(); }
  [[nodiscard]] bool exact() const noexcept { return mode == "exact"; }
  [[nodiscard]] bool sampled() const noexcept { return mode == "sampled"; }

  std::string_view mode;  ///< Header::counters
  bool refused;           ///< the footer of a report has the reason
  bool samples;
  std::string_view sampling_ended;  ///< TraceNames::sampling_ended
};

/// Of work without bytes: "not measured: record with --counters sampled".
[[nodiscard]] std::string no_bytes_hint(const RecordedCounters& recorded);
/// Follows "needs": "--counters sampled or exact".
[[nodiscard]] std::string bytes_option(const RecordedCounters& recorded);
/// What adds the metric sets to a recording: "--counters exact --metrics memory".
[[nodiscard]] std::string metrics_option(const RecordedCounters& recorded, std::string_view sets);

/// Of a trace without layers. `torch_modules`: it has modules of PyTorch.
[[nodiscard]] std::string no_layers_hint(bool torch_modules);

/// The samples of rows whose bytes are hidden, and how many more would show them. DRAM read plus written.
struct SampleNeed {
  /// Of work that no row before contains. Without effect if it has no sampled bytes.
  void add(const RowValues& values, const PathTotals& row);
  /// A run must be at least this many times longer to show the bytes. Absent: unknown, or no run is long
  /// enough, because the part of the bound that grows with the bytes is above them.
  [[nodiscard]] std::optional<double> run() const noexcept;

  std::uint64_t samples = 0;  ///< that overlap the work
  double bytes = 0, error = 0, noise = 0;
  double min_run = 1;  ///< for rates to be fitted
};

/// Of one line: "too few samples overlap it: 3; run at least 20 times longer".
[[nodiscard]] std::string few_samples_hint(const SampleNeed& need);

/// The rows of a table whose bytes are hidden because the error bound is above 100 %.
class NoNumbers {
 public:
  /// `reason`: why there is no DRAM number (BoundedText::error); "": there is one, another is hidden.
  void add(const SampleNeed& need, std::string_view reason);
  /// Lines below the table; "": every row has its number.
  [[nodiscard]] std::string remark() const;

 private:
  bool any_ = false, inseparable_ = false;
  std::uint64_t short_ = 0, shown_later_ = 0;  // rows with too few samples; those that a longer run shows
  std::uint64_t least_ = 0, most_ = 0;         // samples
  double first_run_ = 0, last_run_ = 0;
};

}  // namespace rangefinder
