// SPDX-License-Identifier: Apache-2.0
//
// ControlCommands' other half: answers that have to wait, and subscriptions.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/control/control_commands.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kNsPerMs = 1'000'000;
/// A larger summary is in its file only.
constexpr std::size_t kMostSummaryBytes = std::size_t{4} << 20;
/// While something is on the way.
constexpr std::int64_t kLookMs = 5;

Json parse(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace

bool ControlCommands::settle(const Pending& pending, const SessionStatus& status, std::int64_t now_ns) {
  const WindowProgress& window = status.window;
  const bool same = window.number == pending.window;
  const bool idle = status.state == SessionState::idle;
  if (window.number >= pending.window && !window.error.empty()) {
    fail(pending.client, pending.id, window.error);
    return true;
  }
  if (pending.until == Until::complete && window.number < pending.window && !schedule_.busy() && idle) {
    fail(pending.client, pending.id, schedule_.error().empty() ? "no window was opened" : schedule_.error());
    return true;
  }
  bool done = false;
  switch (pending.until) {
    case Until::opened:
      done = window.opened;
      break;
    case Until::complete:
      done = window.number >= pending.window && idle && !schedule_.busy();
      break;
    case Until::written:
      done = !same || window.written >= pending.written || idle;
      break;
  }
  if (done) {
    Json answer = {{"window", window_json(window, idle)}};
    if (pending.with_summary) {
      const std::string text = target_.summary();
      answer["file"] = window.folder + "/summary.json";
      if (text.size() <= kMostSummaryBytes) answer["summary"] = parse(text);
    }
    succeed(pending.client, pending.id, std::move(answer));
    return true;
  }
  if (pending.give_up_ns == 0 || now_ns < pending.give_up_ns) return false;
  fail(pending.client, pending.id, "this takes too long: status tells how it is going");
  return true;
}

void ControlCommands::serve_subscription(Subscription& subscription, const SessionStatus& status,
                                         std::int64_t now_ns) {
  if (status.window.number != subscription.window) {
    subscription.window = status.window.number;
    subscription.written = 0;
    subscription.delta.reset();
  }
  const bool there = subscription.written != 0 && status.window.written >= subscription.written;
  if (there) {
    subscription.written = 0;
    const Json summary = parse(target_.summary());
    if (summary.is_object()) {
      Json event = subscription.delta.next(summary);
      event["event"] = "delta";
      event["state"] = state_text(status.state);
      event["window"] = window_json(status.window, false);
      succeed(subscription.client, subscription.id, std::move(event));
    }
  }
  if (now_ns < subscription.due_ns || subscription.written != 0) return;
  subscription.due_ns = now_ns + subscription.every_ns;
  subscription.written = target_.ask_to_write();
  if (subscription.written == 0) {
    Json event = status_json(status);
    event["event"] = "state";
    succeed(subscription.client, subscription.id, std::move(event));
  }
}

void ControlCommands::tick(std::int64_t now_ns) {
  if (pending_.empty() && subscriptions_.empty()) return;
  const SessionStatus status = target_.status();
  std::vector<Pending> waiting;
  for (Pending& pending : std::exchange(pending_, {})) {
    if (!settle(pending, status, now_ns)) waiting.push_back(std::move(pending));
  }
  pending_.insert(pending_.begin(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
  // A client that is cut off while it is served leaves the list afterwards, with on_gone().
  for (Subscription& subscription : subscriptions_) serve_subscription(subscription, status, now_ns);
}

std::int64_t ControlCommands::next_tick_ms(std::int64_t now_ns) const {
  if (!pending_.empty()) return kLookMs;
  std::int64_t soonest = -1;
  for (const Subscription& subscription : subscriptions_) {
    const std::int64_t wait = subscription.written != 0
                                  ? kLookMs
                                  : std::max<std::int64_t>(1, (subscription.due_ns - now_ns) / kNsPerMs);
    soonest = soonest < 0 ? wait : std::min(soonest, wait);
  }
  return soonest;
}

}  // namespace rangefinder
