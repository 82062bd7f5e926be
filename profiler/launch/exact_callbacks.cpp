// SPDX-License-Identifier: Apache-2.0
//
// LaunchCallbacks' second part: what exact mode is told of a call, and what becomes of a
// launch that it measured.
#include <unistd.h>

#include "profiler/launch/launch_callbacks.h"

namespace rangefinder {

void LaunchCallbacks::wind_down(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                const void* data) noexcept {
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact == nullptr || getpid() != pid_) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    exact->context_destroyed(static_cast<const CUpti_ResourceData*>(data)->context);
  }
  const int index = domain == CUPTI_CB_DOMAIN_DRIVER_API ? find_driver_api(cbid) : -1;
  if (index < 0) return;
  const DriverApi& api = driver_apis()[static_cast<std::size_t>(index)];
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (!is_gpu_work(api.kind) || call.correlationData == nullptr) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = kNotExact;
  } else if (entered_of(*call.correlationData) == static_cast<std::uint64_t>(Unmeasured::no) + 1) {
    on_exit(call, api, index);
  }
}

void LaunchCallbacks::tell_exact(ExactProfiler& exact, const CUpti_CallbackData& call, const DriverApi& api,
                                 std::int64_t now_ns) noexcept {
  switch (api.kind) {
    case ApiClass::capture_begin:
      return exact.capture_begins(exact_entry(call, api, now_ns));
    case ApiClass::value_wait:
      return exact.note_wait(exact_entry(call, api, now_ns));
    case ApiClass::stream_create:
      return exact.stream_created(call.context);
    case ApiClass::stream_destroy:
      return exact.stream_destroyed(call.context, exact_entry(call, api, now_ns).stream);
    default:
      return exact.note_context(call.context);
  }
}

ExactEntry LaunchCallbacks::exact_entry(const CUpti_CallbackData& call, const DriverApi& api,
                                        std::int64_t now_ns) noexcept {
  ExactEntry entry;
  entry.context = call.context;
  entry.now_ns = now_ns;
  if (api.has_stream && api.read != nullptr) {
    ApiArguments arguments;
    api.read(call.functionParams, false, arguments);
    entry.stream = arguments.stream;
  }
  if (entry.stream == nullptr && api.per_thread_stream) entry.stream = CU_STREAM_PER_THREAD;
  if (api.kind == ApiClass::kernel && call.symbolName != nullptr) {
    entry.name = recorder_.names.intern(call.symbolName);
  }
  if (ThreadState* const state = recorder_.threads.current(); state != nullptr) {
    entry.path = state->stack().path();
    entry.range = state->stack().range();
    entry.thread = state->thread();
  } else {
    entry.thread = static_cast<std::uint32_t>(gettid());
  }
  return entry;
}

std::uint64_t LaunchCallbacks::enter_exact(ExactProfiler& exact, const CUpti_CallbackData& call,
                                           const DriverApi& api, std::int64_t now_ns) noexcept {
  // A range inside a capture would put CUPTI's own work into the graph.
  if (capturing_.load(std::memory_order_relaxed) > 0) {
    exact.pass_by();
    return static_cast<std::uint64_t>(Unmeasured::capturing) + 1;
  }
  if (exact.refused()) return kNotExact;
  if (!recorder_.admits(now_ns)) {
    exact.leave_out(exact_entry(call, api, now_ns));
    return kNotExact;
  }
  const Unmeasured entered = exact.enter(exact_entry(call, api, now_ns));
  if (entered == Unmeasured::not_wanted || exact.refused()) return kNotExact;
  return static_cast<std::uint64_t>(entered) + 1;
}

void LaunchCallbacks::emit_exact(ThreadState* state, const CUpti_CallbackData& call, const DriverApi& api,
                                 Event& event, Unmeasured entered) noexcept {
  cost_.count();
  event.kind = EventKind::launch;
  event.c = static_cast<std::uint32_t>(result_of(call));
  if (entered == Unmeasured::capturing) {  // it went into a graph: the graph's launch is measured
    event.flags |= kLaunchWhileCapturing;
    if (state != nullptr) state->emit(event);
    return;
  }
  ApiArguments arguments;
  if (api.read != nullptr) api.read(call.functionParams, true, arguments);
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact == nullptr) return;
  const ExactEntry entry = exact_entry(call, api, event.end_ns);
  ExactLaunch launch;
  launch.event = event;
  if (handles_used_again_.load(std::memory_order_relaxed)) launch.event.b = entry.name;
  launch.thread = entry.thread;
  launch.kind = static_cast<WorkKind>(api.kind);
  launch.name = entry.name;
  launch.bytes = arguments.bytes;
  launch.grid = arguments.grid;
  launch.block = arguments.block;
  if (entered == Unmeasured::no) {
    exact->leave(entry, launch);
    return;
  }
  launch.unmeasured = entered;
  exact->pass(launch);
}

}  // namespace rangefinder
