// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/session.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "profiler/base/out_template.h"
#include "profiler/guest/environment.h"
#include "profiler/guest/host_lock.h"
#include "profiler/guest/log.h"
#include "profiler/guest/signals_blocked.h"
#include "profiler/guest/slow_path.h"
#include "profiler/nvtx/nvtx.h"

namespace rangefinder {
namespace {

/// Maximum time that we may delay an exiting application (design, rule 5: within two seconds).
constexpr std::chrono::milliseconds kExitPatience{1800};
/// The part of it that is reserved for the drain thread, even if counters are slow to stop.
constexpr std::chrono::milliseconds kDrainPatience{900};

constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";

std::atomic<Session*> current{nullptr};  // the exit handler takes no argument

void stop_at_exit() {
  if (Session* const session = current.load(std::memory_order_acquire); session != nullptr)
    slow_path([session] { session->stop("exit"); });
}

/// The file that this code was loaded from.
std::string own_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&stop_at_exit), &info) == 0 || info.dli_fname == nullptr)
    return {};
  char* const absolute = realpath(info.dli_fname, nullptr);
  std::string path = absolute != nullptr ? absolute : info.dli_fname;
  std::free(absolute);
  return path;
}

/// Makes `out` absolute: the application may change its working directory later.
Options with_absolute_out(Options options) {
  const auto lookup = [](const char* name) { return std::getenv(name); };
  if (expand_out_template(options.out, {"0", "", ""}, lookup).text.starts_with('/')) return options;
  char* const here = getcwd(nullptr, 0);
  if (here == nullptr) return options;
  std::string absolute;
  out_template::append_value(absolute, here, true);
  options.out = absolute + "/" + options.out;
  std::free(here);
  return options;
}

bool is_own_path(const char* path) {
  char* const absolute = realpath(path, nullptr);
  const bool same = absolute != nullptr && own_path() == absolute;
  std::free(absolute);
  return same;
}

}  // namespace

void Session::prepare_nvtx() noexcept {
  static std::once_flag once;
  const SignalsBlocked blocked;  // a signal handler that calls NVTX here would wait for its own thread
  try {
    std::call_once(once, [] {
      // Not kept for start_from_environment(): until then the program may change its environment.
      const Options options = read_options(environ);
      nvtx_set_chain(options.nvtx_chain.c_str());
      recorder().fold_digits.store(options.fold_digits, std::memory_order_relaxed);
      // Events before CUDA's start belong to the first window only if it begins by itself.
      if (!options.starts_recording())
        recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
    });
  } catch (...) {
    // The chain stays unset; our own handlers work.
  }
}

Session::Session(Options options)
    : options_(with_absolute_out(std::move(options))),
      pid_(getpid()),
      collection_(options_, hooks()),
      counters_(options_.counters),
      window_counters_(options_.counters) {}

Collection::Hooks Session::hooks() {
  return {
      this,
      [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_created(context); },
      [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_destroyed(context); },
      [](void* self, bool start) { static_cast<Session*>(self)->on_profiler_call(start); },
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
  session->attach_nvtx();
  if (session->options_.starts_recording()) {
    session->start_recording();
  } else {
    session->start_idle();
  }
  return session;
}

void Session::attach_nvtx() {
  const char* const before = std::getenv(kNvtxVariable);
  const std::string self = own_path();
  if (self.empty() || (before != nullptr && is_own_path(before))) return;
  if (before != nullptr && *before != '\0') nvtx_set_chain(before);
  // Affects only shared objects that have not used NVTX yet; `rangefinder run` sets it for all.
  (void)set_environment(kNvtxVariable, self);
}

void Session::start_recording() {
  recorder().record_until_ns.store(Recorder::kAlways, std::memory_order_relaxed);
  std::string error;
  if (collection_.load(error) && collection_.begin(counters_.load(), false, error)) return;
  report_no_cupti(error);
  // Without CUPTI no callback reports a context, and no exit handler of the driver matters: begin now.
  std::atexit(stop_at_exit);
  open_first_window();
}

// Starts without a window. Loads CUPTI only if callbacks are needed before the first window.
void Session::start_idle() {
  recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  const bool profiler_calls = options_.capture.by == CaptureBy::profiler_calls;
  std::string error;
  if ((options_.start == StartMode::ready || profiler_calls) &&
      (!collection_.load(error) || !collection_.hold(profiler_calls, error))) {
    say_once(error + ". No window can be opened until this is fixed.");
  }
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

void Session::report_no_cupti(const std::string& reason) {
  say_once(reason + ". Kernels and copies are not recorded; NVTX ranges are.");
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

void Session::on_profiler_call(bool start) noexcept {
  if (control_) control_->on_profiler_call(start);
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
    if (const auto drain_thread = drain(); drain_thread) drain_thread->report_refusal(reason);
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
  // Bounded, because this very thread may be the one inside, in a callback that opens a window.
  while (inside_cupti_.load() != 0 && std::chrono::steady_clock::now() < deadline - kDrainPatience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (before == SessionState::idle) return;
  // Even if nothing is recorded any more: counters must not run while the driver shuts down.
  collection_.finish(deadline - kDrainPatience);
  const auto drain_thread = drain();
  if (recorder().silent.load(std::memory_order_relaxed) || !drain_thread) return;
  // The window was closed already, but it is not complete yet.
  if (before == SessionState::closing) drain_thread->end_window(reason_.load(), end_ns_.load(), 0);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  drain_thread->stop(reason, static_cast<std::uint32_t>(std::max(left, kDrainPatience).count()));
  recorder().silent.store(true, std::memory_order_relaxed);
}

}  // namespace rangefinder
