// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/launch_callbacks.h"

#include <unistd.h>

#include <iterator>
#include <span>

#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/events/hold_scope.h"
#include "profiler/guest/slow_path.h"
#include "profiler/launch/untraced_calls.h"

namespace rangefinder {
namespace {

/// One call in kTimedEvery is timed: two more clock reads per call would cost too much.
constexpr std::uint64_t kTimedEvery = 64;

/// By ApiClass, up to the classes that are not in the trace.
constexpr EventKind kEventKinds[] = {
    EventKind::launch,     EventKind::launch,  EventKind::launch,  EventKind::launch,
    EventKind::sync,       EventKind::alloc,   EventKind::free,    EventKind::event_record,
    EventKind::event_wait, EventKind::capture, EventKind::capture, EventKind::capture,
    EventKind::capture,
};
static_assert(std::size(kEventKinds) == static_cast<std::size_t>(ApiClass::value_wait));

}  // namespace

std::int32_t LaunchCallbacks::result_of(const CUpti_CallbackData& call) noexcept {
  return call.functionReturnValue == nullptr
             ? 0
             : static_cast<std::int32_t>(*static_cast<const CUresult*>(call.functionReturnValue));
}

void LaunchCallbacks::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                  const void* data) noexcept {
  auto& callbacks = *static_cast<LaunchCallbacks*>(self);
  if (callbacks.recorder_.silent.load(std::memory_order_relaxed)) {
    slow_path([&] { callbacks.wind_down(domain, cbid, data); });
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    callbacks.on_driver_call(*static_cast<const CUpti_CallbackData*>(data), cbid);
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    slow_path([&] { callbacks.on_resource(cbid, *static_cast<const CUpti_ResourceData*>(data)); });
  }
}

void LaunchCallbacks::on_driver_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept {
  const int index = find_driver_api(cbid);
  if (index < 0) return slow_path([&] { on_untraced_call(call, cbid); });
  const DriverApi& api = driver_apis()[static_cast<std::size_t>(index)];
  if (api.kind == ApiClass::query) return on_query(call, index);
  if (call.callbackSite == CUPTI_API_ENTER) return on_enter(call, api, index);
  on_exit(call, api, index);
}

