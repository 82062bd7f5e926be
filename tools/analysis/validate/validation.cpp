// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/validation.h"

#include <memory>
#include <utility>

#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/trace_reader.h"
#include "tools/analysis/validate/summary_check.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// The kind of the problem of a trace that lacks lines which were on disk.
constexpr const char* kIncomplete = "incomplete";

class Validator final : public TraceVisitor {
 public:
  explicit Validator(ProblemLog& problems) : problems_(problems) {
    checks_.push_back(make_structure_check());
    checks_.push_back(make_identity_check());
    checks_.push_back(make_time_check());
    checks_.push_back(make_nesting_check());
    checks_.push_back(make_placement_check());
    checks_.push_back(make_launch_check());
    checks_.push_back(make_counter_range_check());
    checks_.push_back(make_ledger_check());
  }

  void segment(const SegmentFile& segment) override {
    for (const auto& check : checks_) check->segment(segment, problems_);
  }

  void line(const Line& line, const LinePlace& place) override {
    begun_ = true;
    if (foreign_) return;
    problems_.at(place);
    if (const auto* flush = std::get_if<FlushRecord>(&line)) facts_.loss = flush->loss;
    if (const auto* end = std::get_if<EndRecord>(&line)) {
      facts_.is_final = true;
      facts_.end = *end;
      facts_.loss = end->loss;
    }
    for (const auto& check : checks_) check->line(line, problems_);
  }

  void broken(std::string_view error, const LinePlace& place) override {
    if (foreign_) return;
    foreign_ = !std::exchange(begun_, true);
    problems_.at(place);
    problems_.add("line", std::string(error));
  }

  [[nodiscard]] bool judges() const override { return true; }

  const TraceFacts& finish(const TraceFolder& trace) {
    facts_.folder = trace.folder.string();
    facts_.whole = trace.whole;
    if (foreign_) return facts_;
    for (const auto& check : checks_) check->finish(facts_, problems_);
    return facts_;
  }
  /// The first line is not in this format, so the rest was not checked.
  [[nodiscard]] bool foreign() const noexcept { return foreign_; }

 private:
  ProblemLog& problems_;
  std::vector<std::unique_ptr<TraceCheck>> checks_;
  TraceFacts facts_;
  bool begun_ = false;
  bool foreign_ = false;
};

void report_ending(const ReadSummary& read, const TraceFacts& facts, bool strict, Validation& out) {
  const auto report = [&](const char* kind, const std::string& file, const std::string& text, bool fault) {
    if (fault) {
      out.problems.add_at(file, kind, text);
    } else {
      out.notes.push_back(text);
    }
  };
  if (read.torn) {
    const std::string place = read.torn_file.string() + ":" + std::to_string(read.torn_line);
    const bool inside = read.torn_inside && !facts.lines_lost();
    report(inside ? kIncomplete : "torn", read.torn_file.string(),
           place + (inside ? ": the segment is cut here, and others follow"
                           : ": the last line is torn; everything before it is complete"),
           strict || inside);
  }
  if (!read.incomplete.empty()) {
    out.problems.add_at(facts.folder, kIncomplete, read.incomplete);
    out.missing_lines = read.missing_lines;
  }
  if (facts.whole && !facts.is_final && (strict || read.incomplete.empty())) {
    report("no-end", facts.folder,
           "no end line: the program was killed or is still running; at most the last second is missing",
           strict);
  }
}

void compare_summary(const TraceFolder& trace, Validation& out) {
  try {
    std::string note = check_summary(load_trace(with_recorded_paths(trace)), out.problems);
    if (!note.empty()) out.notes.push_back(std::move(note));
  } catch (const Missing&) {
    // The trace has no totals to compare. The problems found before report the reason.
  }
}

}  // namespace

bool Validation::incomplete() const {
  return problems.by_kind().count(kIncomplete) != 0;
}

Validation validate_trace(const TraceFolder& trace, bool strict) {
  Validation out;
  out.place = trace.whole ? trace.folder.string() : trace.segments.front().path.string();
  out.segments = trace.segments.size();
  if (trace.segments.empty()) {
    throw Missing(out.place + " holds a summary.json but no trace-*.ndjson: there is nothing to validate");
  }
  LineReader reader;
  Validator validator(out.problems);
  const ReadSummary read = read_trace(trace, reader, validator);
  out.lines = read.lines;
  const TraceFacts& facts = validator.finish(trace);
  if (read.lines == 0) out.problems.add_at(out.place, "header", "this trace has no complete line");
  if (validator.foreign()) return out;
  report_ending(read, facts, strict, out);
  if (trace.whole && read.lines > 0) compare_summary(trace, out);
  return out;
}

}  // namespace rangefinder
