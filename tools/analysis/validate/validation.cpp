// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/validation.h"

#include <memory>
#include <utility>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/validate/summary_check.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// The kind of the problem of a trace that lacks lines which were on disk.
constexpr const char* kIncomplete = "incomplete";

/// Passes the lines to all checks.
class Validator {
 public:
  Validator(const TraceFolder& trace, ProblemLog& problems) : problems_(problems), summary_(trace) {
    for (const MakeCheck make : kMakeChecks) checks_.push_back(make(problems));
  }

  void line(const Line& line, const LinePlace& place) {
    begun_ = true;
    if (foreign_) return;
    if (std::exchange(segment_, place.file) != place.file) {
      for (const auto& check : checks_) check->segment(*place.file);
    }
    problems_.at(place);
    if (const auto* flush = std::get_if<FlushRecord>(&line)) facts_.loss = flush->loss;
    if (const auto* end = std::get_if<EndRecord>(&line)) {
      facts_.is_final = true;
      facts_.end = *end;
      facts_.loss = end->loss;
    }
    for (const auto& check : checks_) check->line(line);
    summary_.line(line);
  }

  void broken(const std::string& error, const LinePlace& place) {
    if (foreign_) return;
    foreign_ = !std::exchange(begun_, true);
    problems_.at(place);
    problems_.add("line", error);
    summary_.broken();
  }

  const TraceFacts& finish(const TraceFolder& trace) {
    facts_.folder = trace.folder.string();
    facts_.whole = trace.whole;
    if (foreign_) return facts_;
    for (const auto& check : checks_) check->finish(facts_);
    return facts_;
  }
  /// The first line is not in this format, so other lines were not checked.
  [[nodiscard]] bool foreign() const noexcept { return foreign_; }
  [[nodiscard]] SummaryCheck& summary() noexcept { return summary_; }

 private:
  ProblemLog& problems_;
  std::vector<std::unique_ptr<TraceCheck>> checks_;
  SummaryCheck summary_;
  TraceFacts facts_;
  const std::filesystem::path* segment_ = nullptr;
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
  if (!read.overflow.empty()) out.problems.add_at(facts.folder, "sum", read.overflow);
  if (!read.stopped.empty()) out.notes.push_back(read.stopped);  // the lines are problems already
  if (!read.incomplete.empty()) {
    out.problems.add_at(facts.folder, kIncomplete, read.incomplete);
    out.missing_lines = read.missing_lines;
  }
  if (facts.whole && !facts.is_final && (strict || read.incomplete.empty())) {
    report("no-end", facts.folder, "no end line: " + unfinished_text(read), strict);
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
  Validator validator(trace, out.problems);
  const ReadSummary read = read_lines(
      trace, reader, [&](const Line& line, const LinePlace& place) { validator.line(line, place); },
      [&](const std::string& error, const LinePlace& place) { validator.broken(error, place); },
      Judge::caller);
  out.lines = read.lines;
  const TraceFacts& facts = validator.finish(trace);
  out.header = validator.summary().first_header();
  if (read.lines == 0) out.problems.add_at(out.place, "header", "this trace has no complete line");
  if (validator.foreign()) return out;
  report_ending(read, facts, strict, out);
  if (!trace.whole || read.lines == 0) return out;
  const std::string note = validator.summary().finish(read, out.problems);
  if (!note.empty()) out.notes.push_back(note);
  return out;
}

}  // namespace rangefinder
