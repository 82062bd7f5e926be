// SPDX-License-Identifier: Apache-2.0
//
// Index of the served traces: those below the given folders, and no other files.
//
//   DIR… ─▶ scan of names, bounded ─▶ IndexedTrace: "run=a/rank=0/pid=4711" ─▶ find(id): one of the list
//
// A request names a trace by its id in the list. No path is ever made from that text, so "../" has no effect.
// Links to folders are not followed. A trace with a file that links outside is excluded, also if the link
// was made after the scan.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

struct IndexedTrace {
  std::string id;  ///< folder below DIR; with several DIRs prefixed by the DIR's number and ':'
  TraceFolder files;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type changed;
  std::string state;  ///< names, sizes and times of its files; changes when the trace grows
};

/// Any thread.
class TraceIndex {
 public:
  static constexpr std::size_t kMaxTraces = 1'000;
  static constexpr std::size_t kMaxFolders = 20'000;
  static constexpr int kMaxLevels = 8;

  /// Throws Missing if one is not a folder.
  explicit TraceIndex(const std::vector<std::string>& places);

  /// Latest first. Scans again if the last scan is older than a second.
  [[nodiscard]] std::vector<IndexedTrace> list();
  /// The trace with this id; empty: the latest. Throws Missing.
  [[nodiscard]] IndexedTrace find(const std::string& id);
  /// True: a limit on folders or traces was reached, so the list is incomplete.
  [[nodiscard]] bool cut() const;

 private:
  void scan();
  void add(const std::filesystem::path& folder, const std::filesystem::path& place, const std::string& id);

  std::vector<std::filesystem::path> places_;
  mutable std::mutex mutex_;
  std::vector<IndexedTrace> traces_;                              // guarded by mutex_
  std::optional<std::chrono::steady_clock::time_point> scanned_;  // guarded by mutex_
  bool cut_ = false;                                              // guarded by mutex_
};

/// The trace in `folder` as it is now; nullopt: a file of it is outside of `place`, or it has no files.
[[nodiscard]] std::optional<IndexedTrace> confined_trace(const std::filesystem::path& folder,
                                                         const std::filesystem::path& place);

}  // namespace rangefinder
