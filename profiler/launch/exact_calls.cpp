// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/exact_calls.h"

#include <unistd.h>

#include "profiler/guest/slow_path.h"

namespace rangefinder {

void ExactCalls::set(ExactProfiler* exact) noexcept {
  if (exact != nullptr) ever_exact_.store(exact, std::memory_order_release);
  exact_.store(exact, std::memory_order_release);
}

std::uint64_t ExactCalls::enter(const CUpti_CallbackData& call, const DriverApi& api, std::int64_t now_ns,
                                bool capturing) noexcept {
  ExactProfiler* const exact = exact_.load(std::memory_order_acquire);
  if (exact == nullptr) return kNotExact;
  return slow_path([&] {
    if (is_gpu_work(api.kind)) return enter_launch(*exact, call, api, now_ns, capturing);
    notify(*exact, call, api, now_ns);
    return kNotExact;
  });
}

std::uint64_t ExactCalls::enter_launch(ExactProfiler& exact, const CUpti_CallbackData& call,
                                       const DriverApi& api, std::int64_t now_ns, bool capturing) noexcept {
  // A counter range inside a capture would put CUPTI's own work into the graph.
  if (capturing) {
    exact.mark_all_disturbed();
    return static_cast<std::uint64_t>(CounterOutcome::capturing) + 1;
  }
  if (exact.refused()) return kNotExact;
  if (!recorder_.admits(now_ns)) {
    exact.exclude(entry_of(call, api, now_ns));
    return kNotExact;
  }
  const CounterOutcome outcome = exact.enter(entry_of(call, api, now_ns));
  if (outcome == CounterOutcome::not_wanted || exact.refused()) return kNotExact;
  return static_cast<std::uint64_t>(outcome) + 1;
}

void ExactCalls::leave(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api,
                       Event event, CounterOutcome outcome, bool by_name) noexcept {
  if (outcome == CounterOutcome::capturing && (!use || use->captured())) {  // the graph's launch is measured
    event.flags |= kLaunchCaptured;
    if (use) use->emit(event);
    return;
  }
  ApiArguments arguments;
  if (api.read != nullptr) api.read(call.functionParams, true, arguments);
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact == nullptr) return;
  const ExactEntry entry = entry_of(call, api, event.end_ns);
  ExactLaunch launch;
  launch.event = event;
  if (by_name) launch.event.launch.kernel = entry.name;
  launch.thread = entry.thread;
  launch.kind = static_cast<WorkKind>(api.kind);
  launch.name = entry.name;
  launch.bytes = arguments.bytes;
  launch.grid = arguments.grid;
  launch.block = arguments.block;
  if (outcome != CounterOutcome::measured) {
    launch.outcome = outcome;
    return exact->add_unmeasured(launch);
  }
  event.flags |= kLaunchExact;
  if (use && api.kind == ApiClass::graph && event.launch.result == 0) use->emit(event);
  exact->leave(entry, launch);
}

void ExactCalls::capturing(bool any) noexcept {
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact != nullptr) slow_path([&] { exact->capturing(any); });
}

void ExactCalls::context_destroyed(CUcontext context) noexcept {
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact != nullptr) exact->context_destroyed(context);
}

void ExactCalls::notify(ExactProfiler& exact, const CUpti_CallbackData& call, const DriverApi& api,
                        std::int64_t now_ns) noexcept {
  switch (api.kind) {
    case ApiClass::capture_begin:
      return exact.capture_begins(entry_of(call, api, now_ns));
    case ApiClass::value_wait:
      return exact.note_wait(entry_of(call, api, now_ns));
    case ApiClass::stream_create:
      return exact.stream_created(call.context);
    case ApiClass::stream_destroy:
      return exact.stream_destroyed(call.context, entry_of(call, api, now_ns).stream);
    default:
      return exact.note_context(call.context);
  }
}

ExactEntry ExactCalls::entry_of(const CUpti_CallbackData& call, const DriverApi& api,
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
    const ThreadState::Place place = state->place();
    entry.path = place.path;
    entry.range = place.range;
    entry.thread = state->thread();
  } else {
    entry.thread = static_cast<std::uint32_t>(gettid());
  }
  return entry;
}

}  // namespace rangefinder
