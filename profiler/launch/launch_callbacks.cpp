// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/launch_callbacks.h"

#include <unistd.h>

#include <span>

#include "profiler/uncancelled.h"

namespace rangefinder {
namespace {

/// Every so many calls one is timed: two more looks at the clock are not worth it each time.
constexpr std::uint64_t kTimedEvery = 64;

EventKind event_kind(ApiClass api) noexcept {
  switch (api) {
    case ApiClass::sync:
      return EventKind::sync;
    case ApiClass::alloc:
      return EventKind::alloc;
    case ApiClass::free:
      return EventKind::free;
    case ApiClass::event_record:
      return EventKind::event_record;
    case ApiClass::event_wait:
      return EventKind::event_wait;
    case ApiClass::capture_begin:
    case ApiClass::capture_end:
      return EventKind::capture;
    default:
      return EventKind::launch;
  }
}

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
    const Uncancelled uncancelled;
    callbacks.wind_down(domain, cbid, data);
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const int index = find_driver_api(cbid);
    if (index >= 0) {
      callbacks.on_driver_call(*static_cast<const CUpti_CallbackData*>(data), index);
    } else {
      const Uncancelled uncancelled;
      callbacks.on_profiler_call(*static_cast<const CUpti_CallbackData*>(data), cbid);
    }
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const Uncancelled uncancelled;
    callbacks.on_resource(cbid, *static_cast<const CUpti_ResourceData*>(data));
  }
}

void LaunchCallbacks::on_driver_call(const CUpti_CallbackData& call, int index) noexcept {
  const DriverApi& api = driver_apis()[static_cast<std::size_t>(index)];
  if (call.callbackSite == CUPTI_API_ENTER) {
    on_enter(call, api, index);
  } else {
    on_exit(call, api, index);
  }
}