void LaunchCallbacks::on_enter(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept {
  ThreadState* const state = recorder_.threads.current();
  begin_call(state, index);
  start_sampling(call, api);
  const std::int64_t now_ns = recorder_.clock.now_ns();  // the start of the sampler is not the call's time
  if (state != nullptr && is_gpu_work(api.kind)) begin_work(*state, call, api, now_ns);
  const std::uint64_t entered =
      exact_.enter(call, api, now_ns, capturing_.load(std::memory_order_relaxed) > 0);
  if (call.correlationData != nullptr) *call.correlationData = word_of(now_ns, entered);
}

void LaunchCallbacks::begin_call(ThreadState* state, int index) noexcept {
  calls_in_progress_.begin(state, static_cast<std::size_t>(index), [this](std::size_t api) {
    (void)cupti_.EnableCallback(1, subscriber_.load(std::memory_order_relaxed), CUPTI_CB_DOMAIN_DRIVER_API,
                                driver_apis()[api].cbid);
  });
}

void LaunchCallbacks::start_sampling(const CUpti_CallbackData& call, const DriverApi& api) noexcept {
  PmSampler* const sampler = sampler_.load(std::memory_order_acquire);
  if (sampler == nullptr) return;
  if (finds_contexts_.load(std::memory_order_relaxed)) slow_path([&] { find_context(*sampler, call); });
  if (!is_gpu_work(api.kind) || !sampler->is_new(call.context)) return;
  const HoldScope hold(recorder_, HoldCause::session_start);
  slow_path([&] { sampler->begin(call.context); });
}

void LaunchCallbacks::begin_work(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                                 std::int64_t now_ns) noexcept {
  state.begin_work(now_ns);
  const bool names = handles_reused_.load(std::memory_order_relaxed);
  if (api.kind != ApiClass::kernel || !names || capturing_.load(std::memory_order_relaxed) <= 0) return;
  if (const ThreadUse use = recorder_.threads.use()) use->capture_kernel(kernel_name(*use, call));
}

void LaunchCallbacks::on_exit(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept {
  if (call.correlationData == nullptr || entered_of(*call.correlationData) == 0) return;  // enter not seen
  {
    const ThreadUse use = recorder_.threads.use();
    if (api.kind < ApiClass::value_wait)
      emit(use, call, api, index);  // the other classes are not in the trace
    calls_in_progress_.end(use.state());
  }
  const bool may_wait = api.kind == ApiClass::sync || api.kind == ApiClass::memcpy;
  if (may_wait && waits_until_ns_.load(std::memory_order_relaxed) != 0) slow_path([&] { report_wait(api); });
}

Event LaunchCallbacks::event_of(const ThreadState* state, const CUpti_CallbackData& call,
                                const DriverApi& api, int index) const noexcept {
  Event event;
  event.end_ns = recorder_.clock.now_ns();
  event.kind = kEventKinds[static_cast<std::size_t>(api.kind)];
  event.api = static_cast<std::uint16_t>(index);
  event.correlation = call.correlationId;
  event.start_ns = base_ns_ + static_cast<std::int64_t>(*call.correlationData >> kEnteredBits);
  if (state != nullptr) state->locate(event);
  return event;
}

void LaunchCallbacks::emit(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api,
                           int index) noexcept {
  const std::uint64_t entered = entered_of(*call.correlationData);
  Event event = event_of(use.state(), call, api, index);
  if (entered != ExactCalls::kNotExact) {
    slow_path([&] { emit_exact(use, call, api, event, static_cast<CounterOutcome>(entered - 1)); });
  } else if (use && is_gpu_work(api.kind)) {
    emit_launch(*use, call, api, event);
  } else if (use) {
    emit_other(*use, call, api, event);
  }
  if (api.kind == ApiClass::capture_begin || api.kind == ApiClass::capture_end)
    exact_.capturing(capturing_.load(std::memory_order_relaxed) > 0);
}

// Without a ThreadUse: the hook makes the thread wait, which is an event.
void LaunchCallbacks::report_wait(const DriverApi& api) noexcept {
  if (recorder_.clock.now_ns() >= waits_until_ns_.load(std::memory_order_relaxed)) {
    waits_until_ns_.store(0, std::memory_order_relaxed);
    return;
  }
  if (api.name.find("Async") == std::string_view::npos) hooks_.synchronised(hooks_.user);
}

std::uint32_t LaunchCallbacks::kernel_name(ThreadState& state,
                                           const CUpti_CallbackData& call) const noexcept {
  if (!handles_reused_.load(std::memory_order_relaxed) || call.symbolName == nullptr) return 0;
  return state.name_of(call.symbolName);
}

void LaunchCallbacks::emit_launch(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                                  Event& event) noexcept {
  cost_.count();
  event.launch.result = result_of(call);
  event.launch.context = call.contextUid;
  if (state.captured()) event.flags |= kLaunchCaptured;
  if (api.kind == ApiClass::memcpy || api.kind == ApiClass::memset) {
    ApiArguments arguments;
    api.read(call.functionParams, true, arguments);
    event.launch.bytes = arguments.bytes;
  } else if (api.kind == ApiClass::kernel) {
    event.launch.kernel = kernel_name(state, call);
  } else {
    note_launched_graph(call, api, event);
    state.emit_lock_wait();
  }
  state.emit(event);
  if (call.correlationId % kTimedEvery == 0) cost_.add(recorder_.clock.now_ns() - event.end_ns);
}

void LaunchCallbacks::note_launched_graph(const CUpti_CallbackData& call, const DriverApi& api,
                                          Event& event) noexcept {
  if (event.launch.result != 0 || !recorder_.admits(event.start_ns)) return;
  ApiArguments arguments;
  api.read(call.functionParams, true, arguments);
  event.launch.bytes = graphs_.launched(arguments.executable);
}

std::uint32_t LaunchCallbacks::stream_id(const CUpti_CallbackData& call, const DriverApi& api,
                                         const ApiArguments& arguments) const noexcept {
  std::uint32_t id = 0;
  if (!api.has_stream || call.context == nullptr) return 0;
  const CUptiResult result =
      cupti_.GetStreamIdEx(call.context, arguments.stream, api.per_thread_stream ? 1 : 0, &id);
  return result == CUPTI_SUCCESS ? id : 0;
}

void LaunchCallbacks::emit_other(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                                 Event& event) noexcept {
  const std::int32_t result = result_of(call);
  // A stream's capture ends even if the call reports an invalid capture. Other calls that failed did nothing.
  if (api.kind != ApiClass::capture_end && result != 0) {
    if (breaks_capture(static_cast<CUresult>(result))) emit_broken_capture(state, call, event);
    return;
  }
  if (api.kind == ApiClass::watched) return;
  ApiArguments arguments;
  if (api.read != nullptr) api.read(call.functionParams, result == 0, arguments);
  const std::uint32_t stream = stream_id(call, api, arguments);
  switch (api.kind) {
    case ApiClass::capture_begin:
    case ApiClass::capture_end:
      event.capture.result = result;
      event.capture.stream = stream;
      event.capture.context = call.contextUid;
      return emit_capture(state, api, event, arguments);
    case ApiClass::alloc:
    case ApiClass::free:
      event.memory.stream = stream;
      event.memory.context = call.contextUid;
      return emit_memory(state, api, event, arguments);
    default:
      event.sync.event = arguments.event;
      event.sync.stream = stream;
      event.sync.context = call.contextUid;
      return state.emit(event);
  }
}

void LaunchCallbacks::emit_capture(ThreadState& state, const DriverApi& api, Event& event,
                                   const ApiArguments& arguments) noexcept {
  CaptureStep step = CaptureStep::begin;
  if (api.kind == ApiClass::capture_begin) {
    capturing_.fetch_add(1, std::memory_order_relaxed);
    recorder_.graphs.graph_stands_alone(state.graph_calls());
    if (!arguments.relaxed) watch_queries(true);
  } else {
    std::int32_t open = capturing_.load(std::memory_order_relaxed);
    while (open > 0 && !capturing_.compare_exchange_weak(open, open - 1, std::memory_order_relaxed)) {
    }
    if (capturing_.load(std::memory_order_relaxed) == 0) watch_queries(false);
    step = event.capture.result == 0 ? CaptureStep::end : CaptureStep::invalidate;
    event.capture.graph = arguments.graph;
  }
  event.flags |= static_cast<std::uint8_t>(step);
  state.emit(event);
}

// A callback takes a query from 0.3 to 1.2 us. Captures that begin and end at once may leave the callbacks on
// or off: then queries are slower, or a call that broke a capture is not named.
void LaunchCallbacks::watch_queries(bool watch) noexcept {
  if (!events_ || watches_queries_.exchange(watch) == watch) return;
  for (const DriverApi& api : driver_apis()) {
    if (api.kind != ApiClass::query) continue;
    (void)cupti_.EnableCallback(watch ? 1 : 0, subscriber_.load(std::memory_order_relaxed),
                                CUPTI_CB_DOMAIN_DRIVER_API, api.cbid);
  }
}

// Nothing is kept from its enter: the callback may be switched off before its exit.
void LaunchCallbacks::on_query(const CUpti_CallbackData& call, int index) noexcept {
  if (call.callbackSite != CUPTI_API_EXIT || !breaks_capture(static_cast<CUresult>(result_of(call)))) return;
  slow_path([&] {
    const ThreadUse use = recorder_.threads.use();
    if (!use) return;
    Event event;
    event.start_ns = event.end_ns = recorder_.clock.now_ns();
    event.api = static_cast<std::uint16_t>(index);
    event.correlation = call.correlationId;
    use->locate(event);
    emit_broken_capture(*use, call, event);
  });
}

void LaunchCallbacks::emit_broken_capture(ThreadState& state, const CUpti_CallbackData& call,
                                          Event& event) noexcept {
  event.kind = EventKind::capture;
  event.flags |= static_cast<std::uint8_t>(CaptureStep::broken_by);
  event.capture = {};
  event.capture.result = result_of(call);
  event.capture.context = call.contextUid;
  state.emit(event);
}

void LaunchCallbacks::emit_memory(ThreadState& state, const DriverApi& api, Event& event,
                                  const ApiArguments& arguments) noexcept {
  if (api.kind == ApiClass::free && arguments.address == 0) return;  // cudaFree(0) frees nothing
  event.flags |= static_cast<std::uint8_t>(arguments.alloc_kind);
  event.memory.address = arguments.address;
  if (api.kind == ApiClass::alloc) event.memory.bytes = arguments.bytes;
  if (arguments.pool == 0) {
    state.emit(event);
    return;
  }
  event.extra_slots = 1;
  event.extra_bytes = sizeof(arguments.pool);
  state.emit(event, std::as_bytes(std::span(&arguments.pool, 1)));
}

void LaunchCallbacks::on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) noexcept {
  if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    const HoldScope hold(recorder_, HoldCause::session_start);
    hooks_.context_created(hooks_.user, data.context);
  } else if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    const HoldScope hold(recorder_, HoldCause::session_end);
    exact_.context_destroyed(data.context);
    hooks_.context_destroyed(hooks_.user, data.context);
  } else if (cbid == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
    handles_reused_.store(true, std::memory_order_relaxed);
  } else if (data.resourceDescriptor != nullptr) {
    graphs_.on_resource(cbid, *static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
  }
}

