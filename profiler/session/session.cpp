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
#include "profiler/guest/scoped_cancel_disable.h"
#include "profiler/guest/signals_blocked.h"
#include "profiler/nvtx/nvtx.h"

namespace rangefinder {
namespace {

/// An exiting program may lose so much time to us (design, rule 5: within two seconds).
constexpr std::chrono::milliseconds kExitPatience{1800};
/// Of these, what the drain thread has even where counters were slow to stop.
constexpr std::chrono::milliseconds kDrainPatience{900};

constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";

std::atomic<Session*> current{nullptr};  // for the exit handler, which takes no argument

void stop_at_exit() {
  if (Session* const session = current.load(std::memory_order_acquire); session != nullptr)
    session->stop("exit");
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

/// The program may change its folder: a relative one is meant from where it is now.
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
  const SignalsBlocked blocked;  // a handler that comes back here would wait for its own thread
  try {
    std::call_once(once, [] {
      if (const char* const chain = std::getenv("RANGEFINDER_NVTX_CHAIN"); chain != nullptr)
        nvtx_set_chain(chain);
      const char* const fold = std::getenv("RANGEFINDER_FOLD_DIGITS");
      recorder().fold_digits.store(fold != nullptr && std::string_view(fold) == "on",
                                   std::memory_order_relaxed);
      // What the program does before CUDA is for the first window only if that begins by itself.
      if (!starts_recording(std::getenv("RANGEFINDER_START"), std::getenv("RANGEFINDER_CAPTURE")))
        recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
    });
  } catch (...) {
    // Without the lock's help: the chain stays unset, our own handlers work.
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
      // The counter library's own exit handlers are there only now, and ours must come first.
      [](void*) { (void)std::atexit(stop_at_exit); },
  };
}

Session* Session::start_from_environment() {
  prepare_nvtx();
  // Leaked on purpose: callbacks may come as long as the process lives.
  auto* const session = new Session(read_options(environ));
  current.store(session, std::memory_order_release);
  start_log(session->options_.log);
  for (const std::string& problem : session->options_.problems) say_once(problem);
  if (!session->options_.children && session->is_child()) {
    recorder().silent.store(true, std::memory_order_relaxed);
    return session;
  }
  session->attach_nvtx();
  if (session->options_.start == StartMode::on && session->options_.capture.empty()) {
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
  // Reaches the shared objects that have not used NVTX yet; `rangefinder run` reaches all.
  (void)set_environment(kNvtxVariable, self);
}

void Session::start_recording() {
  recorder().record_until_ns.store(Recorder::kAlways, std::memory_order_relaxed);
  std::string error;
  if (collection_.load(error) && collection_.begin(counters_.load(), false, error)) return;
  say_without_cupti(error);
  // Nothing will tell us of a context, and no driver's handler stands behind ours: begin now.
  std::atexit(stop_at_exit);
  open_first_window();
}

// Without a window. CUPTI is not even loaded, unless somebody must be told of what happens before one.
void Session::start_idle() {
  recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  const bool profiler_calls = options_.capture.by == CaptureBy::profiler_calls;
  std::string error;
  if ((options_.start == StartMode::ready || profiler_calls) &&
      (!collection_.load(error) || !collection_.hold(profiler_calls, error))) {
    say_once(error + ". No window can be opened until that has changed.");
  }
  start_control();
}

void Session::start_control() noexcept {
  try {
    std::call_once(control_once_, [this] {
      if (!options_.control && options_.capture.empty() && options_.start == StartMode::on) return;
      // A forked child must not answer for us.
      recorder().recording.store(true, std::memory_order_relaxed);
      std::atexit(stop_at_exit);  // the socket's file
      control_ = std::make_unique<ControlThread>(*this, options_);
      if (!control_->start()) log_info("no thread could be made to listen with");
    });
  } catch (...) {
    log_info("there is no control socket: out of memory");
  }
}

void Session::say_without_cupti(const std::string& reason) {
  say_once(reason + ". Kernels and copies are not recorded; NVTX ranges are.");
}

void Session::on_context_created(CUcontext context) noexcept {
  if (options_.start == StartMode::on && options_.capture.empty()) {
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
  // The first time when the first window opens, the second when the first context exists: exit handlers
  // run last in first out, and ours must come before the driver's, which ends the contexts that counters
  // live in. More than twice would grow the list with every window.
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
  const ScopedCancelDisable no_cancel;
  wait_no_longer_for_locks();
  if (control_) control_->close();
  const SessionState before = state_.exchange(SessionState::ended);
  if (before == SessionState::ended) return;
  const auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  // Unless it is this very thread, in a callback that opens a window.
  while (inside_cupti_.load() != 0 && std::chrono::steady_clock::now() < deadline - kDrainPatience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (before == SessionState::idle) return;
  // Also where nothing is written any more: the driver must not find counters running.
  collection_.finish(deadline - kDrainPatience);
  const auto drain_thread = drain();
  if (recorder().silent.load(std::memory_order_relaxed) || !drain_thread) return;
  // Its end is known already; only that it is complete could not be waited for.
  if (before == SessionState::closing) drain_thread->end_window(reason_.load(), end_ns_.load(), 0);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  drain_thread->stop(reason, static_cast<std::uint32_t>(std::max(left, kDrainPatience).count()));
  recorder().silent.store(true, std::memory_order_relaxed);
}

}  // namespace rangefinder
