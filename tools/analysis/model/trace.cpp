// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <utility>
#include <variant>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/loader.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/read_progress.h"

namespace rangefinder {
namespace {

/// Of this process; 0: unknown.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
}

}  // namespace

std::uint64_t ReadLimits::default_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  constexpr std::uint64_t kUnknown = std::uint64_t{4} << 30;
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2
                               : kUnknown;
}

Trace::Trace(TraceFolder files, const TraceOptions& options)
    : options_(options), shown_(files.iteration_range, files.recorded_paths), row_names_(shown_) {
  names_.files = std::move(files);
  if (!names_.files.segments.empty()) return;
  throw Missing(names_.files.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                "  Copy its trace-*.ndjson files next to the summary.");
}

Trace::~Trace() = default;

void Trace::each_chunk(const std::function<void(const Chunk&)>& see) {
  if (!complete_ || !keeps() || chunks_.empty()) return read(see);
  for (const Chunk& chunk : chunks_) see(chunk);
}

void Trace::read(const std::function<void(const Chunk&)>& see) {
  read_progress.begin(bytes_of(files()));
  if (!complete_) ledger_ = std::make_unique<ReadLedger>(files(), false);
  // Again from the start: levels of dotted names are lines only where they are new.
  shown_ = ShownPaths(files().iteration_range, files().recorded_paths);
  depths_ = {};
  loader_ = std::make_unique<Loader>(files(), row_names_, options_.limits.jobs);
  const std::string& counters = loader_->header().counters;
  if (!complete_ && (counters == "sampled" || counters == "gpm" || counters == "refused")) set_sampled();
  loader_->start(complete_ ? options_.columns : options_.columns | options_.while_reading);
  Loader::Parsed parsed;
  std::uint64_t check_at = 0;  // in bytes read: a trace may have thousands of small segments
  while (loader_->next(parsed)) {
    const SegmentFile& segment = files().segments[parsed.segment];
    if (parsed.first) {
      if (!complete_) ledger_->segment(segment);
      lines_ = 0;
    }
    parsed.chunk->names = &row_names_;
    merge(*parsed.chunk, segment);
    if (parsed.torn && !complete_ && !parsed.chunk->counts.stopped) ledger_->torn(segment, lines_);
    if (parsed.too_long) {
      throw Missing(segment.path.string() + ":" + std::to_string(lines_ + 1) +
                    ": the line is longer than 64 MiB, so this is not a trace file");
    }
    if (!complete_ && on_reading_) on_reading_(*parsed.chunk);
    see(*parsed.chunk);
    const bool stopped = parsed.chunk->counts.stopped;
    if (keeps()) keep(*parsed.chunk);
    loader_->give_back(std::move(parsed.chunk));
    if (!keeps() && read_progress.done() >= check_at) {
      check_memory();
      check_at = read_progress.done() + UnitSource::kUnitBytes;
    }
    if (stopped) break;
  }
  loader_->stop();
  if (complete_) return;
  if (samples_ && !sampled_) {  // the header does not announce them, and their columns are missing
    drop_chunks();
    set_sampled();
  }
  names_.read = ledger_->finish();
  ledger_.reset();
  TraceBeginning::end(files(), names_.read);
  if (names_.end) names_.loss = names_.end->loss;
  TimeNs later_ns = INT64_MAX;
  for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
    chunk->later_work_ns = later_ns;
    later_ns = std::min(later_ns, chunk->counts.first_work_ns);
  }
  complete_ = true;
}

void Trace::set_sampled() {
  sampled_ = true;
  options_.columns |= options_.if_sampled;
  if (options_.keep == Keep::if_sampled) options_.keep = Keep::yes;
}

void Trace::drop_chunks() {
  chunks_.clear();
  memory_ = {};
  memory_bytes_ = 0;
}

