// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/trace_index.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr auto kMinScanInterval = std::chrono::seconds(1);

/// True if `file`, with links resolved, is in `place` or below.
bool lies_in(const fs::path& file, const fs::path& place) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return false;
  return std::mismatch(place.begin(), place.end(), real.begin(), real.end()).first == place.end();
}

bool note_file(const fs::path& file, const fs::path& place, IndexedTrace& trace) {
  std::error_code error;
  if (!lies_in(file, place) || !fs::is_regular_file(file, error)) return false;
  const std::uintmax_t bytes = fs::file_size(file, error);
  const fs::file_time_type changed = fs::last_write_time(file, error);
  if (error) return false;
  trace.bytes += bytes;
  trace.changed = std::max(trace.changed, changed);
  trace.state += file.string() + " " + std::to_string(bytes) + " " +
                 std::to_string(changed.time_since_epoch().count()) + "\n";
  return true;
}

}  // namespace

std::optional<IndexedTrace> confined_trace(const fs::path& folder, const fs::path& place) {
  IndexedTrace out;
  out.changed = fs::file_time_type::min();
  try {
    out.files = open_trace_folder(folder);
  } catch (const Missing&) {
    return std::nullopt;  // unreadable, or removed meanwhile
  }
  if (out.files.segments.empty()) return std::nullopt;
  for (const SegmentFile& segment : out.files.segments) {
    if (!note_file(segment.path, place, out)) return std::nullopt;
  }
  if (out.files.has_summary && !lies_in(folder / "summary.json", place)) return std::nullopt;
  return out;
}

TraceIndex::TraceIndex(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    std::error_code error;
    const fs::path real = fs::canonical(place, error);
    if (error || !fs::is_directory(real)) throw Missing(place + " is not a folder");
    places_.push_back(real);
  }
}

void TraceIndex::add(const fs::path& folder, const fs::path& place, const std::string& id) {
  if (std::optional<IndexedTrace> trace = confined_trace(folder, place)) {
    trace->id = id;
    traces_.push_back(std::move(*trace));
  }
}

void TraceIndex::scan() {
  traces_.clear();
  cut_ = false;
  std::size_t folders = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const fs::path& place = places_[i];
    const std::string before = places_.size() == 1 ? "" : std::to_string(i + 1) + ":";
    add(place, place, before + ".");
    std::error_code error;
    // Without follow_directory_symlink the iterator does not follow links to folders.
    fs::recursive_directory_iterator at(place, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (at->is_symlink(ignored) || !at->is_directory(ignored)) continue;
      const bool hidden = at->path().filename().string().starts_with('.');
      if (hidden || at.depth() + 1 >= kMaxLevels) at.disable_recursion_pending();
      if (hidden) continue;
      if (++folders > kMaxFolders) {
        cut_ = true;
        break;
      }
      add(at->path(), place, before + at->path().lexically_relative(place).string());
    }
  }
  std::stable_sort(traces_.begin(), traces_.end(),
                   [](const IndexedTrace& a, const IndexedTrace& b) { return a.changed > b.changed; });
  if (traces_.size() > kMaxTraces) {
    cut_ = true;
    traces_.resize(kMaxTraces);
  }
}

std::vector<IndexedTrace> TraceIndex::list() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!scanned_ || now - *scanned_ > kMinScanInterval) {
    scan();
    scanned_ = std::chrono::steady_clock::now();
  }
  return traces_;
}

IndexedTrace TraceIndex::find(const std::string& id) {
  const std::vector<IndexedTrace> traces = list();
  if (traces.empty()) throw Missing("the served folders contain no trace");
  const auto at = id.empty() ? traces.begin()
                             : std::find_if(traces.begin(), traces.end(),
                                            [&id](const IndexedTrace& trace) { return trace.id == id; });
  if (at == traces.end()) throw Missing("there is no such trace");
  for (const fs::path& place : places_) {
    if (!lies_in(at->files.folder, place)) continue;
    if (std::optional<IndexedTrace> now = confined_trace(at->files.folder, place)) {
      now->id = at->id;
      return *std::move(now);
    }
  }
  throw Missing("the trace was removed or moved");
}

bool TraceIndex::cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

}  // namespace rangefinder
