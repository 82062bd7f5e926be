// SPDX-License-Identifier: Apache-2.0
//
// The rates of a running program as Server-Sent Events.
//
//   subscribe ─▶ delta ─▶ LiveRates, for one interval ─▶ data: {"state", "lost", "columns", "rows", …}
//
// The numbers are those of `rangefinder top`. While nothing happens it sends comment lines, to detect a
// closed browser. Ends with an event `gone` when the program ends.
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
  /// Throws Missing if `max_open` streams are open, or the program does not answer.
  LiveStream(const TracedProcess& process, int every_ms, std::shared_ptr<std::atomic<int>> open, int max_open,
             std::size_t max_rows);
  ~LiveStream();
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  /// The next event, or a comment after at most a second. nullopt: the program has ended.
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
