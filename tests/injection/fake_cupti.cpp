// SPDX-License-Identifier: Apache-2.0
//
// libcupti.so.13 without a GPU: versions, errors, the single subscriber and its callbacks.
//
// At least as strict as the real library. It checks handles, sizes and ids. It calls back only for enabled
// ids of a live subscriber. Calls in which the real library hangs or crashes are recorded as violations.
#include "tests/injection/fake_cupti.h"

#include <cupti_driver_cbid.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "profiler/cupti/functions.h"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback;
  void* user;
  std::string name;
};

namespace fake {
namespace {

const pid_t loaded_by = getpid();
std::atomic<bool> driver_ended{false};
std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};
std::array<std::atomic<bool>, CUPTI_DRIVER_TRACE_CBID_SIZE> driver_enabled{};
std::array<std::atomic<bool>, CUPTI_CBID_RESOURCE_SIZE> resource_enabled{};
thread_local int callback_depth = 0;
// As CUPTI 13.0 does (docs/internals/measured.md): if the exit callback is disabled during a call, CUPTI
// misses the exit. Every later call of the thread then counts as nested and has the same correlation id.
// A call ends after CUPTI's own exit work, which follows the callback.
thread_local std::uint32_t outer_calls = 0, outer_correlation = 0;
thread_local std::uint32_t in_progress = 0;  // correlation id of this thread's current driver call

/// The error code of FAKE_CUPTI_FAIL for `function`, and the first call to which it applies.
bool find_fault(std::string_view function, int& code, int& from) {
  const char* const text = getenv("FAKE_CUPTI_FAIL");
  for (std::string_view rest = text != nullptr ? text : ""; !rest.empty();) {
    const std::string entry(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos || entry.substr(0, colon) != function) continue;
    const std::size_t at = entry.find('@');
    code = std::stoi(entry.substr(colon + 1));
    from = at == std::string::npos ? 1 : std::stoi(entry.substr(at + 1));
    return true;
  }
  return false;
}

std::mutex calls_mutex;
auto* const calls = new std::map<std::string, int>;  // by function; guarded by calls_mutex

void write_calls() {
  const char* const path = getenv("FAKE_CUPTI_CALLS");
  FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  const std::lock_guard lock(calls_mutex);
  for (const auto& [function, times] : *calls) std::fprintf(file, "%s %d\n", function.c_str(), times);
  std::fclose(file);
}

CUptiResult injected(const char* function) {
  static const bool wanted = getenv("FAKE_CUPTI_FAIL") != nullptr || getenv("FAKE_CUPTI_CALLS") != nullptr;
  if (!wanted) return CUPTI_SUCCESS;
  const std::lock_guard lock(calls_mutex);
  const int call = ++(*calls)[function];
  int code = 0, from = 0;
  if (!find_fault(function, code, from) || call < from) return CUPTI_SUCCESS;
  sampling_begun_or_failed();
  return static_cast<CUptiResult>(code);
}

void call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  CUpti_SubscriberHandle const handle = subscriber.load();
  if (handle == nullptr) return;
  ++callback_depth;
  handle->callback(handle->user, domain, cbid, data);
  --callback_depth;
}

bool is_on(const Call& call) {
  return subscriber.load() != nullptr && driver_enabled[call.cbid].load();
}

void count_enter(Call& call, bool enabled) {
  if (enabled && outer_calls++ == 0) outer_correlation = call.correlation;
  if (outer_calls != 0) call.correlation = outer_correlation;
}

void count_exit(const Call& call) {
  for (const std::int64_t until = now_ns() + 1000; now_ns() < until;) {
  }
  if (call.entered && is_on(call)) --outer_calls;
}

void on_call(Call& call, CUpti_ApiCallbackSite site) {
  if (driver_ended.load()) return;
  const bool enabled = is_on(call);
  if (site == CUPTI_API_ENTER) count_enter(call, enabled);
  in_progress = call.correlation;
  if (!enabled) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = call.function;
  data.functionParams = call.params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &call.result : nullptr;
  data.symbolName = call.symbol;
  data.context = call.context;
  data.contextUid = call.context->id;
  if (site == CUPTI_API_ENTER) call.entered = true;
  data.correlationData = call.entered ? &call.word : nullptr;
  data.correlationId = call.correlation;
  call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, call.cbid, &data);
  if (site == CUPTI_API_EXIT) count_exit(call);
}

void on_resource(CUpti_CallbackId cbid, CUcontext context) {
  if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    record_context(context);
    pm_context_created();
  }
  if (resource_enabled[cbid].load()) {
    CUpti_ResourceData data{};
    data.context = context;
    call_subscriber(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
  }
  if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    counters_context_destroyed(context);
    pm_context_destroyed();
  }
}

