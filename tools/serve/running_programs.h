// SPDX-License-Identifier: Apache-2.0
//
// Programs that run, asked through their control sockets (docs/control.md).
//
//   find_processes() ─▶ rows(): who is there            snapshot ─▶ summary(pid), feed(ledger)
//                    └▶ live(pid): `subscribe` ─▶ LiveRates ─▶ events for a browser
//
// Nothing here changes what a program does: windows are neither opened nor closed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/serve/http.h"
#include "tools/serve/process_ledger.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class RunningPrograms {
 public:
  /// A program serves 16 clients at a time: some are left to others.
  static constexpr int kMaxStreams = 12;
  static constexpr std::size_t kMaxLiveRows = 400;

  explicit RunningPrograms(const std::atomic<bool>& stopping) : stopping_(stopping) {}

  /// [{pid, name, executable, state, counters, rank, window, folder, records, lost, …}]
  [[nodiscard]] static nlohmann::ordered_json rows();
  /// Of the window that is open, up to now; else of the last one. Throws Missing, as all of these.
  [[nodiscard]] static nlohmann::json summary(pid_t pid);
  /// The trace of that window, with what was recorded up to now.
  [[nodiscard]] static IndexedTrace trace(pid_t pid);
  /// text/event-stream: rates by module, every so often, until the program ends. Throws Missing, also when
  /// too many streams are open.
  [[nodiscard]] HttpParts live(pid_t pid, int every_ms);

  /// Notes what all programs say now. One caller at a time.
  void feed(ProcessLedger& ledger);
  /// At the last feed().
  [[nodiscard]] std::size_t running() const noexcept { return folders_.size(); }

 private:
  static constexpr std::size_t kMaxAbsent = 256;

  /// Tells programs apart, also those that have one process id after the other.
  [[nodiscard]] std::string key_of(pid_t pid) const;
  /// What the window of the last feed() came to.
  void note_last(ProcessLedger& ledger, const std::string& key) const;
  /// Programs of the last feed() that are not `there` any more.
  void forget_some(ProcessLedger& ledger, const std::map<std::string, std::string>& there);

  const std::atomic<bool>& stopping_;
  const std::shared_ptr<std::atomic<int>> streams_ = std::make_shared<std::atomic<int>>(0);
  std::map<std::string, std::string> folders_;  ///< of the windows at the last feed(), by program
  std::deque<std::string> absent_;              ///< programs that were there before, longest gone first
};

}  // namespace rangefinder