void LaunchCallbacks::on_enter(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept {
  ThreadState* const state = recorder_.threads.current();
  calls_under_way_.begin(state, static_cast<std::size_t>(index), [this](std::size_t on) {
    (void)cupti_.EnableCallback(1, subscriber_.load(std::memory_order_relaxed), CUPTI_CB_DOMAIN_DRIVER_API,
                                driver_apis()[on].cbid);
  });
  if (finds_contexts_.load(std::memory_order_relaxed)) [[unlikely]] {
    const Uncancelled uncancelled;
    find_context(call);
  }
  if (PmSampler* const sampler = sampler_.load(std::memory_order_relaxed);
      sampler != nullptr && is_gpu_work(api.kind) && sampler->is_new(call.context)) {
    const Uncancelled uncancelled;
    sampler->begin(call.context);
  }
  const std::int64_t now_ns = recorder_.clock.now_ns();
  // A window that ends now waits for this call's end (Session::finish_window).
  if (state != nullptr && is_gpu_work(api.kind)) {
    state->begin_call(now_ns);
    if (api.kind == ApiClass::kernel && capturing_.load(std::memory_order_relaxed) > 0) {
      if (const ThreadUse use = recorder_.threads.use()) use->capture_kernel(kernel_name(*use, call));
    }
  }
  std::uint64_t entered = kNotExact;
  if (ExactProfiler* const exact = exact_.load(std::memory_order_acquire); exact != nullptr) {
    const Uncancelled uncancelled;
    if (is_gpu_work(api.kind)) {
      entered = enter_exact(*exact, call, api, now_ns);
    } else {
      tell_exact(*exact, call, api, now_ns);
    }
  }
  if (call.correlationData != nullptr) *call.correlationData = word_of(now_ns, entered);
}

void LaunchCallbacks::on_exit(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept {
  if (call.correlationData == nullptr || entered_of(*call.correlationData) == 0) return;  // enter not seen
  const ThreadUse use = recorder_.threads.use();
  if (api.kind < ApiClass::value_wait) emit(use, call, api, index);  // nothing of the others is in the trace
  calls_under_way_.end(use.state());
}

void LaunchCallbacks::emit(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api,
                           int index) noexcept {
  ThreadState* const state = use.state();
  const std::int64_t now_ns = recorder_.clock.now_ns();
  const std::uint64_t word = *call.correlationData;
  const std::uint64_t entered = entered_of(word);
  Event event;
  event.kind = event_kind(api.kind);
  event.api = static_cast<std::uint16_t>(index);
  event.correlation = call.correlationId;
  event.start_ns = base_ns_ + static_cast<std::int64_t>(word >> kEnteredBits);
  event.end_ns = now_ns;
  event.d = call.contextUid;
  if (state != nullptr) {
    event.path = state->stack().path();
    event.range = state->stack().range();
  }
  if (entered != kNotExact) {
    const Uncancelled uncancelled;
    emit_exact(use ? state : nullptr, call, api, event, static_cast<Unmeasured>(entered - 1));
  } else if (use && is_gpu_work(api.kind)) {
    emit_launch(*use, call, api, event);
    if (call.correlationId % kTimedEvery == 0) cost_.add(recorder_.clock.now_ns() - now_ns);
  } else if (use) {
    emit_other(*use, call, api, event);
  }
  if (state != nullptr && is_gpu_work(api.kind)) state->end_call();
  ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
  if (exact != nullptr && (api.kind == ApiClass::capture_begin || api.kind == ApiClass::capture_end)) {
    const Uncancelled uncancelled;
    exact->capturing(capturing_.load(std::memory_order_relaxed) > 0);
  }
}

std::uint32_t LaunchCallbacks::kernel_name(ThreadState& state,
                                           const CUpti_CallbackData& call) const noexcept {
  if (!handles_used_again_.load(std::memory_order_relaxed) || call.symbolName == nullptr) return 0;
  return state.name_of(call.symbolName);
}

void LaunchCallbacks::emit_launch(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                                  Event& event) noexcept {
  cost_.count();
  event.c = static_cast<std::uint32_t>(result_of(call));
  if (capturing_.load(std::memory_order_relaxed) > 0) event.flags |= kLaunchWhileCapturing;
  if (api.kind == ApiClass::memcpy || api.kind == ApiClass::memset) {
    ApiArguments arguments;
    api.read(call.functionParams, true, arguments);
    event.a = arguments.bytes;
  } else if (api.kind == ApiClass::kernel) {
    event.b = kernel_name(state, call);
  }
  state.emit(event);
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
  ApiArguments arguments;
  if (api.read != nullptr) api.read(call.functionParams, result == 0, arguments);
  event.c = stream_id(call, api, arguments);
  event.a = arguments.event;
  switch (api.kind) {
    case ApiClass::capture_begin:
      if (result != 0) return;
      capturing_.fetch_add(1, std::memory_order_relaxed);
      event.flags = static_cast<std::uint8_t>(CaptureStep::begin);
      event.a = 0;
      break;
    case ApiClass::capture_end: {
      // Ends the capture of its stream also where it reports that the capture was invalid.
      std::int32_t open = capturing_.load(std::memory_order_relaxed);
      while (open > 0 && !capturing_.compare_exchange_weak(open, open - 1, std::memory_order_relaxed)) {
      }
      event.flags = static_cast<std::uint8_t>(result == 0 ? CaptureStep::end : CaptureStep::invalidate);
      event.a = arguments.graph;
      event.b = static_cast<std::uint32_t>(result);
      break;
    }
    case ApiClass::alloc:
    case ApiClass::free:
      if (result != 0) return;  // nothing was allocated, nothing freed
      emit_memory(state, api, event, arguments);
      return;
    default:
      if (result != 0) return;
  }
  state.emit(event);
}

void LaunchCallbacks::emit_memory(ThreadState& state, const DriverApi& api, Event& event,
                                  const ApiArguments& arguments) noexcept {
  if (api.kind == ApiClass::free && arguments.address == 0) return;  // cudaFree(0) and the like free nothing
  event.flags = static_cast<std::uint8_t>(arguments.alloc_kind);
  event.a = arguments.address;
  if (api.kind == ApiClass::alloc) event.b = arguments.bytes;
  if (arguments.pool == 0) {
    state.emit(event);
    return;
  }
  event.extra_slots = 1;
  event.extra_bytes = sizeof(arguments.pool);
  state.emit(event, std::as_bytes(std::span(&arguments.pool, 1)));
}

void LaunchCallbacks::on_graph_node(const CUpti_GraphData& graph, bool cloned) noexcept {
  const ThreadUse state = recorder_.threads.use();
  if (!state) return;
  // Instantiation clones every node; its kernels carry the clone's id.
  Event event;
  event.kind = EventKind::graph_node;
  if (cupti_.GetGraphNodeId(graph.node, &event.a) != CUPTI_SUCCESS) return;
  if (cloned && cupti_.GetGraphNodeId(graph.originalNode, &event.b) != CUPTI_SUCCESS) return;
  if (!cloned) event.c = state->captured_kernel();
  event.path = state->stack().path();
  event.range = state->stack().range();
  event.start_ns = event.end_ns = recorder_.clock.now_ns();
  state->emit(event);
}

void LaunchCallbacks::on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) noexcept {
  if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    hooks_.context_created(hooks_.user, data.context);
  } else if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    ExactProfiler* const exact = ever_exact_.load(std::memory_order_acquire);
    if (exact != nullptr) exact->context_destroyed(data.context);
    hooks_.context_destroyed(hooks_.user, data.context);
  } else if (cbid == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
    handles_used_again_.store(true, std::memory_order_relaxed);
  } else if (data.resourceDescriptor != nullptr) {
    on_graph_node(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor),
                  cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  }
}

}  // namespace rangefinder
