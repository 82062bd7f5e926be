// SPDX-License-Identifier: Apache-2.0
//
// Session: opens and closes windows, and reports their status.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "profiler/base/out_template.h"
#include "profiler/guest/log.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/session/session.h"

namespace rangefinder {
namespace {

/// Maximum wait for the records of work that was launched before a window's end.
constexpr std::uint32_t kRecordPatienceMs = 5000;

/// Maximum wait, after a window's end, for driver calls that began in it.
constexpr std::int64_t kCallPatienceNs = 200'000'000;

/// A window requested while cuInit runs waits this long for cuInit, and then for a context.
constexpr std::chrono::milliseconds kDriverPatience{10'000}, kContextPatience{1000};

/// The ledger counts for the process. A window starts it at 0, except for threads that still have no ring.
void reset_loss(LossLedger& loss) noexcept {
  for (std::size_t cause = 0; cause < kLossCauses.size(); ++cause) {
    if (static_cast<Loss>(cause) != Loss::threads_without_ring) loss.set(static_cast<Loss>(cause), 0);
  }
}

/// Maximum number of turns that a window's end waits until all its callbacks are off.
constexpr int kMaxDisablingTurns = 5;

std::uint64_t lost_in(const LossLedger& loss) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : loss.snapshot()) sum += count;
  return sum;
}

}  // namespace

std::shared_ptr<DrainLoop> Session::drain() const {
  const std::lock_guard lock(drain_mutex_);
  return drain_;
}

bool Session::is_child() const noexcept {
  return options_.run_pid != 0 && getppid() != options_.run_pid;
}

// The first window has the requested folder; later ones append their number. Ranks get separate folders
// below it, in the key=value form of partitioned data sets. DrainLoop::open_trace() separates other
// processes when the folder already holds a trace.
std::string Session::default_folder(std::uint64_t window) const {
  const auto lookup = [](const char* name) { return std::getenv(name); };
  std::string folder = options_.out;
  if (!names_process(folder)) {
    const std::string rank = rank_from(lookup);
    const bool names_rank = folder.find("%r") != std::string::npos || folder.find("%q{") != std::string::npos;
    if (!rank.empty() && !names_rank) folder += "/host=%h/rank=%r/pid=%p";
  }
  return window <= 1 ? folder : folder + "." + std::to_string(window);
}

bool Session::start_drain(const WindowRequest& request, bool late) {
  DrainLoop::Sources sources{recorder(), options_};
  if (collection_.held()) {
    sources.cupti = &collection_.cupti();
    sources.buffers = collection_.buffers();
    sources.exact = collection_.exact();
    sources.sampler = collection_.sampler();
    sources.cost = [this] { return collection_.callback_cost(); };
  }
  sources.out = request.out.empty() ? default_folder(windows_.load()) : request.out;
  if (late) sources.begin = request.when_ready ? DrainLoop::Begin::when_ready : DrainLoop::Begin::on_call;
  sources.more_windows = control_ != nullptr;
  if (late) sources.begin_ns = request.when_ready ? request.begin_ns : begin_ns_.load();
  auto made = std::make_shared<DrainLoop>(std::move(sources));
  recorder().recording.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(drain_mutex_);
    drain_ = made;
  }
  return made->start();
}

void Session::open_first_window() noexcept {
  try {
    std::call_once(first_window_, [this] {
      register_exit();
      state_.store(SessionState::opening);
      windows_.store(1);
      begin_ns_.store(recorder().clock.now_ns());
      // Before the drain thread, which must know whether other windows may follow.
      start_control();
      if (start_drain({}, false)) {
        SessionState opening = SessionState::opening;
        state_.compare_exchange_strong(opening, SessionState::recording);
        return;
      }
      say_once("cannot start the recording thread. The application continues without being recorded.");
      recorder().silent.store(true, std::memory_order_relaxed);
    });
  } catch (...) {
    recorder().silent.store(true, std::memory_order_relaxed);
  }
}

