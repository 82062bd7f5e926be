// SPDX-License-Identifier: Apache-2.0
//
// A whole trace as what reports need of it: totals per path and kernel, the names to
// show them by, what was lost. Reads everything once; memory grows with the number of
// paths and names, not of lines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/attribution/path_totals.h"
#include "schema/record.h"
#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/read/trace_reader.h"

namespace rangefinder {

class LineObserver;
class Selection;

struct TraceTotals {
  TraceFolder files;
  Header header;
  std::vector<GpuRecord> gpus;
  std::unordered_map<std::uint32_t, PathRecord> paths;
  std::unordered_map<std::uint32_t, std::string> domains;  ///< names of NVTX domains
  std::unordered_map<std::uint32_t, KernelNameRecord> kernel_names;
  TotalsBuilder totals;

  std::uint64_t kernels = 0, copies = 0, memsets = 0;  ///< records
  std::uint64_t ranges = 0;
  std::uint64_t samples_lines = 0;                       ///< `samples` lines: SampledTrace reads them
  std::set<std::uint32_t> sample_intervals_ns;           ///< that were in use
  TimeNs last_ns = 0;                                    ///< latest time that any line mentions
  std::optional<EndRecord> end;                          ///< absent: the program was killed
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< of the end, else of the last heartbeat
  ReadSummary read;
  std::string first_broken;  ///< "file:line: what is wrong" of the first broken line

  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// The innermost range's own name; "" for a path that was never named.
  [[nodiscard]] const std::string& own_name(std::uint32_t path) const;
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
};

/// `selection`: which lines count; nullptr: all. `observer` sees the same lines. Throws Missing when the
/// files cannot be read or are no trace of this major version.
[[nodiscard]] TraceTotals load_trace(const TraceFolder& files, Selection* selection = nullptr,
                                     LineObserver* observer = nullptr);

}  // namespace rangefinder
