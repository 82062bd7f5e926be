// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the files of a trace, collected while they are read in order.
//
//   segment(), line() or count(), broken(), torn() ─▶ finish(): ReadSummary
//
// Checks that the segments belong to one process, that none is missing, also at the end, and that the first
// line is a header. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/model/cut_end.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

struct LinePlace {
  const std::filesystem::path* file = nullptr;
  std::uint64_t number = 0;  ///< 1: the first of the file
};

/// Unreadable lines in a row after which a reader stops: no damage that the profiler leaves has so many, and
/// a file of another kind, such as one of empty lines, costs more a byte than a trace does.
inline constexpr std::uint64_t kMaxUnreadableRun = 1'000;

/// "trace-00000.ndjson:17: "
[[nodiscard]] std::string place_text(const LinePlace& place);

struct ReadSummary {
  std::uint64_t lines = 0;   ///< read as records
  std::uint64_t broken = 0;  ///< not readable as records
  bool torn = false;         ///< a segment ends in the middle of a line
  bool torn_inside = false;  ///< a torn segment is not the last one
  std::filesystem::path torn_file;
  std::uint64_t torn_line = 0;
  /// "reading stopped at …": what follows kMaxUnreadableRun lines was not read. "": all was read.
  std::string stopped;
  /// Sums of a report may be wrong, and which. "": none is.
  std::string overflow;
  /// "incomplete: …", with what the segments lack although it was written: their numbers or summary.json
  /// prove it. "": at most what a killed program does not write.
  std::string incomplete;
  std::uint64_t missing_lines = 0;  ///< event lines of these, as far as counted
  /// One sentence: what is missing or unreadable, and where. "" if the trace is complete, or lacks only what
  /// a killed program does not write: the end of its last line and its `end` line.
  std::string damage;
  TimeNs last_flush_ns = kNoTime;  ///< all lines before it are of records that were complete then
};

/// Of a trace without an end line: what its last flush was, and so what may be missing.
[[nodiscard]] std::string unfinished_text(const ReadSummary& read);

/// Whether a line is an event. Of a kind that this version does not know, it may be one.
[[nodiscard]] bool is_event_line(const Line& line) noexcept;

/// Checks that a trace begins with its header, as every verb that shows a trace requires.
class TraceBeginning {
 public:
  /// Call it for every line. Throws Missing if the first is no header.
  void line(const Line& line, const LinePlace& place) {
    if (!has_header_) first(line, place);
  }
  /// Throws Missing if no header came before.
  void broken(std::string_view error, const LinePlace& place) const;
  /// Call it after the last line. Throws Missing if no complete line was read.
  static void end(const TraceFolder& trace, const ReadSummary& read);

 private:
  void first(const Line& line, const LinePlace& place);

  bool has_header_ = false;
};

class ReadLedger {
 public:
  /// `trace` must outlive this. `judges`: the caller judges lines itself, so segments of several processes do
  /// not throw, and damage is not noted for the end of the command.
  ReadLedger(const TraceFolder& trace, bool judges) : trace_(trace), judges_(judges), cut_end_(trace) {}

  void segment(const SegmentFile& segment);
  /// A readable line. Throws Missing for a segment of another process.
  void line(const Line& line, const LinePlace& place) {
    ++summary_.lines;
    count(is_event_line(line) ? 1 : 0, std::holds_alternative<KernelRecord>(line) ? 1 : 0);
    std::visit([this](const auto& record) { sums_.add(record); }, line);
    see(line, place);
  }
  /// For lines other than events, without counting them: the caller calls count().
  void see(const Line& line, const LinePlace& place);
  void count(std::uint64_t events, std::uint64_t kernels) noexcept {
    seen_.events += events;
    seen_.kernels += kernels;
  }
  /// Of lines that were not passed to line().
  void add(const TraceSums& sums) noexcept { sums_.add(sums); }
  /// `lines`: as many are broken, the first for this reason and in this place.
  void broken(const std::string& error, const LinePlace& place, std::uint64_t lines = 1);
  /// The line is the last of kMaxUnreadableRun.
  void stop(const LinePlace& place);
  void torn(const SegmentFile& segment, std::uint64_t line);
  [[nodiscard]] ReadSummary& summary() noexcept { return summary_; }
  /// Call it after the last line.
  [[nodiscard]] ReadSummary finish();

 private:
  void check(const Header& header, const LinePlace& place);
  void judge();

  const TraceFolder& trace_;
  bool judges_;
  ReadSummary summary_;
  std::uint64_t damages_ = 0;
  std::optional<std::uint32_t> last_;  // segment
  std::optional<Header> first_;
  std::string gap_;
  CutEndCheck cut_end_;
  SeenLines seen_;
  TraceSums sums_;
  bool dropped_ = false, ended_ = false;
};

/// The damage found in the traces that a command read: main shows it and ends with exit code 3. One object
/// per process, so no verb can forget to report damage. A caller that judges lines itself, such as
/// `validate`, reports them itself. Any thread.
class ReadDamage {
 public:
  /// Ignores a sentence that a second pass over the files repeats. Keeps the first kMax sentences.
  void note(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    const bool repeated = std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end();
    if (!repeated && sentences_.size() < kMax) sentences_.push_back(sentence);
  }
  [[nodiscard]] std::vector<std::string> sentences() const {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  static constexpr std::size_t kMax = 20;
  mutable std::mutex mutex_;
  std::vector<std::string> sentences_;  // guarded by mutex_
};

inline ReadDamage read_damage;

}  // namespace rangefinder
