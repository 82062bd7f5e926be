// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity/activity_callbacks.h"

#include <atomic>
#include <cstdint>

#include "profiler/base/monotonic_clock.h"
#include "profiler/cupti/host_function_records.h"
#include "profiler/events/tsc_clock.h"

namespace rangefinder {
namespace {

std::atomic<BufferPool*> buffer_pool{nullptr};

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_OVERHEAD,
                                         CUPTI_ACTIVITY_KIND_CONTEXT,
                                         CUPTI_ACTIVITY_KIND_STREAM,
                                         CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                         kGraphHostNodeKind,
                                         kHostLaunchKind};

/// An older libcupti refuses it.
bool may_be_unknown(CUpti_ActivityKind kind) noexcept {
  return kind == kGraphHostNodeKind || kind == kHostLaunchKind;
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes,
                                  std::size_t* max_records) noexcept {
  *max_records = 0;  // no limit
  const LentBuffer lent = buffer_pool.load(std::memory_order_acquire)->take();
  *buffer = lent.data;
  *bytes = lent.bytes;  // without a buffer CUPTI drops the records and counts them
}

void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid_bytes) noexcept {
  buffer_pool.load(std::memory_order_acquire)->complete(buffer, valid_bytes);
}

/// About fifteen clock points to search: less than 50 ns per record.
constexpr std::int64_t kClockAgeNs = 60'000'000'000;
std::atomic<std::int64_t> renewed_ns{0};

/// The clock of all our times; CUPTI also uses it.
std::uint64_t CUPTIAPI realtime_ns() noexcept {
  return static_cast<std::uint64_t>(clock_now_ns());
}

bool set_flag(const CuptiFunctions& cupti, CUpti_ActivityAttribute attribute, std::uint8_t value) {
  std::size_t bytes = sizeof(value);
  return cupti.ActivitySetAttribute(attribute, &bytes, &value) == CUPTI_SUCCESS;
}

}  // namespace

bool register_activity(const CuptiFunctions& cupti, BufferPool& pool, std::string& error) {
  buffer_pool.store(&pool, std::memory_order_release);
  // Otherwise CUPTI clears every buffer on the application's thread.
  (void)set_flag(cupti, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
  // gettid() instead of a truncated pthread_self(): the id that NVTX, ps and our traces use.
  (void)cupti.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  const CUptiResult r = cupti.ActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);
  if (r != CUPTI_SUCCESS) error = "cuptiActivityRegisterCallbacks failed with " + cupti_result_text(cupti, r);
  return r == CUPTI_SUCCESS;
}

std::size_t dropped_records(const CuptiFunctions& cupti) noexcept {
  std::size_t dropped = 0;
  return cupti.ActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS ? dropped : 0;
}

bool record_device_launches(const CuptiFunctions& cupti) noexcept {
  return cupti.ActivityEnableDeviceGraph(1) == CUPTI_SUCCESS;
}

bool enable_activity_kinds(const CuptiFunctions& cupti, GraphTracing graphs, std::string& error) {
  for (const CUpti_ActivityKind kind : kKinds) {
    // With this kind enabled, CUPTI delivers no records of a graph's nodes.
    if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && graphs != GraphTracing::whole) continue;
    if (const CUptiResult r = cupti.ActivityEnable(kind); r != CUPTI_SUCCESS && !may_be_unknown(kind)) {
      error = "cuptiActivityEnable(" + std::to_string(kind) + ") failed with " + cupti_result_text(cupti, r);
      return false;
    }
  }
  return true;
}

void disable_activity_kinds(const CuptiFunctions& cupti) noexcept {
  for (const CUpti_ActivityKind kind : kKinds) (void)cupti.ActivityDisable(kind);
}

void switch_work_records(const CuptiFunctions& cupti, GraphTracing graphs, bool on) noexcept {
  if (on && monotonic_now_ns() - renewed_ns.load(std::memory_order_relaxed) > kClockAgeNs) renew_clock(cupti);
  for (const CUpti_ActivityKind kind : kKinds) {
    // These few records describe the contexts and streams that work refers to.
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT || kind == CUPTI_ACTIVITY_KIND_STREAM) continue;
    if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && graphs != GraphTracing::whole) continue;
    (void)(on ? cupti.ActivityEnable(kind) : cupti.ActivityDisable(kind));
  }
}

void restart_node_records(const CuptiFunctions& cupti) noexcept {
  constexpr CUpti_ActivityKind kOfNodes[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                             CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
  for (const CUpti_ActivityKind kind : kOfNodes) (void)cupti.ActivityDisable(kind);
  // Forced: records that CUPTI still holds keep the device memory that it must reuse.
  (void)cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : kOfNodes) (void)cupti.ActivityEnable(kind);
}

void renew_clock(const CuptiFunctions& cupti) noexcept {
  renewed_ns.store(monotonic_now_ns(), std::memory_order_relaxed);
  (void)cupti.ActivityRegisterTimestampCallback(realtime_ns);
}

void unregister_activity(const CuptiFunctions& cupti) noexcept {
  (void)set_flag(cupti, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 0);
  (void)cupti.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
}

}  // namespace rangefinder