void LaunchCallbacks::wind_down(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                const void* data) noexcept {
  if (!exact_.ever_used() || getpid() != pid_) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    exact_.context_destroyed(static_cast<const CUpti_ResourceData*>(data)->context);
  }
  const int index = domain == CUPTI_CB_DOMAIN_DRIVER_API ? find_driver_api(cbid) : -1;
  if (index < 0) return;
  const DriverApi& api = driver_apis()[static_cast<std::size_t>(index)];
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (!is_gpu_work(api.kind) || call.correlationData == nullptr) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = ExactCalls::kNotExact;
  } else if (entered_of(*call.correlationData) == static_cast<std::uint64_t>(CounterOutcome::measured) + 1) {
    on_exit(call, api, index);
  }
}

void LaunchCallbacks::emit_exact(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api,
                                 Event& event, CounterOutcome outcome) noexcept {
  cost_.count();
  event.launch.result = result_of(call);
  event.launch.context = call.contextUid;
  if (api.kind == ApiClass::graph) {
    note_launched_graph(call, api, event);
    if (use) use->emit_lock_wait();
  }
  exact_.leave(use, call, api, event, outcome, handles_reused_.load(std::memory_order_relaxed));
}

void LaunchCallbacks::set_counters(ExactProfiler* exact, PmSampler* sampler, bool late) noexcept {
  found_contexts_.store(0, std::memory_order_relaxed);
  finds_contexts_.store(late && sampler != nullptr, std::memory_order_relaxed);
  sampler_.store(sampler, std::memory_order_release);
  exact_.set(exact);
}

