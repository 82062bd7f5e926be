// SPDX-License-Identifier: Apache-2.0
//
// What of a trace a report uses: --iterations, --window and --kernel select data, --range selects rows.
//
//   line ─▶ Selection::take ─┬─▶ line == nullptr: no part of it is selected
//                            ├─▶ the line, or a copy that ends where the window ends: counts, with its time
//                            └─▶ is_rest: a copy of what lies in the window, of a line that began before it:
//                                its time counts, the line itself does not
//
// So calls, GPU time and bytes of disjoint selections add up to those of the whole. GPU work belongs to the
// iteration that launched it, host work to the one in which it began. A window cuts ranges and GPU work, and
// takes all other lines by their start. Lines that define names are always taken. --kernel drops all GPU work
// except kernels with a matching name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "profiler/base/name_pattern.h"
#include "schema/read_line.h"
#include "tools/analysis/model/iterations.h"
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

/// "10:20"; "1.5 s to 2.0 s".
[[nodiscard]] std::string span_text(const HalfOpen<std::uint64_t>& span);
[[nodiscard]] std::string span_text(const HalfOpen<TimeNs>& span);

/// What is selected of a line.
struct TakenLine {
  const Line* line = nullptr;  ///< valid until the next take(); nullptr: nothing
  bool is_rest = false;        ///< it began before the window
  bool in_range = true;        ///< --range selects its path
};

/// What is selected of a record.
struct Part {
  bool selected = false;
  bool begins = true;    ///< false: it began before the window: its time counts, the record itself does not
  bool in_range = true;  ///< --range selects its path
  bool cut = false;      ///< to the times below
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
};

class Selection {
 public:
  /// Takes everything.
  Selection() = default;
  /// Reads `trace` for its iterations if `options` needs them. Throws Missing, NamePattern::Invalid.
  Selection(const SelectionOptions& options, const TraceFolder& trace);
  Selection(const SelectionOptions& options, Trace& trace);
  Selection(const SelectionOptions& options, Iterations iterations);
  /// What a selection reads of rows, and to find iterations.
  [[nodiscard]] static Columns columns(const SelectionOptions& options);
  /// What take() reads of rows.
  [[nodiscard]] Columns needs() const noexcept { return needs_; }

  /// Call it in file order: the selection learns the names from the lines.
  [[nodiscard]] TakenLine take(const Line& line);
  /// The same for a record, which is cut to the window in place.
  template <typename Record>
  [[nodiscard]] Part take(Record& record) {
    return everything_ ? Part{.selected = true} : part_of(record);
  }
  /// Whether work counts by its iteration and kernel name, wherever it is in time.
  [[nodiscard]] bool counts(const GpuWork& work, std::uint32_t kernel_name) const;
  /// Whether --range selects the path. Known once its line was taken.
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
  /// From the first to the last time of any line, selected or not; nullopt: no line has a time.
  [[nodiscard]] std::optional<SampleWindow> seen() const;
  /// One line for the reader: "Only: range **/decoder, iterations 10:20 of iteration"; empty: everything.
  [[nodiscard]] std::string text() const;

 private:
  struct Judge;
  /// Its path, the iteration it belongs to, and its time.
  struct Place {
    std::uint32_t path = 0;
    std::size_t iteration = Iterations::kNone;
    TimeNs start_ns = kNoTime, end_ns = kNoTime;  // the end only of what a window cuts
    bool everywhere = false;                      // defines names, or is about the whole process
  };
  void learn(const PathRecord& path);
  void learn(const KernelNameRecord& name);
  [[nodiscard]] bool in_iterations(std::size_t iteration) const;
  [[nodiscard]] bool in_kernels(std::uint32_t kernel_name) const;
  template <typename Record>
  [[nodiscard]] Part part_of(Record& record);
  [[nodiscard]] Part judge(const std::optional<Place>& place);
  [[nodiscard]] Part in_window(const Place& place) const;

  SelectionOptions options_;
  bool everything_ = true;
  Columns needs_;
  std::optional<NamePattern> kernel_;
  Iterations iterations_;
  std::unordered_map<std::uint32_t, PathRecord> path_records_;
  std::unordered_set<std::uint32_t> paths_, kernels_;  // the selected ids
  TimeNs first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;  // of all lines
  Line cut_;                                           // what take() returned last, if it was cut
};

}  // namespace rangefinder