/// Adds the chunk's names and counts to those of the chunks before it, and puts the lines that readers see in
/// place of the recorded ones.
void Trace::merge(Chunk& chunk, const SegmentFile& segment) {
  const auto place = [&](std::uint64_t number) { return LinePlace{&segment.path, lines_ + number}; };
  std::uint32_t broken = chunk.counts.first_broken;  // the one to report next; 0: none
  const std::uint32_t first = chunk.counts.first_record;
  const auto report = [&](const std::string& error, std::uint64_t number) {
    if (complete_) return;
    beginning_.broken(error, place(number));
    ledger_->broken(error, place(number));
    if (names_.first_broken.empty()) names_.first_broken = place_text(place(number)) + error;
  };
  const auto report_before = [&](std::uint32_t number) {
    if (broken != 0 && broken < number) report(chunk.counts.error, std::exchange(broken, 0));
  };
  // A first line that is a row of a table is no header.
  if (first != 0 && (broken == 0 || first < broken) &&
      (chunk.others.empty() || chunk.others[0].number != first))
    beginning_.line(UnknownLine{}, place(first));
  std::deque<Chunk::OtherLine> lines;
  std::uint64_t records = chunk.counts.records;
  for (Chunk::OtherLine& other : chunk.others) {
    report_before(other.number);
    if (const auto* const path = std::get_if<PathRecord>(&other.line); path && !depths_.accept(*path)) {
      --records;
      report(PathDepths::refusal(*path), other.number);
      continue;
    }
    if (!complete_) ledger_->see(other.line, place(other.number));
    shown_.each_shown(other.line, [&](const Line& line) {
      beginning_.line(line, place(other.number));
      if (!complete_) names_.add(line);
      lines.push_back({line, other.number});
    });
  }
  report_before(UINT32_MAX);
  chunk.others = std::move(lines);
  if (!complete_) {
    // The error of the first broken line is known; the others are counted.
    if (chunk.counts.broken > 1)
      ledger_->broken(chunk.counts.error, place(chunk.counts.first_broken), chunk.counts.broken - 1);
    ledger_->add(chunk.counts.sums);
    if (chunk.counts.stopped) ledger_->stop(place(chunk.counts.lines));
    ledger_->summary().lines += records;
    ledger_->count(chunk.counts.events, chunk.counts.kernels);
    samples_ = samples_ || chunk.counts.samples != 0;
    names_.event_waits = names_.event_waits || chunk.counts.event_waits;
  }
  lines_ += chunk.counts.lines;
}

void Trace::keep(Chunk& chunk) {
  // A chunk takes 9 KB without a row, and a damaged trace has thousands of segments with a header alone.
  if (!chunks_.empty() && chunk.has_names_only()) {
    memory_bytes_ += chunks_.back().add_names(chunk);
  } else {
    chunks_.push_back(chunk.packed(options_.columns, memory_));
    memory_bytes_ += chunks_.back().memory_bytes();
  }
  if (memory_bytes_ <= options_.limits.memory_bytes) return;
  options_.keep = Keep::no;
  drop_chunks();
  ColumnMemory::free_spare();
  malloc_trim(0);  // check_memory() must not see it
}

/// Queries may keep a part of each row: what they need is known only while they run.
void Trace::check_memory() const {
  const std::uint64_t limit = options_.limits.memory_bytes, used = resident_bytes();
  if (used <= limit) return;
  const double part = static_cast<double>(read_progress.done()) /
                      static_cast<double>(std::max<std::uint64_t>(read_progress.total(), 1));
  constexpr double kMinPart = 0.1;  // of the trace: less does not show how memory grows
  const std::string all =
      part < kMinPart ? "at least " + bytes_text(used)
                      : "about " + bytes_text(static_cast<std::uint64_t>(static_cast<double>(used) / part));
  throw Missing("this needs more memory than " + bytes_text(limit) + ": " + all + " for " +
                names_.files.folder.string() +
                "\n  Give it with --memory, or select a part of the trace with --window.");
}

}  // namespace rangefinder
