// SPDX-License-Identifier: Apache-2.0
//
// Running programs, queried through their control sockets (docs/internals/control.md).
//
//   find_processes() ─▶ rows(): one row per program      snapshot ─▶ summary(pid), feed(ledger)
//                    └▶ live(pid): `subscribe` ─▶ LiveRates ─▶ events for a browser
//
// Changes nothing in a program: it never opens or closes windows.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/table/table.h"
#include "tools/serve/http.h"
#include "tools/serve/process_ledger.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class RunningPrograms {
 public:
  /// A program serves 16 clients at a time. Leave some for other tools.
  static constexpr int kMaxStreams = 12;
  static constexpr std::size_t kMaxLiveRows = 400;

  explicit RunningPrograms(const std::atomic<bool>& stopping) : stopping_(stopping) {}

  /// [{pid, name, executable, state, counters, rank, window, folder, records, lost, …}]; an unresponsive
  /// program has only pid and state.
  [[nodiscard]] static nlohmann::ordered_json rows();
  /// Those that the page of `serve` shows of them.
  [[nodiscard]] static std::vector<TableColumn> columns();
  /// Summary of the open window up to now, else of the last window. This and the next two throw Missing.
  [[nodiscard]] static nlohmann::json summary(pid_t pid);
  /// The trace of that window, up to now.
  [[nodiscard]] static IndexedTrace trace(pid_t pid);
  /// text/event-stream: rates by module every `every_ms`, until the program ends. Also throws if too many
  /// streams are open.
  [[nodiscard]] HttpParts live(pid_t pid, int every_ms);

  /// Polls all programs and notes their summaries. One caller at a time.
  void feed(ProcessLedger& ledger);
  /// Number of programs at the last feed(): those that answered, and those that did not.
  [[nodiscard]] std::size_t running() const noexcept { return folders_.size() - unresponsive_; }
  [[nodiscard]] std::size_t unresponsive() const noexcept { return unresponsive_; }

 private:
  static constexpr std::size_t kMaxAbsent = 256;

  /// Unique key of a program, also if a process id is reused.
  [[nodiscard]] std::string key_of(pid_t pid) const;
  /// Notes the final summary of the window that was open at the last feed().
  void note_last(ProcessLedger& ledger, const std::string& key) const;
  /// Handles programs of the last feed() that are not in `there`.
  void forget_some(ProcessLedger& ledger, const std::map<std::string, std::string>& there);

  const std::atomic<bool>& stopping_;
  const std::shared_ptr<std::atomic<int>> streams_ = std::make_shared<std::atomic<int>>(0);
  std::map<std::string, std::string> folders_;  ///< folders of the windows at the last feed(), by program
  std::size_t unresponsive_ = 0;                ///< of folders_
  std::deque<std::string> absent_;              ///< programs that disappeared, longest gone first
};

}  // namespace rangefinder
