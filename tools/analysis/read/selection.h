// SPDX-License-Identifier: Apache-2.0
//
// Which lines of a trace a report looks at: --range, --kernel, --iterations, --window.
//
//   lines ─▶ Selection::takes ─┬─▶ true: totals and sections see the line
//                              └─▶ false: as if it had never happened
//
// Lines that name things are always taken. GPU work is judged by the path and range of its launch and
// its start on the GPU, host work by its own path and start. With --kernel only kernels of these names
// are left of GPU work.
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

/// [first, last) of a count or a time; what is not given is open.
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
  std::string iteration_range;         ///< glob of the range whose instances count; empty: found by itself
  HalfOpen<TimeNs> window;             ///< as the lines count: since Header::base_unix_ns
  [[nodiscard]] bool everything() const {
    return range.empty() && kernel.empty() && iterations.open() && window.open();
  }
};

/// "10:20", "10:", ":20" as counts. Throws std::invalid_argument with a sentence.
[[nodiscard]] HalfOpen<std::uint64_t> parse_iterations(const std::string& text);
/// "1.5s:2s", "200ms:", ":3e6ns" as times; a bare number is seconds. Throws std::invalid_argument.
[[nodiscard]] HalfOpen<TimeNs> parse_window(const std::string& text);

class Selection {
 public:
  /// Takes everything.
  Selection() = default;
  /// Reads `trace` for its iterations if `options` needs them. Throws Missing, std::regex_error.
  Selection(const SelectionOptions& options, const TraceFolder& trace);

  /// In file order: names are learnt from the lines.
  [[nodiscard]] bool takes(const Line& line);
  /// What samples are to be shared: the time that the selection covers.
  [[nodiscard]] SampleWindow sample_window() const;
  [[nodiscard]] bool everything() const noexcept { return everything_; }
  /// One line for people: "Only: range **/decoder, iterations 10:20 of iteration"; empty: everything.
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
  std::unordered_set<std::uint32_t> paths_, kernels_;  // that are selected
};

}  // namespace rangefinder