// If CUPTI is switched on while another thread initialises the driver, windows after the first may have no
// kernel records (docs/decisions.md). So an early window waits for cuInit, and for the primary context that
// the CUDA runtime creates after it.
void Session::wait_for_driver() const {
  if (driver_is_ready()) return;
  const auto wait_for = [this](bool (*what)(), std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!what() && state_.load() == SessionState::opening && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  wait_for(&driver_is_ready, kDriverPatience);
  wait_for(&has_primary_context, kContextPatience);
}

std::string Session::open_window(const WindowRequest& request) {
  if (request.when_ready) wait_for_driver();
  std::string error;
  if (!collection_.load(error)) return error;
  Recorder& own = recorder();
  own.threads.discard_events();
  reset_loss(own.loss);
  window_counters_.store(request.counters.value_or(counters_.load()));
  register_exit();
  if (!collection_.begin(window_counters_.load(), true, error)) return error;
  begin_ns_.store(request.begin_ns != 0 ? request.begin_ns : recorder().clock.now_ns());
  end_ns_.store(0);
  windows_.fetch_add(1);
  if (!start_drain(request, true)) {
    forget_window();
    end_collection();
    windows_.fetch_sub(1);
    return "cannot start the recording thread";
  }
  if (!request.when_ready) drain()->begin_recording();
  return {};
}

std::string Session::begin_window(const WindowRequest& request) noexcept {
  if (yielded_.load()) return "CUPTI was given up with yield: send resume first";
  const InsideCupti inside(*this);
  SessionState state = SessionState::idle;
  if (!state_.compare_exchange_strong(state, SessionState::opening)) {
    return state == SessionState::recording ? "a window is open already" : kNotCompleteYet;
  }
  std::string error;
  try {
    error = open_window(request);
  } catch (...) {
    error = "out of memory";
  }
  SessionState opening = SessionState::opening;
  const SessionState next = error.empty() ? SessionState::recording : SessionState::idle;
  state_.compare_exchange_strong(opening, next);
  return error;
}

std::string Session::close_window(const char* reason) noexcept {
  SessionState state = SessionState::recording;
  if (!state_.compare_exchange_strong(state, SessionState::opening)) return "no window is open";
  reason_.store(reason);
  end_ns_.store(recorder().clock.now_ns());
  recorder().record_until_ns.store(end_ns_.load(), std::memory_order_seq_cst);
  SessionState ours = SessionState::opening;
  state_.compare_exchange_strong(ours, SessionState::closing);
  return {};
}

void Session::forget_window() {
  const std::lock_guard lock(drain_mutex_);
  drain_.reset();
}

// Calls that began in the window and still run belong to it, so the window's end waits for them.
bool Session::calls_in_progress() const {
  const std::int64_t end_ns = end_ns_.load();
  return recorder().clock.now_ns() - end_ns < kCallPatienceNs && recorder().threads.any_work_before(end_ns);
}

bool Session::finish_window() {
  const InsideCupti inside(*this);
  retry_end_collection();
  const auto drain_thread = drain();
  if (!drain_thread) return false;
  // A drain thread that could not open its folder has ended by itself.
  if (state_.load() == SessionState::recording && drain_thread->ended()) (void)close_window("failed");
  if (state_.load() != SessionState::closing) return false;
  if (!quiesced_) {
    if (calls_in_progress()) return true;
    if (collection_.held()) collection_.quiesce();
    drain_thread->end_window(reason_.load(), end_ns_.load(), kRecordPatienceMs);
    quiesced_ = true;
  }
  if (!drain_thread->ended()) return true;
  WindowProgress progress = status().window;
  std::string text = drain_thread->progress(true).summary;
  if (collection_.held()) end_collection();
  // Usually done at the second turn. If a thread is in a long call, retry_end_collection() finishes later.
  if (disabling_callbacks_.load() && ++disabling_turns_ < kMaxDisablingTurns) return true;
  disabling_turns_ = 0;
  recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  quiesced_ = false;
  {
    const std::lock_guard lock(drain_mutex_);
    last_window_ = std::move(progress);
    last_summary_ = std::move(text);
    drain_.reset();
  }
  if (BufferPool* const buffers = collection_.buffers()) buffers->shrink();
  SessionState closing = SessionState::closing;
  state_.compare_exchange_strong(closing, SessionState::idle);
  return false;
}

SessionStatus Session::status() {
  SessionStatus status;
  status.state = state_.load();
  status.yielded = yielded_.load();
  status.holds_cupti = collection_.held();
  status.disabling_callbacks = disabling_callbacks_.load();
  const bool open = status.state == SessionState::recording || status.state == SessionState::closing;
  status.counters = open ? window_counters_.load() : counters_.load();
  status.metrics = collection_.metrics();
  if (collection_.loaded()) status.launches = collection_.callback_cost().launch_callbacks;
  const auto drain_thread = drain();
  if (!drain_thread) {
    const std::lock_guard lock(drain_mutex_);
    status.window = last_window_;
    return status;
  }
  DrainLoop::Progress progress = drain_thread->progress(false);
  WindowProgress& window = status.window;
  window.number = windows_.load();
  window.opened = progress.opened;
  window.folder = std::move(progress.folder);
  window.error = std::move(progress.error);
  window.begin_ns = progress.begin_ns != 0 ? progress.begin_ns : begin_ns_.load();
  window.end_ns = end_ns_.load();
  window.records = progress.records;
  window.bytes_written = progress.bytes_written;
  window.written = progress.written;
  window.lost = lost_in(recorder().loss);
  return status;
}

void Session::set_counters(CounterMode counters) {
  counters_.store(counters);
}

std::string Session::set_metrics(const std::string& metrics) {
  if (state_.load() != SessionState::idle) return "a window is open: metrics can change only between windows";
  return collection_.set_metrics(metrics) ? std::string() : "metrics were changed too often in this process";
}

std::uint64_t Session::request_write() {
  const auto drain_thread = drain();
  return state_.load() == SessionState::recording && drain_thread ? drain_thread->request_write() : 0;
}

std::string Session::summary() {
  if (const auto drain_thread = drain(); drain_thread) return drain_thread->progress(true).summary;
  const std::lock_guard lock(drain_mutex_);
  return last_summary_;
}

}  // namespace rangefinder
