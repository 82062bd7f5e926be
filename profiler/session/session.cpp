// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/session.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "profiler/base/out_template.h"
#include "profiler/guest/host_lock.h"
#include "profiler/guest/log.h"
#include "profiler/guest/slow_path.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/session/nvtx_start.h"

namespace rangefinder {
namespace {

/// Maximum time that we may delay an exiting application (design, rule 5: within two seconds).
constexpr std::chrono::milliseconds kExitPatience{1800};
/// The part of it that is reserved for the drain thread, even if counters are slow to stop.
constexpr std::chrono::milliseconds kDrainPatience{900};

/// Maximum wait for the records of work that was launched before a window's end.
constexpr std::uint32_t kRecordPatienceMs = 5000;

/// A window requested while cuInit runs waits this long for cuInit, and then for a context.
constexpr std::chrono::milliseconds kDriverPatience{10'000}, kContextPatience{1000};

/// Maximum number of tries, at a window's end, to switch all callbacks off, and the time between two.
constexpr int kMaxDisablingTries = 5;
constexpr std::chrono::milliseconds kDisablingInterval{5};

std::atomic<Session*> current{nullptr};  // the exit handler takes no argument

void stop_at_exit() {
  if (Session* const session = current.load(std::memory_order_acquire); session != nullptr)
    slow_path([session] { session->stop("exit"); });
}

/// Makes `out` absolute: the application may change its working directory later.
Options with_absolute_out(Options options) {
  char* const here = getcwd(nullptr, 0);
  options.out = absolute_out_template(options.out, here, [](const char* name) { return std::getenv(name); });
  std::free(here);
  return options;
}

}  // namespace

Session::Session(Options options)
    : options_(with_absolute_out(std::move(options))),
      pid_(getpid()),
      collection_(options_, hooks()),
      counters_(options_.counters) {}

Collection::Hooks Session::hooks() {
  return {
      this,
      [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_created(context); },
      [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_destroyed(context); },
      [](void* self, bool start) { static_cast<Session*>(self)->on_profiler_call(start); },
      [](void* self) { static_cast<Session*>(self)->on_synchronised(); },
      [](void* self, const std::string& reason) { static_cast<Session*>(self)->on_counters_refused(reason); },
      // The counter library has registered its exit handlers by now. Ours, registered later, runs first.
      [](void*) { (void)std::atexit(stop_at_exit); },
  };
}

Session* Session::start_from_environment() {
  prepare_nvtx();
  // Leaked on purpose: callbacks may come until the process ends.
  auto* const session = new Session(read_options(environ));
  current.store(session, std::memory_order_release);
  start_log(session->options_.log);
  for (const std::string& problem : session->options_.problems) say_once(problem);
  if (!session->options_.children && session->is_child()) {
    recorder().silent.store(true, std::memory_order_relaxed);
    return session;
  }
  set_nvtx_variable();
  if (session->options_.starts_recording()) {
    session->start_recording();
  } else {
    session->start_idle();
  }
  return session;
}

void Session::start_recording() {
  recorder().record_until_ns.store(Recorder::kAlways, std::memory_order_relaxed);
  std::string error;
  if (collection_.load(error) &&
      collection_.begin(counters_.load(), options_.counters_requested, false, error))
    return;
  say_once(error + ". Kernels and copies are not recorded; NVTX ranges are.");
  // Without CUPTI no callback reports a context, and no exit handler of the driver matters: begin now.
  std::atexit(stop_at_exit);
  open_first_window();
}

// Starts without a window. Loads CUPTI only if callbacks are needed before the first window.
void Session::start_idle() {
  recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  std::string error;
  const bool needs_callbacks =
      options_.start == StartMode::ready || options_.capture.by == CaptureBy::profiler_calls;
  if (needs_callbacks && !hold(error)) say_once(error + ". No window can be opened until this is fixed.");
  start_control();
}

void Session::start_control() noexcept {
  try {
    std::call_once(control_once_, [this] {
      if (!options_.control && options_.starts_recording()) return;
      // A forked child must not answer on our socket.
      recorder().recording.store(true, std::memory_order_relaxed);
      std::atexit(stop_at_exit);  // removes the socket's file
      control_ = std::make_unique<ControlThread>(*this, options_);
      if (!control_->start()) log_info("no control socket: cannot start its thread");
    });
  } catch (...) {
    log_info("no control socket: out of memory");
  }
}

void Session::on_context_created(CUcontext context) noexcept {
  if (options_.starts_recording()) {
    open_first_window();
  } else {
    register_exit();
  }
  if (PmSampler* const sampler = collection_.any_sampler(); sampler != nullptr)
    sampler->context_created(context);
}

void Session::on_context_destroyed(CUcontext context) noexcept {
  if (PmSampler* const sampler = collection_.any_sampler(); sampler != nullptr)
    sampler->context_destroyed(context);
  recorder().wake_drain();
}

void Session::register_exit() noexcept {
  // Exit handlers run last in, first out. Ours must run before the driver's, which destroys the contexts that
  // counters live in. So register when the first window opens, and again when the first context exists. Not
  // more than twice: the list would grow with every window.
  if (exit_registrations_.fetch_add(1) < 2) (void)std::atexit(stop_at_exit);
}

void Session::on_counters_refused(const std::string& reason) noexcept {
  try {
    const std::string line = "no bytes: " + reason + ". Everything else is recorded.";
    options_.counters_requested ? say_once(line) : log_info(line);
    if (const auto open = window(); open) open->report_refusal(reason);
  } catch (...) {
    recorder().loss.add(Loss::record_sink_errors);
  }
}

void Session::stop(const char* reason) noexcept {
  if (getpid() != pid_) return;
  wait_no_longer_for_locks();
  if (control_) control_->close();
  const SessionState before = state_.exchange(SessionState::ended);
  if (before == SessionState::ended) return;
  const auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  // Bounded, because this very thread may be the one that opens a window, in a callback.
  const std::unique_lock inside(changing_, deadline - kDrainPatience);
  const auto last = window();
  if (is_complete(before) && inside && !last) return;
  // Even if nothing is recorded any more: counters must not run while the driver shuts down.
  if (before != SessionState::yielded && !(last && HandOver::yielded(*last)))
    collection_.finish(deadline - kDrainPatience);
  if (inside) samplers_.stop_conditions();  // no call of NVML while its library is torn down
  if (recorder().silent.load(std::memory_order_relaxed) || !last) return;
  // The window was closed already, but it is not complete yet.
  if (is_closing(before)) last->request_end(0);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  last->stop(reason, static_cast<std::uint32_t>(std::max(left, kDrainPatience).count()));
  recorder().silent.store(true, std::memory_order_relaxed);
}

std::shared_ptr<Window> Session::window() const {
  const std::lock_guard lock(window_mutex_);
  return window_;
}

void Session::set_window(std::shared_ptr<Window> window) {
  const std::lock_guard lock(window_mutex_);
  window_.swap(window);
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

bool Session::start_window(const WindowRequest& request, DrainLoop::Begin begin, CounterMode counters) {
  const std::uint64_t number = windows_ + 1;
  const std::int64_t begin_ns = request.begin_ns != 0 ? request.begin_ns : recorder().clock.now_ns();
  DrainLoop::Sources sources{recorder(), options_};
  if (collection_.held()) {
    sources.cupti = &collection_.cupti();
    sources.callback_cost = &collection_.callback_cost();
    sources.buffers = collection_.buffers();
    sources.exact = collection_.exact();
    sources.sampler = collection_.sampler();
  }
  sources.conditions = samplers_.conditions(options_);
  sources.stacks = samplers_.stacks(options_);
  sources.out = request.out.empty() ? default_folder(number) : request.out;
  sources.begin = begin;
  if (begin == DrainLoop::Begin::when_ready) sources.begin_ns = request.begin_ns;
  if (begin == DrainLoop::Begin::on_call) sources.begin_ns = begin_ns;
  sources.more_windows = control_ != nullptr;
  const auto made = std::make_shared<Window>(number, counters, begin_ns, std::move(sources));
  recorder().recording.store(true, std::memory_order_relaxed);
  set_window(made);  // before it starts: its counters may be refused at once
  if (!made->start()) {
    set_window(nullptr);
    return false;
  }
  windows_ = number;
  return true;
}

void Session::open_first_window() noexcept {
  try {
    std::call_once(first_window_, [this] {
      register_exit();
      const auto changing = try_changing();
      // Before the drain thread, which must know whether other windows may follow.
      start_control();
      const bool started = start_window({}, DrainLoop::Begin::with_process, counters_.load());
      collection_.report_waits(recorder().clock.now_ns() + kYoungNs);
      (void)move(SessionState::idle, SessionState::recording);  // at exit, what was switched on is stopped
      if (started) return;
      say_once("cannot start the recording thread. The application continues without being recorded.");
      recorder().silent.store(true, std::memory_order_relaxed);
    });
  } catch (...) {
    recorder().silent.store(true, std::memory_order_relaxed);
  }
}

// CUPTI switched on while another thread is in cuInit, or in the runtime's first context: windows after the
// first may have no kernel records (docs/internals/decisions.md).
void Session::wait_for_driver() const {
  if (driver_is_ready()) return;
  const auto wait_for = [this](bool (*what)(), std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!what() && state_.load() != SessionState::ended && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  wait_for(&driver_is_ready, kDriverPatience);
  wait_for(&has_primary_context, kContextPatience);
}

std::string Session::open_window(const WindowRequest& request) {
  if (request.when_ready) wait_for_driver();
  std::string error;
  if (!collection_.load(error)) return error;
  recorder().threads.discard_events();
  recorder().loss.begin_window();
  const CounterMode counters = request.counters.value_or(counters_.load());
  register_exit();
  const bool requested = request.counters.has_value() || options_.counters_requested;
  if (!collection_.begin(counters, requested, true, error)) return error;
  const auto begin = request.when_ready ? DrainLoop::Begin::when_ready : DrainLoop::Begin::on_call;
  if (!start_window(request, begin, counters)) {
    (void)end_collection();
    return "cannot start the recording thread";
  }
  if (begin == DrainLoop::Begin::on_call) window()->begin_recording();
  return {};
}

std::string Session::begin_window(const WindowRequest& request) noexcept {
  if (yielded()) return "CUPTI was given up with yield: send resume first";
  const auto changing = try_changing();
  const SessionState before = state_.load();
  if (before == SessionState::recording) return "a window is open already";
  if (!changing || !is_complete(before)) return kNotCompleteYet;
  try {
    const std::string error = open_window(request);
    if (error.empty()) (void)move(before, SessionState::recording);
    return error;
  } catch (...) {
    return "out of memory";
  }
}

std::string Session::close_window(const char* reason) noexcept {
  const auto changing = try_changing();
  const auto open = window();
  if (!changing || state_.load() != SessionState::recording || !open) return "no window is open";
  open->close(reason);
  (void)move(SessionState::recording, SessionState::closing);
  return {};
}

bool Session::finish_window() {
  settle();
  const auto last = window();
  if (!last) return false;
  if (HandOver::in_progress(*last)) {
    if (const auto changing = try_changing()) hand_over_.advance(*last);
    if (HandOver::in_progress(*last)) return true;
  }
  // A drain thread that could not open its folder has ended by itself.
  if (state_.load() == SessionState::recording && last->ended()) (void)close_window("failed");
  if (!is_closing(state_.load())) return false;
  const auto changing = try_changing();
  if (!changing) return true;
  if (state_.load() == SessionState::closing) {
    if (last->calls_in_progress()) return true;
    if (collection_.held()) collection_.quiesce();
    last->request_end(kRecordPatienceMs);
    (void)move(SessionState::closing, SessionState::finishing);
  }
  if (!last->ended()) return true;
  complete_window(*last);
  return false;
}

void Session::complete_window(Window& window) {
  const SessionState after = HandOver::yielded(window) ? SessionState::yielded : SessionState::idle;
  WindowProgress progress = window.progress();
  std::string summary = window.summary();
  // Usually off at the second try. If a thread is in a long call, settle() goes on.
  bool off = end_collection();
  for (int tries = 1; !off && tries < kMaxDisablingTries; ++tries) {
    std::this_thread::sleep_for(kDisablingInterval);
    off = end_collection();
  }
  recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  {
    const std::lock_guard lock(window_mutex_);
    last_window_ = std::move(progress);
    last_summary_ = std::move(summary);
    window_.reset();  // the caller holds it: nothing is destroyed under the lock
  }
  if (BufferPool* const buffers = collection_.buffers()) buffers->shrink();
  (void)move(SessionState::finishing, off ? after : SessionState::settling);
}

SessionStatus Session::status() {
  SessionStatus status;
  status.state = state_.load();
  const auto open = window();
  status.yielded = yielded();
  status.yield_refused = hand_over_.refused() && !(open && HandOver::in_progress(*open));
  status.holds_cupti = collection_.held();
  status.metrics = collection_.metrics();
  if (collection_.loaded()) status.launches = collection_.callback_cost().calls();
  status.counters = open ? open->counters() : counters_.load();
  if (open) {
    status.window = open->progress();
  } else {
    const std::lock_guard lock(window_mutex_);
    status.window = last_window_;
  }
  return status;
}

std::string Session::set_metrics(const std::string& metrics) {
  const auto changing = try_changing();
  if (!changing || !between_windows()) return "a window is open: metrics can change only between windows";
  return collection_.set_metrics(metrics) ? std::string() : "metrics were changed too often in this process";
}

std::uint64_t Session::request_write() {
  const auto open = window();
  return state_.load() == SessionState::recording && open ? open->request_write() : 0;
}

std::string Session::summary() {
  if (const auto open = window(); open) return open->summary();
  const std::lock_guard lock(window_mutex_);
  return last_summary_;
}

bool Session::hold(std::string& error) {
  return collection_.load(error) && collection_.hold(options_.capture.by == CaptureBy::profiler_calls, error);
}

// Restores the state of before the window. False: threads are in calls whose callbacks must still go off.
bool Session::end_collection() {
  if (!collection_.held()) return true;
  if (!collection_.end()) return false;
  if (!holds_between_windows()) collection_.release();
  return true;
}

// Threads in long calls may have kept callbacks on at the window's end.
void Session::settle() {
  if (state_.load() != SessionState::settling) return;
  const auto changing = try_changing();
  if (changing && state_.load() == SessionState::settling && end_collection())
    (void)move(SessionState::settling, SessionState::idle);
}

std::string Session::give_up_cupti(const std::string& gap_cause) {
  const auto changing = try_changing();
  if (const auto open = window(); changing && !gap_cause.empty() && state_.load() == SessionState::recording)
    return options_.monitor.on() ? "monitor mode needs CUPTI" : hand_over_.begin(*open, gap_cause);
  if (!changing || !between_windows()) return "a window is open";
  collection_.give_up();
  (void)(move(SessionState::settling, SessionState::yielded) ||
         move(SessionState::idle, SessionState::yielded));
  return {};
}

std::string Session::reclaim_cupti() {
  const auto changing = try_changing();
  if (state_.load() == SessionState::ended) return "the process is exiting";
  if (!changing || !yielded()) return "CUPTI was not given up";
  if (const auto open = window(); open && state_.load() == SessionState::recording)
    return hand_over_.take_back(*open);
  std::string error;
  if (!holds_between_windows() || hold(error)) (void)move(SessionState::yielded, SessionState::idle);
  return error;
}

}  // namespace rangefinder
