// SPDX-License-Identifier: Apache-2.0
//
// The totals of a trace for reports: totals per path and kernel, their names, and the loss counts. Reads the
// trace once. Memory grows with the number of paths and names, not with the number of lines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/attribution/holds.h"
#include "profiler/attribution/path_totals.h"
#include "schema/record.h"
#include "tools/analysis/read/after_last_work.h"
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
  TotalsBuilder totals;  ///< of all selected data, in every path
  /// With --range: the selected paths, and totals of their work by kernel and copy.
  struct Rows {
    std::unordered_set<std::uint32_t> paths;
    TotalsBuilder totals;
  };
  std::optional<Rows> in_range;
  Holds holds;
  struct Gap {
    TimeNs start_ns = 0, end_ns = 0;
    std::string cause;
  };
  AfterLastWork after_last_work;  ///< of the whole trace, whatever is selected
  std::vector<Gap> gaps;          ///< another tool had CUPTI; in order of time

  std::uint64_t kernels = 0, copies = 0, memsets = 0;  ///< records
  std::uint64_t ranges = 0;
  std::uint64_t samples_lines = 0;                       ///< `samples` lines: SampledTrace reads them
  std::set<std::uint32_t> sample_intervals_ns;           ///< the intervals in use
  TimeNs last_ns = 0;                                    ///< the latest time in any line
  std::optional<EndRecord> end;                          ///< absent: the program was killed
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< from `end`, otherwise from the last heartbeat
  ReadSummary read;
  std::string first_broken;  ///< "file:line: what is wrong" of the first broken line

  /// TotalsBuilder::paths() of the selected paths. The row of path 0 is last; it is empty if --range is in
  /// use.
  [[nodiscard]] std::vector<PathTotals> rows() const;
  /// Whether the path is selected.
  [[nodiscard]] bool shows(std::uint32_t path) const;
  /// Totals by kernel and copy of the selected paths.
  [[nodiscard]] const TotalsBuilder& selected() const { return in_range ? in_range->totals : totals; }

  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// The innermost range's own name; "(unknown)" for a path without a path line.
  [[nodiscard]] const std::string& own_name(std::uint32_t path) const;
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
};

/// `selection`: the lines to count; nullptr: all. `observer` receives the same lines. Throws Missing if the
/// files cannot be read or are not a trace of this major version.
[[nodiscard]] TraceTotals load_trace(const TraceFolder& files, Selection* selection = nullptr,
                                     LineObserver* observer = nullptr);

}  // namespace rangefinder
