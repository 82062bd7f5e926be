// SPDX-License-Identifier: Apache-2.0
//
// The traces that are served: those below the folders that were named, and nothing else on the disk.
//
//   DIR… ─▶ look at names, bounded ─▶ IndexedTrace: "run=a/rank=0/pid=4711" ─▶ find(id): one of the list
//
// A request names a trace by its place in the list, as text; no path is ever made of that text, so "../"
// leads nowhere. Links to folders are not followed, and a trace with a file that is a link to somewhere
// outside is left out, also if the link was made after the list.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

struct IndexedTrace {
  std::string id;  ///< folder below DIR; with several DIRs the DIR's number and ':' before it
  TraceFolder files;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type changed;
  std::string state;  ///< of its files: names, sizes, times; differs when the trace has grown
};

/// Any thread.
class TraceIndex {
 public:
  static constexpr std::size_t kMaxTraces = 1'000;
  static constexpr std::size_t kMaxFolders = 20'000;
  static constexpr int kMaxLevels = 8;

  /// Throws Missing where one is no folder.
  explicit TraceIndex(const std::vector<std::string>& places);

  /// Latest first; looked at again after a second.
  [[nodiscard]] std::vector<IndexedTrace> list();
  /// By its id; the latest where `id` is empty. Throws Missing.
  [[nodiscard]] IndexedTrace find(const std::string& id);
  /// True: there were more folders or traces than are looked at.
  [[nodiscard]] bool cut() const;

 private:
  void look();
  void add(const std::filesystem::path& folder, const std::filesystem::path& place, const std::string& id);

  std::vector<std::filesystem::path> places_;
  mutable std::mutex mutex_;
  std::vector<IndexedTrace> traces_;                             // guarded by mutex_
  std::optional<std::chrono::steady_clock::time_point> looked_;  // guarded by mutex_
  bool cut_ = false;                                             // guarded by mutex_
};

/// The trace in `folder` as it is now; none: a file of it lies outside of `place`, or it has none.
[[nodiscard]] std::optional<IndexedTrace> confined_trace(const std::filesystem::path& folder,
                                                         const std::filesystem::path& place);

}  // namespace rangefinder