bool LaunchCallbacks::enable_resources(CUpti_SubscriberHandle subscriber) noexcept {
  if (enabled_before_) handles_reused_.store(true);  // modules may have been unloaded in between
  enabled_before_ = true;
  return enable_callbacks(cupti_, subscriber, CUPTI_CB_DOMAIN_RESOURCE, kResourceCallbacks) &&
         enable_callbacks(cupti_, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kGraphCalls) &&
         enable_callbacks(cupti_, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kContextCalls);
}

bool LaunchCallbacks::enable_profiler_calls(CUpti_SubscriberHandle subscriber) noexcept {
  return enable_callbacks(cupti_, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kProfilerCalls);
}

bool LaunchCallbacks::enable_calls(CUpti_SubscriberHandle subscriber, const Options& options,
                                   bool exact) noexcept {
  subscriber_.store(subscriber, std::memory_order_relaxed);
  events_ = options.events;
  const auto apis = driver_apis();
  for (std::size_t i = 0; i < apis.size(); ++i) {
    const DriverApi& api = apis[i];
    if (!is_wanted(api.kind, options.memory, options.events, exact)) continue;
    enabled_calls_.set(i);
    calls_in_progress_.mark_enabled(i);
    if (cupti_.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, api.cbid) != CUPTI_SUCCESS)
      return false;
  }
  return true;
}

bool LaunchCallbacks::disable_calls(CUpti_SubscriberHandle subscriber) noexcept {
  const auto apis = driver_apis();
  bool switched_off = false;
  enabled_calls_ =
      calls_in_progress_.switch_off(enabled_calls_, recorder_.clock.now_ns(), [&](std::size_t api) {
        (void)cupti_.EnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, apis[api].cbid);
        switched_off = true;
      });
  watch_queries(false);
  if (switched_off) capturing_.store(0, std::memory_order_relaxed);  // we no longer see captures end
  return !switched_off && enabled_calls_.none();
}

void LaunchCallbacks::on_untraced_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept {
  PmSampler* const sampler = sampler_.load(std::memory_order_acquire);
  if (is_one_of(kGraphCalls, cbid)) {
    if (call.callbackSite == CUPTI_API_EXIT && result_of(call) == 0)
      graphs_.on_call(cbid, call.functionParams);
  } else if (!is_one_of(kContextCalls, cbid)) {
    on_profiler_call(call, cbid);
  } else if (sampler != nullptr && call.callbackSite == CUPTI_API_ENTER) {
    sampler->begin_loading();
  } else if (sampler != nullptr) {
    sampler->wait_until_loaded();
  }
}

void LaunchCallbacks::on_profiler_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept {
  const bool start = cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
  const bool stop = cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
  if (hooks_.profiler_call == nullptr || (!start && !stop)) return;
  const auto site = start ? CUPTI_API_EXIT : CUPTI_API_ENTER;
  if (call.callbackSite == site) hooks_.profiler_call(hooks_.user, start);
}

void LaunchCallbacks::find_context(PmSampler& sampler, const CUpti_CallbackData& call) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << call.contextUid % 64;
  if ((found_contexts_.load(std::memory_order_relaxed) & bit) != 0 || call.context == nullptr) return;
  if ((found_contexts_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  sampler.context_created(call.context);
}

}  // namespace rangefinder
