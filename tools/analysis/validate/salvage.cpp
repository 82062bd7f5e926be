// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/salvage.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include <nlohmann/json.hpp>

#include "schema/key_names.h"
#include "schema/write_line.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/read_ledger.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/analysis/validate/salvage_ledger.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSummaryFile = "summary.json";

/// A temporary folder, removed with its content.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    fs::remove_all(path_, error);  // left by an interrupted run
    if (!fs::create_directory(path_, error)) {
      throw Missing("cannot create " + path_.string() + ": " + error.message());
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

/// The name without .zst: results are not compressed.
fs::path plain_name(const fs::path& segment) {
  return segment.extension() == ".zst" ? segment.stem() : segment.filename();
}

fs::path without_slash(const fs::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw Missing("cannot move " + from.string() + " to " + to.string() + ": " + error.message());
}

class OutputFile {
 public:
  explicit OutputFile(fs::path path, std::ios::openmode mode = std::ios::trunc)
      : path_(std::move(path)), out_(path_, std::ios::binary | mode) {}

  void write(std::string_view text) { out_.write(text.data(), static_cast<std::streamsize>(text.size())); }
  void close() {
    out_.close();
    if (!out_) throw Missing("cannot write " + path_.string() + ": " + std::strerror(errno));
  }

 private:
  fs::path path_;
  std::ofstream out_;
};

/// The recording cost in the program's last summary.
OwnCost last_own_cost(const fs::path& folder) {
  OwnCost out;
  const auto summary = read_json_file<nlohmann::json>(folder / kSummaryFile);
  if (!summary.is_object()) return out;
  const auto cost = summary.find("own_cost");
  if (cost == summary.end() || !cost->is_object()) return out;
  for (const auto& [key, member] : kOwnCostKeys) {
    const auto value = cost->find(key);
    if (value != cost->end() && value->is_number_unsigned()) out.*member = value->get<std::uint64_t>();
  }
  return out;
}

/// Copies the summary as not final, because it may count lines that were dropped. Skips an unreadable one.
void copy_summary(const fs::path& from, const fs::path& to) {
  auto summary = read_json_file<nlohmann::ordered_json>(from);
  if (!summary.is_object()) return;
  summary["final"] = false;
  OutputFile copy(to);
  copy.write(summary.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  copy.close();
}

/// Copies the lines of a trace, except those that cannot be kept and the old end line. Throws Missing if what
/// is left is no trace of one process.
class SalvageCopy {
 public:
  explicit SalvageCopy(const TraceFolder& trace) : read_(trace, false) {}

  void segment(const SegmentFile& segment, const fs::path& to) {
    SegmentLines lines(segment.path);
    OutputFile copy(to);
    LinePlace place{&segment.path, 0};
    std::string_view text;
    Line line;
    identity_->segment(segment.path);
    while (lines.next(text)) {
      const bool readable = !lines.torn() && reader_.read(text, line);
      if (!readable || !keeps(line)) {
        ledger.drop_line(readable);
        continue;
      }
      if (std::holds_alternative<EndRecord>(line)) continue;
      place.number = lines.number();
      beginning_.line(line, place);
      read_.line(line, place);
      ledger.add(line);
      copy.write(text);
      copy.write("\n");
    }
    copy.close();
  }
  [[nodiscard]] const ReadSummary& read() noexcept { return read_.summary(); }

  SalvageLedger ledger;

 private:
  /// Not if it ends before it starts, is a path or a stack of too many levels, has samples of stacks at wrong
  /// times, or refers to ids that are not defined.
  [[nodiscard]] bool keeps(const Line& line) {
    if (times_of(line).reversed()) return false;
    if (const auto* const path = std::get_if<PathRecord>(&line); path && !depths_.accept(*path)) return false;
    const std::uint64_t before = problems_.count();
    stacks_->line(line);
    if (problems_.count() == before) identity_->line(line);
    return problems_.count() == before;
  }

  LineReader reader_;  // owns texts of the ledger's
  ProblemLog problems_{0};
  std::unique_ptr<TraceCheck> identity_ = make_identity_check(problems_);
  std::unique_ptr<TraceCheck> stacks_ = make_stack_check(problems_);
  PathDepths depths_;
  TraceBeginning beginning_;
  ReadLedger read_;
};

void append_end(const fs::path& segment, const EndRecord& end) {
  std::string text;
  write_line(text, end);
  OutputFile out(segment, std::ios::app);
  out.write(text);
  out.close();
}

/// Throws if the program may still be writing: its files must not be replaced.
void refuse_running_program(const TraceFolder& trace, const Validation& before) {
  if (before.problems.by_kind().count("no-end") == 0) return;
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || !before.header || before.header->host != host) return;
  if (!fs::exists("/proc/" + std::to_string(before.header->pid))) return;
  throw Missing("process " + std::to_string(before.header->pid) + " may still write to " +
                trace.folder.string() + "\n  Wait until it ends, or write to a new folder with --out.");
}

/// The last segment with lines, for the end line. A program killed just after it created a segment leaves
/// that one empty; empty segments at the end are removed.
fs::path last_with_lines(const TraceFolder& trace, const fs::path& to) {
  std::size_t last = trace.segments.size() - 1;
  for (; last > 0; --last) {
    const fs::path copy = to / plain_name(trace.segments[last].path);
    if (fs::file_size(copy) != 0) break;
    fs::remove(copy);
  }
  return to / plain_name(trace.segments[last].path);
}

void write_all(const TraceFolder& trace, const fs::path& to, Salvage& out) {
  SalvageCopy copy(trace);
  copy.ledger.miss_lines(out.before.missing_lines);
  for (const SegmentFile& segment : trace.segments) copy.segment(segment, to / plain_name(segment.path));
  TraceBeginning::end(trace, copy.read());
  out.kept = copy.read().lines;
  out.dropped = copy.ledger.dropped();
  append_end(last_with_lines(trace, to), copy.ledger.end(last_own_cost(trace.folder)));
  if (trace.has_summary) copy_summary(trace.folder / kSummaryFile, to / kSummaryFile);
}

/// Replaces each file atomically; last the last segment, which has the end line.
void replace_files(const TraceFolder& trace, const fs::path& from) {
  if (fs::exists(from / kSummaryFile)) move_to(from / kSummaryFile, trace.folder / kSummaryFile);
  for (const SegmentFile& segment : trace.segments) {
    const fs::path copy = from / plain_name(segment.path);
    const bool kept = fs::exists(copy);
    if (kept) move_to(copy, trace.folder / plain_name(segment.path));
    if (!kept || segment.path.extension() == ".zst") fs::remove(segment.path);
  }
}

}  // namespace

Salvage salvage_trace(const TraceFolder& trace, const fs::path& to) {
  if (!trace.whole)
    throw Missing(trace.folder.string() + ": name the folder of the trace, not one of its files");
  Salvage out;
  out.before = validate_trace(trace, true);
  out.needed = !out.before.valid();
  if (!out.needed) return out;
  if (!to.empty() && fs::exists(to)) throw Missing(to.string() + " already exists");

  if (to.empty()) refuse_running_program(trace, out.before);
  out.place = to.empty() ? trace.folder : to;
  const WorkFolder work(without_slash(out.place).string() + ".salvage");
  write_all(trace, work.path(), out);
  out.after = validate_trace(open_trace_folder(work.path()), true);
  if (!out.after.valid()) return out;
  if (to.empty()) {
    replace_files(trace, work.path());
  } else {
    move_to(work.path(), without_slash(to));
  }
  out.done = true;
  return out;
}

}  // namespace rangefinder
