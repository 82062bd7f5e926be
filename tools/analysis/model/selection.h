// SPDX-License-Identifier: Apache-2.0
//
// What of a trace a report uses: --iterations, --window and --kernel select data, --range selects rows.
//
//   record ─▶ Selection::select ─┬─▶ not selected: no part of it counts
//                                ├─▶ begins: counts, with its time, which is cut where the window ends
//                                └─▶ else: cut to what lies in the window, of a record that began before it:
//                                    its time counts, the record itself does not
//
// So calls, GPU time and bytes of disjoint selections add up to those of the whole. GPU work belongs to the
// iteration that launched it, host work to the one in which it began. A window cuts ranges and GPU work, and
// selects all other records by their start. Lines that are no rows of a table, such as names, are always
// selected. --kernel drops all GPU work except kernels with a matching name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "profiler/base/name_pattern.h"
#include "schema/read_line.h"
#include "tools/analysis/model/iterations.h"

namespace rangefinder {

/// [first, last) of counts or times; a bound without a value is open.
template <typename Value>
struct HalfOpen {
  std::optional<Value> first, last;
  [[nodiscard]] bool contains(Value value) const {
    return (!first || value >= *first) && (!last || value < *last);
  }
  [[nodiscard]] bool open() const { return !first && !last; }
};

/// [from_ns, to_ns), relative to Header::base_unix_ns: the time of a trace whose hardware samples are
/// attributed to GPU work. The default is the whole trace.
struct SampleWindow {
  TimeNs from_ns = INT64_MIN;
  TimeNs to_ns = INT64_MAX;
};

struct SelectionOptions {
  std::string range = {};                   ///< glob over paths; empty: all
  std::string kernel = {};                  ///< regular expression over demangled names; empty: all
  HalfOpen<std::uint64_t> iterations = {};  ///< counted from 0
  bool between = false;              ///< with `iterations`: also what runs after one, before the next begins
  std::string iteration_range = {};  ///< glob of the iteration range; empty: find_iterations() guesses it
  HalfOpen<TimeNs> window = {};      ///< ns since Header::base_unix_ns, as in the lines
  [[nodiscard]] bool everything() const {
    return range.empty() && kernel.empty() && iterations.open() && window.open();
  }
};

/// "10:20", "10:", ":20" as counts. Throws std::invalid_argument with a message for the user.
[[nodiscard]] HalfOpen<std::uint64_t> parse_iterations(const std::string& text);
/// "1.5s:2s", "200ms:", ":3e6ns" as times; a bare number is seconds. Throws std::invalid_argument.
[[nodiscard]] HalfOpen<TimeNs> parse_window(const std::string& text);

/// "10:20"; "1.5 s to 2.0 s".
[[nodiscard]] std::string span_text(const HalfOpen<std::uint64_t>& span);
[[nodiscard]] std::string span_text(const HalfOpen<TimeNs>& span);

/// What is selected of a record.
struct Part {
  bool selected = false;
  bool begins = true;    ///< false: it began before the window: its time counts, the record itself does not
  bool in_range = true;  ///< --range selects its path
  bool other = false;    ///< not selected: of another iteration
};

class Selection {
 public:
  /// Selects everything.
  Selection() = default;
  /// Reads `trace` for its iterations if `options` needs them. Throws Missing, NamePattern::Invalid.
  Selection(const SelectionOptions& options, Trace& trace);
  Selection(const SelectionOptions& options, Iterations iterations);
  /// What a selection reads of rows, and to find iterations.
  [[nodiscard]] static Columns columns(const SelectionOptions& options);
  /// What select() reads of rows.
  [[nodiscard]] Columns needs() const noexcept { return needs_; }

  /// Call it for the lines that define names, in file order, before the records that use them.
  void learn(const Line& line);
  /// What is selected of a record, which is cut to the window in place.
  template <typename Record>
  [[nodiscard]] Part select(Record& record) {
    if (everything_) return {.selected = true};
    if constexpr (std::is_same_v<Record, KernelRecord>) {
      return part_of(record.work, record.name);
    } else if constexpr (requires { record.work.start_ns; }) {
      return part_of(record.work, 0);
    } else if constexpr (std::is_same_v<Record, ExactRecord>) {
      return in_kernels(record.name) ? part_of(record.launch.host) : Part();
    } else if constexpr (std::is_same_v<Record, LaunchRecord>) {
      return part_of(record.host);
    } else if constexpr (requires { record.host.start_ns; }) {
      return selects_kernels() ? Part() : part_of(record.host);
    } else if constexpr (std::is_same_v<Record, RangeRecord>) {
      return cut(record.path, iteration_of(record.start_ns), record.start_ns, record.end_ns);
    } else if constexpr (std::is_same_v<Record, MarkRecord>) {
      return part_at(record.path, record.at_ns);
    } else if constexpr (std::is_same_v<Record, OverheadRecord>) {
      return selects_kernels() ? Part() : part_at(0, record.start_ns);
    } else {
      return {.selected = true};  // also HoldRecord, for net host times; samples: window()
    }
  }
  /// Whether work counts by its iteration and kernel name, wherever it is in time.
  [[nodiscard]] bool counts(const GpuWork& work, std::uint32_t kernel_name) const;
  /// Whether --range selects the path. Call it after learn() of its line.
  [[nodiscard]] bool in_range(std::uint32_t path) const;
  /// The time of --window.
  [[nodiscard]] SampleWindow window() const;
  /// The time that the selection covers; samples without work in it are reported.
  [[nodiscard]] SampleWindow sample_window() const;
  [[nodiscard]] bool everything() const noexcept { return everything_; }
  /// False: every row is shown.
  [[nodiscard]] bool selects_rows() const noexcept { return !options_.range.empty(); }
  [[nodiscard]] const SelectionOptions& options() const noexcept { return options_; }
  /// Empty if --iterations is not in use.
  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  /// From the first to the last time of any record that --kernel selects; nullopt: none has a time.
  [[nodiscard]] std::optional<SampleWindow> seen() const;
  /// One line for the reader: "Only: range **/decoder, iterations 10:20 of iteration"; empty: everything.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool selects_kernels() const noexcept { return !options_.kernel.empty(); }
  /// Iterations::of(); with SelectionOptions::between the one before, if another follows.
  template <typename Work>
  [[nodiscard]] std::size_t iteration_of(const Work& work) const {
    const std::size_t of = iterations_.of(work);
    if (of != Iterations::kNone || !options_.between) return of;
    const std::size_t before = iterations_.last_before(work);
    return before + 1 < iterations_.instances.size() ? before : Iterations::kNone;
  }
  [[nodiscard]] bool in_iterations(std::size_t iteration) const;
  [[nodiscard]] bool in_kernels(std::uint32_t kernel_name) const;
  [[nodiscard]] Part part_of(GpuWork& work, std::uint32_t kernel_name);
  [[nodiscard]] Part part_of(const HostWork& host);
  /// Of a record that a window selects by its start.
  [[nodiscard]] Part part_at(std::uint32_t path, TimeNs start_ns);
  /// Cuts the times to the window. `end_ns`: kNoTime if the start alone decides.
  [[nodiscard]] Part cut(std::uint32_t path, std::size_t iteration, TimeNs& start_ns, TimeNs& end_ns);

  SelectionOptions options_;
  bool everything_ = true;
  Columns needs_;
  std::optional<NamePattern> kernel_;
  Iterations iterations_;
  std::unordered_map<std::uint32_t, PathRecord> path_records_;
  std::unordered_set<std::uint32_t> paths_, kernels_;  // the selected ids
  TimeNs first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;  // seen()
};

}  // namespace rangefinder
