// SPDX-License-Identifier: Apache-2.0
#include "profiler/session.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "profiler/activity/activity_callbacks.h"
#include "profiler/demangle.h"
#include "profiler/environment.h"
#include "profiler/log.h"
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

bool is_own_path(const char* path) {
  char* const absolute = realpath(path, nullptr);
  const bool same = absolute != nullptr && own_path() == absolute;
  std::free(absolute);
  return same;
}

void tell_of_waiter(std::uint32_t name) noexcept {
  try {
    say_once("kernel " + demangle(recorder().names.text(name)) + " did not end within " +
             std::to_string(ExactContext::kPatienceNs / 1'000'000'000) +
             " s: it may wait for work launched after it, so from now on it is not measured. --exact-skip "
             "names such kernels beforehand");
  } catch (...) {
  }
}

}  // namespace

void Session::prepare_nvtx() noexcept {
  static std::once_flag once;
  try {
    std::call_once(once, [] {
      if (const char* const chain = std::getenv("RANGEFINDER_NVTX_CHAIN"); chain != nullptr)
        nvtx_set_chain(chain);
      const char* const fold = std::getenv("RANGEFINDER_FOLD_DIGITS");
      recorder().fold_digits.store(fold != nullptr && std::string_view(fold) == "on",
                                   std::memory_order_relaxed);
    });
  } catch (...) {
    // Without the lock's help: the chain stays unset, our own handlers work.
  }
}

Session::Session(Options options) : options_(std::move(options)), pid_(getpid()) {}