void on_graph(CUpti_CallbackId cbid, CUcontext context, const CUpti_GraphData& graph) {
  if (driver_ended.load() || !resource_enabled[cbid].load()) return;
  CUpti_GraphData copy = graph;
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceDescriptor = &copy;
  call_subscriber(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

constexpr Hooks kHooks{
    [](Call& call) { on_call(call, CUPTI_API_ENTER); },
    [](Call& call) {
      on_call(call, CUPTI_API_EXIT);
      in_progress = 0;
    },
    [](const Work& work) {
      if (!driver_ended.load()) count_work(work);
    },
    [](const Work& work) {
      if (!driver_ended.load()) record_work(work);
    },
    on_resource,
    [](CUcontext) { pm_context_created(); },
    record_stream,
    on_graph,
    [] { return callback_depth != 0; },
    [] {
      driver_ended.store(true);
      write_calls();
      if (sampler_enabled()) violation("the driver ended while a GPU is sampled");
    },
};

// Links only if every function that the library requests is defined.
[[maybe_unused]] const void* const kAll[] = {
#define X(name) reinterpret_cast<const void*>(&::cupti##name),
    RANGEFINDER_CUPTI_FUNCTIONS(X)
#undef X
};

}  // namespace

std::uint32_t correlation_in_progress() {
  return in_progress;
}

CUptiResult begin(const char* function, Needs needs) {
  if (getpid() != loaded_by) violation(std::string(function) + " called in a forked child");
  if (driver_ended.load() && needs != Needs::nothing) {
    if (needs == Needs::counters) violation(std::string(function) + " called after the driver's end");
    return CUPTI_ERROR_NOT_INITIALIZED;
  }
  return injected(function);
}

}  // namespace fake

FAKE_EXPORT const fake::Hooks* fake_cupti_hooks() {
  return &fake::kHooks;
}

FAKE_EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  FAKE_BEGIN(GetVersion, nothing);
  *version = static_cast<std::uint32_t>(fake::number_from("FAKE_CUPTI_VERSION", CUPTI_API_VERSION));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  static thread_local std::string buffer;
  buffer = "CUPTI_ERROR_FAKE_" + std::to_string(static_cast<int>(result));
  *text = buffer.c_str();
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                          void* user, CUpti_SubscriberParams* params) {
  FAKE_BEGIN(Subscribe_v2, driver);
  if (handle == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params != nullptr && params->structSize != CUpti_SubscriberParams_STRUCT_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const char* const foreign = getenv("FAKE_CUPTI_OWNER");
  CUpti_SubscriberHandle const old = fake::subscriber.load();
  if (foreign != nullptr || old != nullptr) {
    const std::string name = foreign != nullptr ? foreign : old->name;
    if (params != nullptr && params->oldSubscriberName != nullptr &&
        params->oldSubscriberSize > name.size()) {
      std::memcpy(params->oldSubscriberName, name.c_str(), name.size() + 1);
    }
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  const char* const name = params != nullptr ? params->subscriberName : nullptr;
  if (name != nullptr && std::strlen(name) > 53) return CUPTI_ERROR_INVALID_PARAMETER;
  *handle = new CUpti_Subscriber_st{callback, user, name != nullptr ? name : ""};
  fake::subscriber.store(*handle);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  FAKE_BEGIN(Unsubscribe, driver);
  if (handle == nullptr || handle != fake::subscriber.load()) return CUPTI_ERROR_INVALID_PARAMETER;
  fake::subscriber.store(nullptr);  // leaked: a callback may still be running
  for (auto& enabled : fake::driver_enabled) enabled.store(false);
  for (auto& enabled : fake::resource_enabled) enabled.store(false);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle,
                                            CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  FAKE_BEGIN(EnableCallback, driver);
  if (handle == nullptr || handle != fake::subscriber.load() || cbid == 0 || enable > 1) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < fake::driver_enabled.size()) {
    fake::driver_enabled[cbid].store(enable != 0);
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid < fake::resource_enabled.size()) {
    fake::resource_enabled[cbid].store(enable != 0);
  } else {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  FAKE_BEGIN(GetContextId, driver);
  if (context == nullptr || !context->alive) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* id) {
  FAKE_BEGIN(GetDeviceId, driver);
  if (context == nullptr || !context->alive) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = context->gpu;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, std::uint8_t,
                                           std::uint32_t* id) {
  FAKE_BEGIN(GetStreamIdEx, driver);
  if (context == nullptr || !context->alive) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = stream != nullptr ? stream->id : context->null_stream;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  FAKE_BEGIN(GetGraphNodeId, driver);
  if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = node->id;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  FAKE_BEGIN(GetGraphId, driver);
  if (graph == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = reinterpret_cast<const fake::GraphHandle*>(graph)->id;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec executable, std::uint32_t* id) {
  FAKE_BEGIN(GetGraphExecId, driver);
  if (executable == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = reinterpret_cast<const fake::GraphHandle*>(executable)->id;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  FAKE_BEGIN(SetThreadIdType, driver);
  return type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}
