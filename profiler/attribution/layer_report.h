// SPDX-License-Identifier: Apache-2.0
//
// The layer report: renders a summary as the table at the end of a run.
//
//   path                   calls  kernels  GPU time   share  DRAM read  DRAM write  DRAM ±       L2
//   model                     50   12,500   48.1 ms  98.2 %    12.3 GB     4.10 GB   2.1 %  31.0 GB
//   model/decoder             50    6,000   20.3 ms  41.4 %    …
//   (unattributed)                                               41 MB     3.10 MB           102 MB
//
//   12,500 kernels, 96 copies, 0 records lost.  Next:  rangefinder report rangefinder-4711
//
// A pure function. The injected library fills the struct from its totals (summary.h), for
// RANGEFINDER_REPORT; the tools fill it from summary.json (tools/rangefinder/layer_summary_reader.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/ledger_record.h"
#include "schema/loss.h"

namespace rangefinder {

/// A path, or work outside any range. Absent values were not measured.
struct LayerRow {
  std::string path;
  std::uint64_t depth = 0;  ///< 1: outermost
  std::optional<std::uint64_t> calls;
  std::uint64_t kernels = 0, gpu_ns = 0;
  std::optional<std::uint64_t> dram_read_bytes, dram_write_bytes, l2_bytes, carry_over_bytes;
  /// Of sampled bytes: read plus written, and each column.
  std::optional<double> bytes_error_pct, read_error_pct, write_error_pct, l2_error_pct;
  std::optional<double> dram_peak_share;
  std::string limiter;
  bool partial = false;      ///< the bytes lack some of the row's launches or time
  bool inseparable = false;  ///< its work always runs beside the same other work
};

using LossCounts = std::map<std::string, std::uint64_t>;  // by cause

/// What the report shows of a summary. Texts may have any bytes.
struct LayerSummary {
  std::vector<LayerRow> modules;
  LayerRow outside;
  struct Samples {
    std::uint64_t count = 0;
    bool unmixed = false;  ///< of at least one column
    LayerRow unattributed;
  };
  std::optional<Samples> samples;  ///< sampled mode
  CopyTruth truth;
  std::string counters_reason;  ///< why counters were refused
  std::uint64_t monitor_windows = 0, monitor_window_ns = 0;
  std::uint64_t monitor_observed_ns = 0;  ///< 0: not monitor mode
  std::uint64_t copies = 0;
  LossCounts loss;
  bool final = true;
};

struct LayerReportStyle {
  std::string folder;       ///< trace folder for commands; empty: unknown
  bool next = true;         ///< end with the command that shows more, if the folder is known
  std::size_t rows = 15;    ///< maximum number of paths shown
  std::size_t width = 110;  ///< of a line; 0: unlimited
  bool colour = false;
};

/// Ends with a newline.
[[nodiscard]] std::string layer_report(const LayerSummary& summary, const LayerReportStyle& style);

/// GPU time of a whole summary: outermost paths and work outside any range.
[[nodiscard]] std::uint64_t total_gpu_ns(const LayerSummary& summary);

/// "Copies of known size: 12, measured 100.1 % of their bytes." with a newline; "" without such copies.
[[nodiscard]] std::string truth_line(const CopyTruth& truth);

[[nodiscard]] LossCounts loss_counts(const std::array<std::uint64_t, kLossCauses.size()>& loss);

/// One line per nonzero cause: "  41,207  events_dropped: host events dropped because …".
[[nodiscard]] std::vector<std::string> loss_lines(const LossCounts& loss);

}  // namespace rangefinder