Session* Session::start_from_environment() {
  // Leaked on purpose: callbacks may come as long as the process lives.
  auto* const session = new Session(read_options(environ));
  current.store(session, std::memory_order_release);
  start_log(session->options_.log);
  for (const std::string& problem : session->options_.problems) say_once(problem);
  session->attach_nvtx();
  const bool traced = session->attach_cupti();
  if (!traced) {
    // Nothing will tell us of a context, and no driver's handler stands behind ours: begin now.
    std::atexit(stop_at_exit);
    session->start_draining();
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

bool Session::attach_cupti() {
  CuptiFailure failure;
  if (!load_cupti(options_.cupti, cupti_, failure)) {
    give_up_cupti(failure.reason);
    return false;
  }
  if (!cupti_.remark.empty()) say_once(cupti_.remark);
  make_counters();
  buffers_ = std::make_unique<BufferPool>(options_.buffers, recorder().loss);
  callbacks_ = std::make_unique<LaunchCallbacks>(
      cupti_.functions, recorder(), exact_.get(),
      LaunchCallbacks::Hooks{
          this,
          [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_created(context); },
          [](void* self, CUcontext context) { static_cast<Session*>(self)->on_context_destroyed(context); },
          sampler_.get()});
  if (subscribe() && enable_activity()) return true;
  if (subscriber_ != nullptr) cupti_.functions.Unsubscribe(subscriber_);
  exact_.reset();
  sampler_.reset();
  return false;
}

void Session::make_counters() {
  if (options_.counters == CounterMode::exact) {
    exact_ = std::make_unique<ExactProfiler>(
        cupti_, recorder(), options_,
        ExactProfiler::Hooks{this,
                             [](void* self, const std::string& reason) {
                               static_cast<Session*>(self)->on_counters_refused(reason);
                             },
                             [](void*, std::uint32_t name) { tell_of_waiter(name); }});
  }
  if (options_.counters == CounterMode::sampled) {
    sampler_ = std::make_unique<PmSampler>(
        cupti_, recorder().loss, options_.sample_interval_us * 1000,
        [](void* self, const std::string& reason) {
          static_cast<Session*>(self)->on_counters_refused(reason);
        },
        // A second time: the counter library's own exit handlers are there only now, and ours must come
        // first.
        [](void*) { (void)std::atexit(stop_at_exit); }, this);
  }
}

bool Session::subscribe() {
  char own_name[] = "rangefinder";
  char other_name[64] = {};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = own_name;
  params.oldSubscriberName = other_name;
  params.oldSubscriberSize = sizeof(other_name);
  const CUptiResult r =
      cupti_.functions.Subscribe_v2(&subscriber_, &LaunchCallbacks::on_callback, callbacks_.get(), &params);
  if (r == CUPTI_SUCCESS) return true;
  subscriber_ = nullptr;
  if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    const std::string who = other_name[0] != '\0' ? " (\"" + std::string(other_name) + "\")" : "";
    give_up_cupti("another tool" + who +
                  " uses CUPTI in this process, and CUPTI serves one: start the program without it");
  } else {
    give_up_cupti("cuptiSubscribe failed with " + cupti_result_text(cupti_.functions, r));
  }
  return false;
}

bool Session::enable_activity() {
  std::string error;
  if (!register_activity(cupti_.functions, *buffers_, error) ||
      !enable_activity_kinds(cupti_.functions, error)) {
    give_up_cupti(error);
    return false;
  }
  if (!callbacks_->enable(subscriber_, options_)) {
    give_up_cupti("CUPTI refused a callback of the driver API");
    return false;
  }
  return true;
}

void Session::give_up_cupti(const std::string& reason) {
  say_once(reason + ". Kernels and copies are not recorded; NVTX ranges are.");
  cupti_.version = 0;
}

void Session::on_context_created(CUcontext context) noexcept {
  if (!started_.load(std::memory_order_acquire)) {
    // Registered now and not in cuInit: exit handlers run last in first out, and ours must come
    // before the driver's, which ends the contexts that counters live in.
    std::atexit(stop_at_exit);
    start_draining();
  }
  if (sampler_) sampler_->context_created(context);
}

void Session::on_context_destroyed(CUcontext context) noexcept {
  if (sampler_) sampler_->context_destroyed(context);
  recorder().wake_drain();
}

void Session::start_draining() noexcept {
  try {
    std::call_once(draining_, [this] {
      DrainThread::Sources sources{recorder(), options_};
      if (cupti_.version != 0) {
        sources.cupti = &cupti_;
        sources.buffers = buffers_.get();
        sources.exact = exact_.get();
        sources.sampler = sampler_.get();
        sources.cost = [this] { return callback_cost(); };
      }
      drain_ = std::make_unique<DrainThread>(std::move(sources));
      recorder().recording.store(true, std::memory_order_relaxed);
      if (!drain_->start()) {
        say_once("no thread could be made to record with. The program runs on without being recorded.");
        recorder().silent.store(true, std::memory_order_relaxed);
      }
      started_.store(true, std::memory_order_release);
    });
  } catch (...) {
    recorder().silent.store(true, std::memory_order_relaxed);
  }
}

OwnCost Session::callback_cost() const {
  OwnCost cost;
  cost.launch_callbacks = callbacks_->cost().calls();
  cost.launch_callback_median_ns = callbacks_->cost().quantile_ns(0.5);
  cost.launch_callback_p99_ns = callbacks_->cost().quantile_ns(0.99);
  return cost;
}

void Session::on_counters_refused(const std::string& reason) noexcept {
  try {
    const std::string line = "no bytes: " + reason + ". Everything else is recorded.";
    options_.counters_asked_for ? say_once(line) : log_info(line);
    if (drain_) drain_->tell_refusal(reason);
  } catch (...) {
    recorder().loss.add(Loss::record_sink_errors);
  }
}

void Session::stop(const char* reason) noexcept {
  if (getpid() != pid_ || !started_.load(std::memory_order_acquire)) return;
  const auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  // Also where nothing is written any more: the driver must not find counters running.
  if (exact_) exact_->finish();
  if (sampler_) sampler_->finish(deadline - kDrainPatience);
  if (recorder().silent.load(std::memory_order_relaxed)) return;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  drain_->stop(reason, static_cast<std::uint32_t>(std::max(left, kDrainPatience).count()));
}

}  // namespace rangefinder
