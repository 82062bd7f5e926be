// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/trace_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tools/analysis/read/cut_end.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/path_depths.h"
#include "tools/analysis/read/read_damage.h"
#include "tools/analysis/read/read_progress.h"
#include "tools/analysis/read/segment_lines.h"
#include "tools/analysis/read/shown_paths.h"

namespace rangefinder {
namespace {

std::string at(const LinePlace& place) {
  return place.file->string() + ":" + std::to_string(place.number) + ": ";
}

/// Start and end of the record of a line; kNoTime if it has none.
struct TimesOf {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;

  template <typename Record>
  void operator()(const Record& record) {
    if constexpr (requires { record.work.start_ns; }) {
      set(record.work);
    } else if constexpr (requires { record.host.start_ns; }) {
      set(record.host);
    } else if constexpr (requires { record.launch.host; }) {
      set(record.launch.host);
    } else if constexpr (requires { record.start_ns; }) {
      set(record);
    }
  }
  template <typename Times>
  void set(const Times& times) {
    start_ns = times.start_ns;
    end_ns = times.end_ns;
  }
};

/// Whether an alternative of Line is an event, by its index. The first is UnknownLine, which may be one.
constexpr auto kEventLines = [] {
  std::array<bool, std::variant_size_v<Line>> out{true};
  std::size_t index = 0;
#define X(Record, name, ...) out[++index] = is_event(name);
  RANGEFINDER_KINDS(X)
#undef X
  return out;
}();

/// Checks that the segments belong to one process and that none is missing, also at the end.
class FilesWatch {
 public:
  FilesWatch(const TraceFolder& trace, bool throws) : trace_(trace), throws_(throws), cut_end_(trace) {}

  void segment(const SegmentFile& segment) {
    const std::uint32_t expected = last_ ? *last_ + 1 : 0;
    if (gap_.empty() && trace_.whole && segment.number != expected) {
      gap_ = "incomplete: it lacks segment " + std::to_string(expected) + ", which comes before " +
             segment.path.filename().string();
    }
    last_ = segment.number;
  }

  void line(const Line& line, const LinePlace& place) {
    if (kEventLines[line.index()]) {
      ++seen_.events;
      seen_.kernels += std::holds_alternative<KernelRecord>(line) ? 1 : 0;
      return;
    }
    if (const auto* const header = std::get_if<Header>(&line)) return check(*header, place);
    if (const auto* const flush = std::get_if<FlushRecord>(&line)) {
      dropped_ = dropped(flush->loss);
      seen_.last_ns = flush->at_ns;
    }
    if (const auto* const end = std::get_if<EndRecord>(&line)) {
      dropped_ = dropped(end->loss);
      ended_ = true;
    }
  }

  /// Call it after the last line.
  void judge(ReadSummary& out) const {
    // Segments are dropped on purpose to stay within --max-size.
    if (!dropped_) out.incomplete = gap_;
    if (ended_ || !out.incomplete.empty()) return;
    CutEnd cut = cut_end_.judge(seen_);
    out.incomplete = std::move(cut.text);
    out.missing_lines = cut.lines;
  }

 private:
  static bool dropped(const std::array<std::uint64_t, kLossCauses.size()>& loss) {
    return loss[static_cast<std::size_t>(Loss::lines_over_max_size)] != 0;
  }

  void check(const Header& header, const LinePlace& place) {
    if (!first_) first_ = header;
    const bool same = header.pid == first_->pid && header.host == first_->host &&
                      header.base_unix_ns == first_->base_unix_ns;
    if (same || !throws_) return;
    throw Missing(at(place) + "this segment is from process " + std::to_string(header.pid) + " on " +
                  header.host + ", the earlier ones are from " + std::to_string(first_->pid) + " on " +
                  first_->host + ": two traces are in one folder\n  Move each trace to its own folder.");
  }

  const TraceFolder& trace_;
  bool throws_;
  std::optional<std::uint32_t> last_;
  std::optional<Header> first_;
  std::string gap_;
  CutEndCheck cut_end_;
  SeenLines seen_;
  bool dropped_ = false, ended_ = false;
};

class Reading {
 public:
  Reading(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor)
      : trace_(trace),
        reader_(reader),
        visitor_(visitor),
        judges_(visitor.judges()),
        watch_(trace, !judges_),
        shown_(trace.iteration_range) {}

