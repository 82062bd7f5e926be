// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI's activity records: real struct layouts in the buffers of the tool.
//
//   work ─▶ buffer of the launching thread (requested on it) ─ full ─▶ completed callback
//                                      └─ FlushAll: complete ones; forced: all, end = 0
//
//   FAKE_CUPTI_CLOCK_SHIFT  offset of record times, ns: another tool has set its own clock
//
// `lock` is held during the tool's callbacks, as CUPTI holds its own lock. A tool that calls CUPTI under a
// lock that its callbacks also take deadlocks here.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "profiler/cupti/host_function_records.h"
#include "tests/injection/fake_cupti.h"

namespace fake {
namespace {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0, used = 0, max_records = 0, records = 0;
  std::int64_t complete_ns = 0;  ///< completion time of its last record
};

std::mutex lock;
CUpti_BuffersCallbackRequestFunc request = nullptr;  // guarded by lock, as is everything below
CUpti_BuffersCallbackCompleteFunc completed = nullptr;
// Never destroyed: other threads launch while the process exits.
auto& filling = *new std::map<pid_t, Buffer>;  // one buffer per thread, as in CUPTI 13
auto& full = *new std::vector<Buffer>;
std::size_t dropped = 0;
std::int64_t records_seen = 0;
bool zeroed = false;
std::array<std::atomic<bool>, 64> enabled{};  // by kind

std::atomic<std::int64_t> clock_shift_ns{number_from("FAKE_CUPTI_CLOCK_SHIFT", 0)};

void deliver(const Buffer& buffer) {
  completed(nullptr, 0, buffer.data, buffer.bytes, buffer.used);
}

bool ask_for_buffer(Buffer& current) {
  current = {};
  request(&current.data, &current.bytes, &current.max_records);
  if (current.data == nullptr) {
    current = {};
    return false;
  }
  if (reinterpret_cast<std::uintptr_t>(current.data) % 8 != 0)
    violation("an activity buffer is not 8-byte aligned");
  if (zeroed &&
      std::any_of(current.data, current.data + current.bytes, [](std::uint8_t byte) { return byte != 0; })) {
    violation("an activity buffer was promised to be zeroed and is not");
  }
  return true;
}

template <typename Record>
void append(const Record& record, std::int64_t complete_ns) {
  const bool by_device = record.kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE;  // follows the kind of graphs
  if (!enabled[by_device ? CUPTI_ACTIVITY_KIND_GRAPH_TRACE : record.kind].load()) return;
  static const std::int64_t lose = number_from("FAKE_CUPTI_LOSE", 0);
  const std::lock_guard guard(lock);
  if (lose != 0 && ++records_seen % lose == 0) return;
  if (request == nullptr) return;
  Buffer& current = filling[gettid()];
  if (current.data != nullptr && current.used + sizeof(record) > current.bytes) {
    full.push_back(current);
    current = {};
  }
  if (current.data == nullptr && !ask_for_buffer(current)) {
    ++dropped;
    return;
  }
  std::memcpy(current.data + current.used, &record, sizeof(record));
  current.used += sizeof(record);
  current.complete_ns = std::max(current.complete_ns, complete_ns);
  if (++current.records == current.max_records) {
    full.push_back(current);
    current = {};
  }
  const std::int64_t now = now_ns();
  const auto ready = [now](const Buffer& buffer) { return buffer.complete_ns <= now; };
  for (const Buffer& buffer : full) {
    if (ready(buffer)) deliver(buffer);
  }
  std::erase_if(full, ready);
}

template <typename Record>
Record timed(CUpti_ActivityKind kind, const Work& work) {
  Record record{};
  record.kind = kind;
  record.start = static_cast<std::uint64_t>(work.start_ns + clock_shift_ns.load());
  record.end = static_cast<std::uint64_t>(work.end_ns + clock_shift_ns.load());
  record.deviceId = work.context->gpu;
  record.contextId = work.context->id;
  record.streamId = work.stream;
  record.correlationId = work.correlation;
  record.graphNodeId = work.graph_node;
  record.graphId = static_cast<std::uint32_t>(work.graph_node >> 32);
  if (work.graph_node != 0 && !node_has_times()) record.start = record.end = 0;
  return record;
}

/// As CUPTI 13.0 does (docs/internals/measured.md): a handle keeps the name of the first kernel
/// recorded under it, even if another kernel later has the same handle.
const char* name_of(const Work& work) {
  static std::mutex mutex;
  static auto* const names = new std::map<CUfunction, const char*>;  // guarded by mutex
  if (!enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL].load()) return nullptr;
  const std::lock_guard guard(mutex);
  return names->try_emplace(work.function, work.symbol).first->second;
}

