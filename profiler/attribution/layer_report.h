// SPDX-License-Identifier: Apache-2.0
//
// The layer report: renders summary.json as the table at the end of a run.
//
//   path                   calls  kernels  GPU time   share  DRAM read  DRAM write  DRAM ±       L2
//   model                     50   12,500   48.1 ms  98.2 %    12.3 GB     4.10 GB   2.1 %  31.0 GB
//   model/decoder             50    6,000   20.3 ms  41.4 %    …
//   (unattributed)                                               41 MB     3.10 MB           102 MB
//
//   12,500 kernels, 96 copies, 0 records lost.  Next:  rangefinder report rangefinder-4711
//
// A pure function: the injected library writes the same text for RANGEFINDER_REPORT.
// Uses only the standard library and nlohmann_json. A summary with missing or invalid
// fields gives a shorter report, never an exception.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/ledger_record.h"

namespace rangefinder {

struct LayerReportStyle {
  std::string folder;       ///< trace folder for the "Next:" command; empty: omit it
  std::size_t rows = 15;    ///< maximum number of paths shown
  std::size_t width = 110;  ///< of a line; 0: unlimited
  bool colour = false;
};

/// Ends with a newline.
[[nodiscard]] std::string layer_report(const nlohmann::json& summary, const LayerReportStyle& style);

/// GPU time of a whole summary: outermost paths and work outside any range.
[[nodiscard]] std::uint64_t total_gpu_ns(const nlohmann::json& summary);

/// "Copies of known size: 12, measured 100.1 % of their bytes." with a newline; "" without such copies.
[[nodiscard]] std::string truth_line(const CopyTruth& truth);

/// One line per nonzero cause of a "loss" object:
/// "  41,207  events_dropped: host events dropped because …". Empty if nothing was lost.
[[nodiscard]] std::vector<std::string> loss_lines(const nlohmann::json& loss);

}  // namespace rangefinder
