// SPDX-License-Identifier: Apache-2.0
//
// A running program's rates as Server-Sent Events.
//
//   subscribe ─▶ delta ─▶ LiveRates, for one interval ─▶ data: {"state", "seconds", "lost", "rows": [...]}
//
// The numbers are those of `rangefinder top`. A line of comment goes out while nothing happens, so that a
// browser that left is noticed. Ends with an event `gone` when the program does.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "tools/attach/control_client.h"
#include "tools/attach/live_rates.h"

namespace rangefinder {

/// One thread at a time.
class LiveStream {
 public:
  /// Throws Missing where `most` are open already, or the program does not answer.
  LiveStream(const TracedProcess& process, int every_ms, std::shared_ptr<std::atomic<int>> open, int most,
             std::size_t max_rows);
  ~LiveStream();
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  /// The next event, or a comment; waits a second at most. None: the program has ended.
  [[nodiscard]] std::optional<std::string> next();

 private:
  [[nodiscard]] std::string message(const nlohmann::json& event);

  const int pid_;
  const std::size_t max_rows_;
  std::shared_ptr<std::atomic<int>> open_;
  std::unique_ptr<ControlClient> client_;
  LiveRates rates_;
  bool gone_ = false;
};

}  // namespace rangefinder