void record_kernel(const Work& work) {
  auto record = timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, work);
  record.name = name_of(work);
  record.registersPerThread = 32;
  record.gridX = static_cast<std::int32_t>(work.grid[0]);
  record.gridY = static_cast<std::int32_t>(work.grid[1]);
  record.gridZ = static_cast<std::int32_t>(work.grid[2]);
  record.blockX = static_cast<std::int32_t>(work.block[0]);
  record.blockY = static_cast<std::int32_t>(work.block[1]);
  record.blockZ = static_cast<std::int32_t>(work.block[2]);
  append(record, work.end_ns);
}

void record_copy(const Work& work) {
  auto record = timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, work);
  record.copyKind = work.to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.srcKind = work.to_host ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  record.dstKind = work.to_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.bytes = work.bytes;
  record.flags = work.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.copyCount = 1;
  append(record, work.end_ns);
}

void record_memset(const Work& work) {
  auto record = timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, work);
  record.bytes = work.bytes;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  append(record, work.end_ns);
}

void record_host_function(const Work& work) {
  const auto set = [&work](auto& record) {
    record.streamId = work.stream;
    record.contextId = work.context->id;
    record.deviceId = work.context->gpu;
    record.correlationId = work.correlation;
    record.processId = static_cast<std::uint32_t>(getpid());
    record.threadId = static_cast<std::uint32_t>(gettid());
    record.start = static_cast<std::uint64_t>(work.start_ns);
    record.end = static_cast<std::uint64_t>(work.end_ns);
    append(record, work.end_ns);
  };
  if (work.graph_node == 0) {
    rangefinder::HostLaunchActivity record{};
    record.kind = rangefinder::kHostLaunchKind;
    return set(record);
  }
  rangefinder::GraphHostNodeActivity record{};
  record.kind = rangefinder::kGraphHostNodeKind;
  record.graphId = static_cast<std::uint32_t>(work.graph_node >> 32);
  record.graphNodeId = work.graph_node;
  set(record);
}

/// Whether this version of CUPTI has the kind.
bool has_kind(CUpti_ActivityKind kind) {
  if (kind == rangefinder::kGraphHostNodeKind || kind == rangefinder::kHostLaunchKind)
    return number_from("FAKE_CUPTI_VERSION", CUPTI_API_VERSION) >= rangefinder::kFirstCuptiWithHostFunctions;
  return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT;
}

/// A forced flush delivers incomplete records without times.
template <typename Record>
void untime(std::uint8_t* at, std::int64_t now) {
  auto* const record = reinterpret_cast<Record*>(at);
  if (static_cast<std::int64_t>(record->end) > now) record->start = record->end = 0;
}

void untime_incomplete(const Buffer& buffer, std::int64_t now) {
  for (std::size_t at = 0; at < buffer.used;) {
    const auto kind = *reinterpret_cast<const CUpti_ActivityKind*>(buffer.data + at);
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) untime<CUpti_ActivityKernel10>(buffer.data + at, now);
    if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) untime<CUpti_ActivityMemcpy6>(buffer.data + at, now);
    if (kind == CUPTI_ACTIVITY_KIND_MEMSET) untime<CUpti_ActivityMemset4>(buffer.data + at, now);
    at += size_of(kind);
  }
}

}  // namespace