  ReadSummary read() {
    begin_progress();
    for (const SegmentFile& segment : trace_.segments) read(segment);
    if (broken_ > 1) summary_.damage += " (and " + std::to_string(broken_ - 1) + " more)";
    watch_.judge(summary_);
    if (summary_.damage.empty() && !summary_.incomplete.empty())
      summary_.damage = trace_.folder.string() + " is " + summary_.incomplete;
    if (!judges_ && !summary_.damage.empty()) read_damage.note(summary_.damage);
    return summary_;
  }

 private:
  void begin_progress() const {
    std::uint64_t bytes = 0;
    for (const SegmentFile& segment : trace_.segments) {
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(segment.path, error);
      if (!error) bytes += size;
    }
    read_progress.begin(bytes);
  }

  void read(const SegmentFile& segment) {
    SegmentLines lines(segment.path);
    LinePlace place{&segment.path, 0};
    std::string_view text;
    visitor_.segment(segment);
    watch_.segment(segment);
    while (lines.next(text)) {
      place.number = lines.number();
      if (!reader_.read(text, line_)) {
        if (!lines.torn()) report_broken(reader_.error(), place);
      } else if (const auto* const path = std::get_if<PathRecord>(&line_); path && !depths_.take(*path)) {
        report_broken(PathDepths::refusal(*path), place);
      } else if (TimeNs start = 0, end = 0; !judges_ && ends_before_start(line_, start, end)) {
        report_broken(std::string(line_kind(line_)) + ": ends at " + std::to_string(end) +
                          " ns, before its start at " + std::to_string(start) + " ns",
                      place);
      } else {
        ++summary_.lines;
        watch_.line(line_, place);
        visit(place);
      }
    }
    if (lines.torn()) note_torn(segment, lines.number());
  }

  void visit(const LinePlace& place) {
    const bool as_recorded = judges_ || trace_.recorded_paths;
    if (const auto* const path = std::get_if<PathRecord>(&line_); path != nullptr && !as_recorded) {
      const std::uint32_t id = path->id;
      for (const PathRecord& shown : shown_.add(*path)) visit(shown, place);
      if (shown_.is_omitted(id)) visit(NameRecord{ShownPaths::kUnnamed, "(no name)"}, place);
      return;
    }
    if (!as_recorded) shown_.apply(line_);
    visit(line_, place);
  }

  void visit(const Line& line, const LinePlace& place) {
    ++summary_.given;
    visitor_.line(line, place);
  }

  void report_broken(const std::string& error, const LinePlace& place) {
    ++summary_.broken;
    damage(at(place) + error);
    visitor_.broken(error, place);
  }

  void note_torn(const SegmentFile& segment, std::uint64_t line) {
    summary_.torn = true;
    summary_.torn_file = segment.path;
    summary_.torn_line = line;
    if (&segment == &trace_.segments.back()) return;  // expected after a killed program
    summary_.torn_inside = true;
    damage(at({&segment.path, line}) + "the segment is cut here, and others follow");
  }

  void damage(std::string text) {
    if (++broken_ == 1) summary_.damage = std::move(text);
  }

  const TraceFolder& trace_;
  LineReader& reader_;
  TraceVisitor& visitor_;
  bool judges_;
  FilesWatch watch_;
  PathDepths depths_;
  ShownPaths shown_;
  Line line_;
  ReadSummary summary_;
  std::uint64_t broken_ = 0;
};

}  // namespace

ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor) {
  return Reading(trace, reader, visitor).read();
}

void TraceBeginning::first(const Line& line, const LinePlace& place) {
  has_header_ = std::holds_alternative<Header>(line);
  if (has_header_) return;
  throw Missing(place.file->string() + " does not begin with the header of a trace\n" +
                "  Name the folder that `rangefinder run` wrote.");
}

void TraceBeginning::broken(std::string_view error, const LinePlace& place) const {
  if (!has_header_) throw Missing("this version cannot read the trace: " + at(place) + std::string(error));
}

void TraceBeginning::end(const TraceFolder& trace, const ReadSummary& read) {
  if (read.lines != 0) return;
  throw Missing(trace.segments.front().path.string() +
                " holds no complete line: the program ended too early");
}

bool ends_before_start(const Line& line, TimeNs& start_ns, TimeNs& end_ns) {
  TimesOf times;
  std::visit(times, line);
  if (times.start_ns == kNoTime || times.end_ns == kNoTime || times.end_ns >= times.start_ns) return false;
  start_ns = times.start_ns;
  end_ns = times.end_ns;
  return true;
}

}  // namespace rangefinder
