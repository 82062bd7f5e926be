// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/control_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "profiler/events/hold_scope.h"
#include "profiler/events/recorder.h"
#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"
#include "profiler/output/process_facts.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kFinishingInterval{5}, kDisablingInterval{50};
/// Maximum time that cuProfilerStart waits for the previous window.
constexpr std::chrono::milliseconds kProfilerStartPatience{2000};

std::atomic<ControlServer*> server_of_process{nullptr};  // for the fork handler

nlohmann::json facts_of_process(bool redact) {
  const Header header = read_process_facts(redact);
  nlohmann::json facts = {{"pid", header.pid},
                          {"host", header.host},
                          {"executable", header.executable},
                          {"command", header.command},
                          {"version", header.tool_version}};
  if (!header.rank.empty()) facts["rank"] = header.rank;
  return facts;
}

}  // namespace

ControlThread::ControlThread(ControlTarget& target, const Options& options)
    : target_(target),
      options_(options),
      ranges_(
          recorder(), target, [](void* self) noexcept { static_cast<ControlThread*>(self)->wake(); }, this),
      schedule_(target, ranges_),
      commands_(target, schedule_, facts_of_process(options.redact)),
      server_(commands_, {}) {
  commands_.answer_through(server_);
}

void ControlThread::open_socket() {
  ControlSocket socket;
  if (options_.control) {
    socket = open_control_socket(control_folders(std::getenv("XDG_RUNTIME_DIR"), geteuid()), getpid());
    if (socket.file < 0) log_info("no control socket: " + socket.error);
  }
  if (!server_.open(std::move(socket))) log_info("no control socket: out of file descriptors");
  server_of_process.store(&server_, std::memory_order_release);
  // A forked child would keep the socket open, but has no thread that answers.
  pthread_atfork(nullptr, nullptr, [] {
    if (ControlServer* const server = server_of_process.load(); server != nullptr) server->close_in_child();
  });
}

bool ControlThread::start() {
  open_socket();
  begin_capture();
  return start_own_thread(
      "rangefinder-ctl", [](void* self) { static_cast<ControlThread*>(self)->run(); }, this);
}

void ControlThread::close() noexcept {
  if (closing_.exchange(true)) return;
  report_capture_error();
  server_.remove_file();
}

void ControlThread::report_capture_error() noexcept {
  try {
    if (options_.capture.by == CaptureBy::ranges && ranges_.windows_left() == 0 && !ranges_.error().empty() &&
        !capture_error_reported_.exchange(true))
      say_once("--capture opened no window: " + ranges_.error());
    if (options_.capture.by == CaptureBy::time && !schedule_.error().empty() &&
        !capture_error_reported_.exchange(true))
      say_once("--capture opened no window: " + schedule_.error());
  } catch (...) {
    recorder().loss.add(Loss::record_sink_errors);
  }
}

void ControlThread::begin_capture() {
  const CaptureRequest& capture = options_.capture;
  captures_left_.store(capture.windows);
  if (capture.by == CaptureBy::ranges) {
    const RangeCount ranges{capture.glob, capture.domain, capture.after_count, capture.for_count};
    if (!ranges_.arm(ranges, {WindowRequest{}}, capture.windows)) log_info("--capture: out of memory");
  }
}

// Submits windows by time one after the other. Windows over ranges run by themselves; only their errors
// are reported here.
void ControlThread::watch_capture(std::int64_t now_ns) {
  const CaptureRequest& capture = options_.capture;
  if (!closing_.load()) report_capture_error();
  if (capture.by != CaptureBy::time || schedule_.busy() || timed_captures_ >= capture.windows) return;
  ++timed_captures_;
  WindowPlan plan;
  plan.at_ns = now_ns + capture.after_ns;
  plan.for_ns = capture.for_ns;
  (void)schedule_.submit(plan);
}

void ControlThread::on_profiler_call(bool start) noexcept {
  if (closing_.load() || options_.capture.by != CaptureBy::profiler_calls) return;
  if (!start) {
    (void)target_.close_window("cuProfilerStop");
    return wake();
  }
  if (captures_left_.load() == 0) return;
  const HoldScope hold(recorder(), HoldCause::session_start);
  const auto deadline = std::chrono::steady_clock::now() + kProfilerStartPatience;
  std::string error = target_.begin_window({});
  while (error == kNotCompleteYet && std::chrono::steady_clock::now() < deadline && !closing_.load()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    error = target_.begin_window({});
  }
  if (error.empty() && captures_left_.load() != CaptureRequest::kUnlimited) captures_left_.fetch_sub(1);
  if (!error.empty()) log_info("cuProfilerStart opened no window: " + error);
}

std::int64_t ControlThread::wait_ms(std::int64_t now_ns, bool finishing) const {
  std::int64_t wait = finishing ? kFinishingInterval.count() : -1;
  if (!finishing && target_.status().state == SessionState::settling) wait = kDisablingInterval.count();
  for (const std::int64_t other : {schedule_.next_tick_ms(now_ns), commands_.next_tick_ms(now_ns)}) {
    if (other >= 0) wait = wait < 0 ? other : std::min(wait, other);
  }
  return wait;
}

void ControlThread::turn() {
  const bool finishing = target_.finish_window();
  std::int64_t now_ns = clock_now_ns();
  watch_capture(now_ns);
  schedule_.tick(now_ns);
  commands_.tick(now_ns);
  now_ns = clock_now_ns();
  // The schedule may just have closed a window: finish it soon.
  const bool again = finishing || is_closing(target_.status().state);
  server_.poll(std::chrono::milliseconds(wait_ms(now_ns, again)));
}

void ControlThread::run() noexcept {
  while (!closing_.load()) {
    try {
      turn();
    } catch (...) {
      recorder().loss.add(Loss::record_sink_errors);
      std::this_thread::sleep_for(kFinishingInterval);
    }
  }
}

}  // namespace rangefinder