void record_work(const Work& work) {
  if (work.graph_node != 0 && enabled[CUPTI_ACTIVITY_KIND_GRAPH_TRACE].load()) {
    const CUpti_ActivityGraphTrace2 whole = whole_graph(work);
    if (whole.kind == 0) return;
    append(whole, work.end_ns);
    for (const CUpti_ActivityDeviceGraphTrace& launched : device_graphs(whole))
      append(launched, static_cast<std::int64_t>(launched.end));
    return;
  }
  switch (work.kind) {
    case WorkClass::kernel:
      return record_kernel(work);
    case WorkClass::memcpy:
      return record_copy(work);
    case WorkClass::memset:
      return record_memset(work);
    case WorkClass::host_function:
      return record_host_function(work);
  }
}

void record_context(CUcontext context) {
  CUpti_ActivityContext3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = context->id;
  record.deviceId = context->gpu;
  record.nullStreamId = static_cast<std::uint16_t>(context->null_stream);
  append(record, 0);
}

void record_stream(CUcontext context, std::uint32_t stream) {
  CUpti_ActivityStream record{};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = context->id;
  record.streamId = stream;
  append(record, 0);
}

}  // namespace fake

FAKE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  FAKE_BEGIN(ActivityEnable, driver);
  if (!fake::has_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  // After this, the real CUPTI may have no kernel records in any later window (docs/internals/decisions.md).
  static const auto init_runs_elsewhere =
      reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "fakeCudaInitRunsElsewhere"));
  if (init_runs_elsewhere != nullptr && init_runs_elsewhere() != 0)
    fake::violation("records are switched on while another thread is in cuInit");
  fake::enabled[kind].store(true);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAKE_BEGIN(ActivityDisable, driver);
  if (!fake::has_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  fake::enabled[kind].store(false);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) fake::node_records_disabled();
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  FAKE_BEGIN(ActivityRegisterTimestampCallback, driver);
  if (clock == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (fake::enabled[kind].load()) fake::violation("a clock is registered while records of work are on");
  }
  const std::int64_t shift_ns = static_cast<std::int64_t>(clock()) - fake::now_ns();
  fake::clock_shift_ns.store(std::abs(shift_ns) < 1'000'000 ? 0 : shift_ns);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                       CUpti_BuffersCallbackCompleteFunc completed) {
  FAKE_BEGIN(ActivityRegisterCallbacks, driver);
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard guard(fake::lock);
  fake::request = requested;
  fake::completed = completed;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* bytes,
                                                  void* value) {
  FAKE_BEGIN(ActivitySetAttribute, driver);
  if (bytes == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute != CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) return CUPTI_SUCCESS;
  if (*bytes != sizeof(std::uint8_t)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  const std::lock_guard guard(fake::lock);
  fake::zeroed = *static_cast<const std::uint8_t*>(value) != 0;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  FAKE_BEGIN(ActivityFlushAll, driver);
  const std::lock_guard guard(fake::lock);
  const std::int64_t now = fake::now_ns();
  const bool forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  for (const auto& [thread, buffer] : fake::filling) {
    if (buffer.data != nullptr) fake::full.push_back(buffer);
  }
  fake::filling.clear();
  std::vector<fake::Buffer> waiting;
  for (const fake::Buffer& buffer : fake::full) {
    if (!forced && buffer.complete_ns > now) {
      waiting.push_back(buffer);
      continue;
    }
    fake::untime_incomplete(buffer, now);
    fake::deliver(buffer);
  }
  fake::full = std::move(waiting);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
  FAKE_BEGIN(ActivityGetNumDroppedRecords, driver);
  if (count == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard guard(fake::lock);
  *count = std::exchange(fake::dropped, 0);
  return CUPTI_SUCCESS;
}
