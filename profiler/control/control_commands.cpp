// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/control_commands.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "profiler/base/duration.h"
#include "profiler/control/control_request.h"
#include "profiler/events/recorder.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

/// A command that is not done within this time is answered with an error.
constexpr std::int64_t kOpenPatienceNs = 10'000 * kNsPerMs;
constexpr std::int64_t kWritePatienceNs = 10'000 * kNsPerMs;
/// Counters take 3 s to stop at most, and the last records 5 s.
constexpr std::int64_t kHandOverPatienceNs = 20'000 * kNsPerMs;
constexpr std::size_t kMaxPending = 64;
constexpr std::size_t kMaxCauseBytes = 64;

/// A larger summary is not part of the answer; the client reads its file.
constexpr std::size_t kMaxSummaryBytes = std::size_t{4} << 20;
/// Interval of tick() while a request waits.
constexpr std::int64_t kPendingPollMs = 5;

Json parse(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace

void ControlCommands::on_line(ControlServer::ClientId client, std::string_view line) {
  if (line.empty()) return;
  const Json request = Json::parse(line, nullptr, false);
  if (!request.is_object()) return fail(client, nullptr, "a request must be one JSON object on one line");
  const Json id = request.value("id", Json());
  try {
    if (request.value("v", Json(kControlVersion)) != kControlVersion)
      return fail(client, id, "this process supports protocol version " + std::to_string(kControlVersion));
    if (pending_.size() + subscriptions_.size() >= kMaxPending)
      return fail(client, id, "too many requests are pending");
    serve(client, request);
  } catch (const BadRequest& error) {
    fail(client, id, error.what());
  } catch (const std::exception& error) {
    fail(client, id, std::string("the request failed: ") + error.what());
  }
}

void ControlCommands::serve(ControlServer::ClientId client, const Json& request) {
  const std::string command = read_text(request, "command");
  const Json id = request.value("id", Json());
  if (command == "status") return succeed(client, id, status_json(target_.status()));
  if (command == "start") return start(client, request);
  if (command == "stop") return stop(client, request);
  if (command == "window") return window(client, request);
  if (command == "counters") return counters(client, request);
  if (command == "metrics") return metrics(client, request);
  if (command == "snapshot") return write(client, request, true);
  if (command == "flush") return write(client, request, false);
  if (command == "subscribe") return subscribe(client, request);
  if (command == "unsubscribe") {
    std::erase_if(subscriptions_, [client](const Subscription& known) { return known.client == client; });
    return succeed(client, id, Json::object());
  }
  if (command == "yield") return yield(client, request);
  if (command == "resume") {
    const std::string error = target_.reclaim_cupti();
    return error.empty() ? wait_for_cupti(client, id, Until::resumed) : fail(client, id, error);
  }
  throw BadRequest("unknown command \"" + command +
                   "\": use status, start, stop, window, counters, metrics, snapshot, flush, subscribe, "
                   "unsubscribe, yield or resume");
}

void ControlCommands::start(ControlServer::ClientId client, const Json& request) {
  if (request.value("counters", Json()).is_array())
    throw BadRequest("counters of start must be one mode, not a list");
  WindowRequest wanted = read_window_request(request);
  wanted.when_ready = true;
  const std::string error = target_.begin_window(wanted);
  if (!error.empty()) return fail(client, request.value("id", Json()), error);
  Pending pending{client, request.value("id", Json()), Until::opened};
  pending.window = target_.status().window.number;
  pending.give_up_ns = clock_now_ns() + kOpenPatienceNs;
  wait_for(std::move(pending));
}

void ControlCommands::stop(ControlServer::ClientId client, const Json& request) {
  schedule_.cancel();
  const SessionStatus before = target_.status();
  if (!is_closing(before.state)) {
    const std::string error = target_.close_window("stop");
    if (!error.empty()) return fail(client, request.value("id", Json()), error);
  }
  Pending pending{client, request.value("id", Json()), Until::complete};
  pending.window = before.window.number;
  wait_for(std::move(pending));
}

void ControlCommands::window(ControlServer::ClientId client, const Json& request) {
  const WindowPlan plan = read_window_plan(request);
  const SessionStatus before = target_.status();
  std::string error;
  if (before.state == SessionState::recording) error = "a window is open already";
  if (before.yielded) error = "CUPTI was given up with yield: send resume first";
  if (error.empty()) error = schedule_.submit(plan);
  const Json id = request.value("id", Json());
  if (!error.empty()) return fail(client, id, error);
  if (request.value("wait", Json(true)) == false) return succeed(client, id, {{"planned", true}});
  Pending pending{client, id, Until::complete};
  pending.window = before.window.number + 1;
  wait_for(std::move(pending));
}

void ControlCommands::write(ControlServer::ClientId client, const Json& request, bool with_summary) {
  Pending pending{client, request.value("id", Json()), Until::written};
  const SessionStatus status = target_.status();
  pending.window = status.window.number;
  pending.written = target_.request_write();
  pending.with_summary = with_summary;
  pending.give_up_ns = clock_now_ns() + kWritePatienceNs;
  if (pending.written == 0) return fail(client, pending.id, "no window is open");
  wait_for(std::move(pending));
}

void ControlCommands::counters(ControlServer::ClientId client, const Json& request) {
  target_.set_counters(read_counter_mode(request.value("mode", Json())));
  succeed(client, request.value("id", Json()), status_json(target_.status()));
}

void ControlCommands::metrics(ControlServer::ClientId client, const Json& request) {
  const std::string wanted = read_text(request, "set");
  const std::string error = wanted.empty() ? std::string() : target_.set_metrics(wanted);
  if (!error.empty()) return fail(client, request.value("id", Json()), error);
  succeed(client, request.value("id", Json()), {{"metrics", target_.status().metrics}});
}

void ControlCommands::subscribe(ControlServer::ClientId client, const Json& request) {
  Subscription subscription;
  subscription.client = client;
  subscription.id = request.value("id", Json());
  subscription.every_ns =
      static_cast<std::int64_t>(read_number(request, "every_ms", 100, 3'600'000, 1000)) * kNsPerMs;
  std::erase_if(subscriptions_, [client](const Subscription& known) { return known.client == client; });
  subscriptions_.push_back(std::move(subscription));
  succeed(client, request.value("id", Json()), status_json(target_.status()));
}

void ControlCommands::yield(ControlServer::ClientId client, const Json& request) {
  const Json id = request.value("id", Json());
  const Json keep = request.value("keep_window", Json(false));
  if (!keep.is_boolean()) throw BadRequest("keep_window must be true or false");
  std::string cause = read_text(request, "cause");
  if (cause.size() > kMaxCauseBytes)
    throw BadRequest("cause must have at most " + std::to_string(kMaxCauseBytes) + " bytes");
  if (cause.empty()) cause = "yield";
  const std::string error = target_.give_up_cupti(keep.get<bool>() ? cause : std::string());
  if (!error.empty()) return fail(client, id, error + ": send stop first");
  wait_for_cupti(client, id, Until::yielded);
}

void ControlCommands::wait_for_cupti(ControlServer::ClientId client, const Json& id, Until until) {
  const SessionStatus status = target_.status();
  if (status.yielded == (until == Until::yielded)) return succeed(client, id, status_json(status));
  Pending pending{client, id, until};
  pending.window = status.window.number;
  pending.give_up_ns = clock_now_ns() + kHandOverPatienceNs;
  wait_for(std::move(pending));
}

bool ControlCommands::waits(ControlServer::ClientId client) const {
  const auto is_of_client = [client](const auto& known) { return known.client == client; };
  return std::any_of(pending_.begin(), pending_.end(), is_of_client) ||
         std::any_of(subscriptions_.begin(), subscriptions_.end(), is_of_client);
}

void ControlCommands::on_gone(ControlServer::ClientId client) {
  std::erase_if(pending_, [client](const Pending& pending) { return pending.client == client; });
  std::erase_if(subscriptions_, [client](const Subscription& known) { return known.client == client; });
}

Json ControlCommands::window_json(const WindowProgress& window, bool complete) {
  Json json = {{"number", window.number},
               {"folder", window.folder},
               {"complete", complete},
               {"records", window.records},
               {"bytes_written", window.bytes_written},
               {"lost", window.lost},
               {"begin_unix_ns", std::to_string(window.begin_ns)}};
  if (window.end_ns != 0) json["end_unix_ns"] = std::to_string(window.end_ns);
  if (!window.error.empty()) json["error"] = window.error;
  return json;
}

Json ControlCommands::status_json(const SessionStatus& status) const {
  Json json = facts_;
  json["state"] = state_text(status.state);
  json["yielded"] = status.yielded;
  json["holds_cupti"] = status.holds_cupti;
  json["counters"] = counter_mode_text(status.counters);
  json["metrics"] = status.metrics;
  json["launches"] = status.launches;
  json["planned"] = schedule_.busy();
  if (status.window.number != 0) json["window"] = window_json(status.window, is_complete(status.state));
  return json;
}

void ControlCommands::succeed(ControlServer::ClientId client, const Json& id, Json answer) {
  answer["v"] = kControlVersion;
  answer["ok"] = true;
  if (!id.is_null()) answer["id"] = id;
  server_->send(client, answer.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ControlCommands::fail(ControlServer::ClientId client, const Json& id, const std::string& error) {
  Json answer = {{"v", kControlVersion}, {"ok", false}, {"error", error}};
  if (!id.is_null()) answer["id"] = id;
  server_->send(client, answer.dump(-1, ' ', false, Json::error_handler_t::replace));
}

bool ControlCommands::answer_if_done(const Pending& pending, const SessionStatus& status,
                                     std::int64_t now_ns) {
  const WindowProgress& window = status.window;
  const bool same = window.number == pending.window;
  const bool idle = is_complete(status.state);
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
    case Until::yielded:
      if (status.yield_refused) {
        fail(pending.client, pending.id,
             "threads of the program call CUDA without a pause of 0.1 s, in which CUPTI could be given up");
        return true;
      }
      [[fallthrough]];
    case Until::resumed:
      done = status.yielded == (pending.until == Until::yielded);
      if (done) succeed(pending.client, pending.id, status_json(status));
      return done || give_up(pending, now_ns);
  }
  if (done) {
    Json answer = {{"window", window_json(window, idle)}};
    if (pending.with_summary) {
      const std::string text = target_.summary();
      answer["file"] = window.folder + "/summary.json";
      if (text.size() <= kMaxSummaryBytes) answer["summary"] = parse(text);
    }
    succeed(pending.client, pending.id, std::move(answer));
    return true;
  }
  return give_up(pending, now_ns);
}

bool ControlCommands::give_up(const Pending& pending, std::int64_t now_ns) {
  if (pending.give_up_ns == 0 || now_ns < pending.give_up_ns) return false;
  fail(pending.client, pending.id, "the request timed out: send status to see the window's state");
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
  subscription.written = target_.request_write();
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
    if (!answer_if_done(pending, status, now_ns)) waiting.push_back(std::move(pending));
  }
  pending_.insert(pending_.begin(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
  // Safe: a client that is disconnected in here leaves the list later, in on_gone().
  for (Subscription& subscription : subscriptions_) serve_subscription(subscription, status, now_ns);
}

std::int64_t ControlCommands::next_tick_ms(std::int64_t now_ns) const {
  if (!pending_.empty()) return kPendingPollMs;
  std::int64_t soonest = -1;
  for (const Subscription& subscription : subscriptions_) {
    const std::int64_t wait = subscription.written != 0
                                  ? kPendingPollMs
                                  : std::max<std::int64_t>(1, (subscription.due_ns - now_ns) / kNsPerMs);
    soonest = soonest < 0 ? wait : std::min(soonest, wait);
  }
  return soonest;
}

}  // namespace rangefinder
