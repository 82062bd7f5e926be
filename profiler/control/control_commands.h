// SPDX-License-Identifier: Apache-2.0
//
// Executes the requests of control clients: docs/internals/control.md, version 1.
//
//   {"v":1,"id":7,"command":"stop"} ─▶ on_line ─▶ ControlTarget ─▶ {"v":1,"id":7,"ok":true,…}
//
// A command that takes time is answered when it is done: start when the folder exists,
// stop and window when the trace is complete. Other requests are served meanwhile. An
// invalid line is answered with the reason. Control thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "profiler/control/control_server.h"
#include "profiler/control/control_target.h"
#include "profiler/control/summary_delta.h"
#include "profiler/control/window_schedule.h"

namespace rangefinder {

inline constexpr int kControlVersion = 1;

class ControlCommands final : public ControlServer::Handler {
 public:
  /// `facts`: an object about the process; part of every status.
  ControlCommands(ControlTarget& target, WindowSchedule& schedule, nlohmann::json facts)
      : target_(target), schedule_(schedule), facts_(std::move(facts)) {}
  /// Call before the first line.
  void answer_through(ControlServer& server) noexcept { server_ = &server; }

  void on_line(ControlServer::ClientId client, std::string_view line) override;
  [[nodiscard]] bool waits(ControlServer::ClientId client) const override;
  void on_gone(ControlServer::ClientId client) override;

  /// Call often: answers requests that are done, and sends due events to subscribers.
  void tick(std::int64_t now_ns);
  /// Time until tick() must be called again; negative: no need.
  [[nodiscard]] std::int64_t next_tick_ms(std::int64_t now_ns) const;

 private:
  using Json = nlohmann::json;
  enum class Until : std::uint8_t { opened, complete, written, yielded, resumed };
  /// A request that waits for its answer.
  struct Pending {
    ControlServer::ClientId client = 0;
    Json id;
    Until until = Until::opened;
    std::uint64_t window = 0;   ///< the window's number
    std::uint64_t written = 0;  ///< result of request_write()
    std::int64_t give_up_ns = 0;
    bool with_summary = false;
  };
  struct Subscription {
    ControlServer::ClientId client = 0;
    Json id;
    std::int64_t every_ns = 0, due_ns = 0;
    std::uint64_t window = 0, written = 0;  ///< written: result of request_write(); 0: no request
    SummaryDelta delta;
  };

  void serve(ControlServer::ClientId client, const Json& request);
  void start(ControlServer::ClientId client, const Json& request);
  void stop(ControlServer::ClientId client, const Json& request);
  void window(ControlServer::ClientId client, const Json& request);
  void write(ControlServer::ClientId client, const Json& request, bool with_summary);
  void counters(ControlServer::ClientId client, const Json& request);
  void metrics(ControlServer::ClientId client, const Json& request);
  void subscribe(ControlServer::ClientId client, const Json& request);
  void yield(ControlServer::ClientId client, const Json& request);

  [[nodiscard]] Json status_json(const SessionStatus& status) const;
  [[nodiscard]] static Json window_json(const WindowProgress& window, bool complete);
  void succeed(ControlServer::ClientId client, const Json& id, Json answer);
  void fail(ControlServer::ClientId client, const Json& id, const std::string& error);
  /// True: `pending` was answered.
  [[nodiscard]] bool answer_if_done(const Pending& pending, const SessionStatus& status, std::int64_t now_ns);
  /// True: it waited too long, and was told so.
  bool give_up(const Pending& pending, std::int64_t now_ns);
  void wait_for_cupti(ControlServer::ClientId client, const nlohmann::json& id, Until until);
  void serve_subscription(Subscription& subscription, const SessionStatus& status, std::int64_t now_ns);
  void wait_for(Pending pending) { pending_.push_back(std::move(pending)); }

  ControlTarget& target_;
  WindowSchedule& schedule_;
  const Json facts_;
  ControlServer* server_ = nullptr;
  std::vector<Pending> pending_;
  std::vector<Subscription> subscriptions_;
};

}  // namespace rangefinder
