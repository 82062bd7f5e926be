// SPDX-License-Identifier: Apache-2.0
//
// The lines of a trace that a report uses: --range, --kernel, --iterations, --window.
//
//   lines ─▶ Selection::takes ─┬─▶ true: totals and sections receive the line
//                              └─▶ false: the line is ignored
//
// Lines that define names are always taken. GPU work is selected by the path and range of its launch and by
// its start on the GPU; host work by its own path and start. --kernel drops all GPU work except kernels with
// a matching name.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "schema/read_line.h"
#include "tools/analysis/read/iterations.h"
#include "tools/analysis/read/sample_window.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

/// [first, last) of counts or times; a bound without a value is open.
template <typename Value>
struct HalfOpen {
  std::optional<Value> first, last;
  [[nodiscard]] bool holds(Value value) const {
    return (!first || value >= *first) && (!last || value < *last);
  }
  [[nodiscard]] bool open() const { return !first && !last; }
};

struct SelectionOptions {
  std::string range;                   ///< glob over paths; empty: all
  std::string kernel;                  ///< regular expression over demangled names; empty: all
  HalfOpen<std::uint64_t> iterations;  ///< counted from 0
  std::string iteration_range;         ///< glob of the iteration range; empty: find_iterations() guesses it
  HalfOpen<TimeNs> window;             ///< ns since Header::base_unix_ns, as in the lines
  [[nodiscard]] bool everything() const {
    return range.empty() && kernel.empty() && iterations.open() && window.open();
  }
};

/// "10:20", "10:", ":20" as counts. Throws std::invalid_argument with a message for the user.
[[nodiscard]] HalfOpen<std::uint64_t> parse_iterations(const std::string& text);
/// "1.5s:2s", "200ms:", ":3e6ns" as times; a bare number is seconds. Throws std::invalid_argument.
[[nodiscard]] HalfOpen<TimeNs> parse_window(const std::string& text);

class Selection {
 public:
  /// Takes everything.
  Selection() = default;
  /// Reads `trace` for its iterations if `options` needs them. Throws Missing, std::regex_error.
  Selection(const SelectionOptions& options, const TraceFolder& trace);

  /// Call it in file order: the selection learns the names from the lines.
  [[nodiscard]] bool takes(const Line& line);
  /// The time that the selection covers; samples in it are attributed.
  [[nodiscard]] SampleWindow sample_window() const;
  [[nodiscard]] bool everything() const noexcept { return everything_; }
  /// One line for the reader: "Only: range **/decoder, iterations 10:20 of iteration"; empty: everything.
  [[nodiscard]] std::string text() const;

 private:
  struct Judge;
  void learn(const PathRecord& path);
  void learn(const KernelNameRecord& name);
  [[nodiscard]] bool in_path(std::uint32_t path) const;
  [[nodiscard]] bool in_time(TimeNs start, std::size_t iteration) const;
  [[nodiscard]] bool takes_work(const GpuWork& work, std::uint32_t kernel_name) const;
  [[nodiscard]] bool takes_host(const HostWork& host) const;

  SelectionOptions options_;
  bool everything_ = true;
  std::regex kernel_;
  Iterations iterations_;
  std::unordered_map<std::uint32_t, PathRecord> path_records_;
  std::unordered_set<std::uint32_t> paths_, kernels_;  // the selected ids
};

}  // namespace rangefinder
