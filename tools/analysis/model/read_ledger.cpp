// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/read_ledger.h"

#include <utility>
#include <variant>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

/// By index of the alternative of Line. The first is UnknownLine, which may be an event.
constexpr auto kEventLines = [] {
  std::array<bool, std::variant_size_v<Line>> out{true};
  std::size_t index = 0;
#define X(Record, name, ...) out[++index] = is_event(name);
  RANGEFINDER_KINDS(X)
#undef X
  return out;
}();

bool dropped(const LossByCause& loss) {
  return loss[static_cast<std::size_t>(Loss::lines_over_max_size)] != 0;
}

}  // namespace

std::string place_text(const LinePlace& place) {
  return place.file->string() + ":" + std::to_string(place.number) + ": ";
}

bool is_event_line(const Line& line) noexcept {
  return kEventLines[line.index()];
}

void TraceBeginning::first(const Line& line, const LinePlace& place) {
  has_header_ = std::holds_alternative<Header>(line);
  if (has_header_) return;
  throw Missing(place.file->string() + " does not begin with the header of a trace\n" +
                "  Name the folder that `rangefinder run` wrote.");
}

void TraceBeginning::broken(std::string_view error, const LinePlace& place) const {
  if (!has_header_)
    throw Missing("this version cannot read the trace: " + place_text(place) + std::string(error));
}

void TraceBeginning::end(const TraceFolder& trace, const ReadSummary& read) {
  if (read.lines != 0) return;
  throw Missing(trace.segments.front().path.string() +
                " holds no complete line: the program ended too early");
}

void ReadLedger::segment(const SegmentFile& segment) {
  const std::uint32_t expected = last_ ? *last_ + 1 : 0;
  if (gap_.empty() && trace_.whole && segment.number != expected) {
    gap_ = "incomplete: it lacks segment " + std::to_string(expected) + ", which comes before " +
           segment.path.filename().string();
  }
  last_ = segment.number;
}

void ReadLedger::see(const Line& line, const LinePlace& place) {
  if (const auto* const header = std::get_if<Header>(&line)) return check(*header, place);
  if (const auto* const flush = std::get_if<FlushRecord>(&line)) {
    dropped_ = dropped(flush->loss);
    seen_.last_ns = flush->at_ns;
    summary_.last_flush_ns = flush->at_ns;
  }
  if (const auto* const end = std::get_if<EndRecord>(&line)) {
    dropped_ = dropped(end->loss);
    ended_ = true;
  }
}

std::string unfinished_text(const ReadSummary& read) {
  const std::string ended = "the program was killed or is still running; ";
  if (read.last_flush_ns == kNoTime) return ended + "it wrote no records before that";
  return ended + "what ended in the first " +
         duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(read.last_flush_ns, 0))) +
         " is here, later work is missing";
}

void ReadLedger::check(const Header& header, const LinePlace& place) {
  if (!first_) first_ = header;
  const bool same =
      header.pid == first_->pid && header.host == first_->host && header.base_unix_ns == first_->base_unix_ns;
  if (same || judges_) return;
  throw Missing(place_text(place) + "this segment is from process " + std::to_string(header.pid) + " on " +
                header.host + ", the earlier ones are from " + std::to_string(first_->pid) + " on " +
                first_->host + ": two traces are in one folder\n  Move each trace to its own folder.");
}

void ReadLedger::broken(const std::string& error, const LinePlace& place, std::uint64_t lines) {
  if (damages_ == 0) summary_.damage = place_text(place) + error;
  summary_.broken += lines;
  damages_ += lines;
}

void ReadLedger::stop(const LinePlace& place) {
  summary_.stopped = "reading stopped at " + place.file->filename().string() + ":" +
                     std::to_string(place.number) + ", after " + count_text(kMaxUnreadableRun) +
                     " unreadable lines in a row";
}

void ReadLedger::torn(const SegmentFile& segment, std::uint64_t line) {
  summary_.torn = true;
  summary_.torn_file = segment.path;
  summary_.torn_line = line;
  if (&segment == &trace_.segments.back()) return;  // expected after a killed program
  summary_.torn_inside = true;
  if (damages_++ == 0)
    summary_.damage = place_text({&segment.path, line}) + "the segment is cut here, and others follow";
}

void ReadLedger::judge() {
  // Segments are dropped on purpose to stay within --max-size.
  if (!dropped_) summary_.incomplete = gap_;
  if (ended_ || !summary_.incomplete.empty()) return;
  CutEnd cut = cut_end_.judge(seen_);
  summary_.incomplete = std::move(cut.text);
  summary_.missing_lines = cut.lines;
}

ReadSummary ReadLedger::finish() {
  if (damages_ > 1) summary_.damage += " (and " + std::to_string(damages_ - 1) + " more)";
  if (!summary_.stopped.empty()) summary_.damage += "; " + summary_.stopped;
  if (!sums_.full().empty())
    summary_.overflow =
        "the " + std::string(sums_.full()) +
        " of its lines sum to 2^64 or more, so some are impossible, and sums of them are wrong";
  judge();
  if (summary_.damage.empty() && !summary_.overflow.empty())
    summary_.damage = trace_.folder.string() + ": " + summary_.overflow;
  if (summary_.damage.empty() && !summary_.incomplete.empty())
    summary_.damage = trace_.folder.string() + " is " + summary_.incomplete;
  if (!judges_ && !summary_.damage.empty()) read_damage.note(summary_.damage);
  return summary_;
}

}  // namespace rangefinder
