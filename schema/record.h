// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace: one plain struct for each kind of line.
//
//   profiler/ fills them  ──▶  write_line.h  ──▶  trace-00000.ndjson  ──▶  read_line.h  ──▶  tools/
//
// Every field must be here, in fields.h, in trace.schema.json and in README.md. No code and no dependency:
// any file may include this header.
//
// A std::string_view is borrowed: from static storage in the application, from the
// LineReader in the tools.
//
// Times are integer nanoseconds relative to Header::base_unix_ns. Ids are dense,
// start at 1 and are valid for the whole trace; 0 means "none". Strings are raw
// bytes: the writer makes them valid UTF-8.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/duration.h"
#include "schema/condition_record.h"
#include "schema/ledger_record.h"
#include "schema/loss.h"
#include "schema/monitor_record.h"
#include "schema/naming_record.h"
#include "schema/sample_record.h"
#include "schema/stack_record.h"

namespace rangefinder {

inline constexpr const char* kTraceSchema = "rangefinder.trace";
inline constexpr const char* kSummarySchema = "rangefinder.summary";
inline constexpr const char* kSummaryVersion = "1.3";
/// MAJOR.MINOR: readers refuse a newer MAJOR and ignore additions of a newer MINOR.
inline constexpr const char* kSchemaVersion = "1.2";
inline constexpr int kSchemaMajor = 1;

/// Where GPU work ran and where it was launched. Part of every GPU record.
struct GpuWork {
  TimeNs start_ns = kNoTime;  ///< kNoTime: CUPTI could not time it
  TimeNs end_ns = kNoTime;
  std::uint32_t gpu = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  ///< joins it to its LaunchRecord
  std::uint32_t path = 0;         ///< 0: launched outside of any range
  std::uint64_t range = 0;        ///< innermost range instance open at the launch
  std::uint32_t graph = 0;        ///< executable graph id; 0: not launched by a graph
  std::uint64_t graph_node = 0;   ///< CUPTI's id of the node, graph << 32 | number in the graph; 0: none
  bool captured = false;          ///< path and range are those open when the graph node was made
};

/// Value of `node` in a line: the node's number in the graph, which is much shorter than CUPTI's id. The id
/// of a node of another graph is written in full; none is known to begin with 0.
[[nodiscard]] constexpr std::uint64_t node_number(const GpuWork& work) noexcept {
  return work.graph_node >> 32 == work.graph ? work.graph_node & UINT32_MAX : work.graph_node;
}
/// CUPTI's node id from the value in a line.
[[nodiscard]] constexpr std::uint64_t node_id(std::uint32_t graph, std::uint64_t number) noexcept {
  return number <= UINT32_MAX ? std::uint64_t{graph} << 32 | number : number;
}

/// One kernel execution. Source: CUpti_ActivityKernel10.
struct KernelRecord {
  GpuWork work;
  std::uint32_t name = 0;    ///< KernelNameRecord
  std::uint32_t config = 0;  ///< LaunchConfigRecord
};

enum class CopyKind : std::uint8_t { unknown, HtoD, DtoH, DtoD, HtoH, PtoP, HtoA, AtoH, AtoA, AtoD, DtoA };
enum class MemoryKind : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static,
  managed_static
};

/// One copy. Source: CUpti_ActivityMemcpy6, and CUpti_ActivityMemcpyPtoP4 for PtoP.
struct MemcpyRecord {
  GpuWork work;
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;
  std::uint64_t bytes = 0;
  bool async = false;
  std::uint64_t count = 1;                            ///< copies in a batch
  std::uint32_t source_gpu = 0, destination_gpu = 0;  ///< PtoP only
};

/// Source: CUpti_ActivityMemset4.
struct MemsetRecord {
  GpuWork work;
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::unknown;
};

/// How a kernel launched a graph.
enum class DeviceLaunch : std::uint8_t { unknown, fire_and_forget, tail, sibling };

/// One launch of a CUDA graph as a whole, from the start of its first node to the end of its last. Its nodes
/// have no records. Source: CUpti_ActivityGraphTrace2; launched from the device:
/// CUpti_ActivityDeviceGraphTrace.
struct GraphRecord {
  GpuWork work;                ///< graph_node is 0, captured false
  std::uint32_t launcher = 0;  ///< graph whose kernel launched this one; 0: the host did
  DeviceLaunch device_launch = DeviceLaunch::unknown;  ///< with a launcher
};

/// A function of the program that a stream waited for: of cuLaunchHostFunc, or a host node of a graph.
/// CUPTI 13.1 and later. Sources: CUpti_ActivityHostLaunch, CUpti_ActivityGraphHostNode.
struct HostFunctionRecord {
  /// The stream's wait, no work of the GPU. Of cuLaunchHostFunc: no path, since that call is not traced.
  GpuWork wait;
  std::uint32_t thread = 0;  ///< gettid() of the thread that ran it
};

/// Part of every record that comes from a host thread, by a callback or NVTX.
struct HostWork {
  TimeNs start_ns = kNoTime;
  TimeNs end_ns = kNoTime;
  std::uint32_t thread = 0;  ///< gettid()
  std::uint32_t path = 0;
  std::uint64_t range = 0;
  bool inherited = false;  ///< path and range are those of the one other thread with ranges open (--inherit)
};

/// A host call that put work on the GPU. Source: driver API callback.
struct LaunchRecord {
  HostWork host;
  std::string_view api;  ///< driver function without version suffix, as in "cuLaunchKernel"
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::int32_t result = 0;  ///< CUresult; in the line only if it is not 0
};

enum class WorkKind : std::uint8_t { kernel, memcpy, memset, graph };

/// Work measured with hardware counters. Source: the launch callback and the Range Profiler. Start and end on
/// the GPU are in the records of the same correlation: one for a kernel, copy or memset, many for a graph.
/// gpu_ns serves to compare launches measured with different counters. It is gr__cycles_active.sum over the
/// clock, minus what the range itself adds, for kernels, graphs and whole ranges.
///
/// Three forms. A launch in its own counter range has `values`. Launches that share a counter range
/// (--exact-at range) have `counter_range` and no values. The counter range itself has `is_counter_range`,
/// the same number and the values, with path, thread and host times of the range. It is not a launch.
struct ExactRecord {
  LaunchRecord launch;
  WorkKind kind = WorkKind::kernel;
  std::uint32_t gpu = 0;
  std::uint32_t name = 0;   ///< KernelNameRecord; 0 if kind is not kernel
  Dim3 grid, block;         ///< kernel only
  std::uint64_t bytes = 0;  ///< memcpy, memset: as requested
  /// Graph: the deepest path under which all its nodes were captured. The launch's values are that path's; 0:
  /// they are the launch's path's.
  std::uint32_t bytes_path = 0;
  std::uint64_t counter_range = 0;  ///< number of the shared range; 0: its own range
  bool is_counter_range = false;
  std::uint32_t launches = 0;  ///< is_counter_range: launches in it, of which
  std::uint32_t kernels = 0;   ///< kernels and graphs
  bool exclusive = true;       ///< false: contains launches of several threads or streams, or of another path
  bool measured = false;       ///< false: no values below; `reason` says why
  std::uint64_t gpu_ns = 0;
  bool has_bytes = true;               ///< the metric set includes the three below
  std::uint64_t dram_read_bytes = 0;   ///< dram__bytes_read.sum
  std::uint64_t dram_write_bytes = 0;  ///< dram__bytes_write.sum
  std::uint64_t l2_bytes = 0;          ///< lts__t_bytes.sum
  std::uint32_t metric_set = 0;        ///< MetricSetRecord; 0: time and bytes only
  std::vector<double> values;          ///< of the set's metrics, in its order
  std::string reason;
};

/// Whether an exact line of this kind has the GPU time.
[[nodiscard]] inline bool has_gpu_time(const ExactRecord& exact) noexcept {
  return exact.is_counter_range || exact.kind == WorkKind::kernel || exact.kind == WorkKind::graph;
}

/// The path that an exact line's values belong to.
[[nodiscard]] inline std::uint32_t values_path(const ExactRecord& exact) noexcept {
  return exact.bytes_path != 0 ? exact.bytes_path : exact.launch.host.path;
}

/// Whether the values of this launch are in the line of a shared counter range.
[[nodiscard]] inline bool shares_counter_range(const ExactRecord& exact) noexcept {
  return !exact.is_counter_range && exact.counter_range != 0;
}

/// A host thread waited. Source: driver API callback.
struct SyncRecord {
  HostWork host;
  std::string_view api;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;  ///< waited for, 0: all
  std::uint64_t event = 0;   ///< handle waited for
};

enum class AllocKind : std::uint8_t { device, host, managed, async, pool };

/// Memory was allocated or freed. Source: driver API callback.
struct AllocRecord {
  HostWork host;
  std::string_view api;
  bool is_free = false;
  AllocKind kind = AllocKind::device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< 0 for a free
  std::uint32_t context = 0;
  std::uint32_t stream = 0;  ///< async only
  std::uint64_t pool = 0;    ///< handle, pool only
};

/// cuEventRecord (wait false) or cuStreamWaitEvent (wait true). Source: driver API callback.
struct EventRecord {
  HostWork host;
  bool wait = false;
  std::uint64_t event = 0;   ///< handle
  std::uint32_t stream = 0;  ///< the recording or waiting stream
  std::uint32_t context = 0;
};

enum class CaptureStep : std::uint8_t { begin, end, invalidate, broken_by };

/// Stream capture. Source: driver API callback.
struct CaptureRecord {
  HostWork host;
  CaptureStep step = CaptureStep::begin;
  std::uint32_t stream = 0;
  std::uint32_t context = 0;
  std::uint64_t graph = 0;  ///< CUgraph handle, end only
  std::int32_t result = 0;  ///< CUresult; not 0: the capture was invalid
  std::string_view api{};   ///< broken_by only: the call that stream capture forbids, on any thread
};

/// Overhead of CUDA or CUPTI. Source: CUpti_ActivityOverhead3.
struct OverheadRecord {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  std::string_view what;     ///< "lazy_function_loading", …
  std::uint32_t thread = 0;  ///< 0: not reported by CUPTI
  std::uint32_t correlation = 0;
};

/// Why the profiler made an application's thread wait.
enum class HoldCause : std::uint8_t {
  session_start,  ///< a window, its counters or its sampling started
  session_end,    ///< they ended: at exit, or with a context
  counter_batch,  ///< exact: a batch of counter ranges ended, and the next one started
  counter_range,  ///< exact: the counter range of an earlier launch had to end first
  launch_lock,    ///< exact: another thread's launch had the context; only waits over 1 ms have a line
  lock,           ///< a lock of the profiler's tables
  early_flush     ///< in the first 2 s: records of finished work were written before the thread went on
};

/// The profiler made a thread of the application wait. The counter range of a launch itself is no hold.
struct HoldRecord {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  HoldCause cause = HoldCause::session_start;
};

/// Another tool had CUPTI: work launched in this time is not in the trace.
struct GapRecord {
  TimeNs start_ns = 0, end_ns = 0;
  std::string_view cause;  ///< as requested: "torch.profiler"
};

enum class PayloadType : std::uint8_t { none, u64, i64, f64, u32, i32, f32 };

/// Optional attributes of an NVTX call besides its text.
struct NvtxExtras {
  std::uint32_t category = 0;
  std::uint32_t color = 0;  ///< ARGB; 0: none
  PayloadType payload_type = PayloadType::none;
  std::uint64_t payload = 0;         ///< the bits of the value
  std::uint64_t payload_schema = 0;  ///< of the extended payload; 0: none
  std::vector<std::uint8_t> payload_data;
};

/// One NVTX range. A push/pop range has a path, a start/end range a name.
struct RangeRecord {
  std::uint64_t id = 0;
  TimeNs start_ns = kNoTime;
  TimeNs end_ns = kNoTime;  ///< kNoTime: never closed
  std::uint32_t thread = 0;
  std::uint32_t end_thread = 0;  ///< start/end only
  std::uint32_t domain = 0;
  std::uint32_t path = 0;  ///< push/pop: its own; start/end: the path open on the thread at the start
  std::uint32_t name = 0;  ///< start/end only: distinguishes the two
  NvtxExtras extras;
};

/// An NVTX mark.
struct MarkRecord {
  TimeNs at_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t domain = 0;
  std::uint32_t name = 0;
  std::uint32_t path = 0;
  std::uint64_t range = 0;
  NvtxExtras extras;
};

/// Heartbeat, written with every flush to disk, so that a reader knows what a killed program had lost.
struct FlushRecord {
  TimeNs at_ns = 0;
  std::uint64_t records = 0;  ///< event lines written so far, this and earlier segments
  LossByCause loss{};
};

/// Last line of a trace that was not cut off.
struct EndRecord {
  TimeNs at_ns = 0;
  std::string reason;  ///< "exit", "stop", … (README.md)
  /// Lines written by kind: {"kernel", 1200}, …
  std::vector<std::pair<std::string, std::uint64_t>> records;
  std::array<LaunchBalance, 4> balance{};  ///< by WorkKind
  CopyTruth truth;
  LossByCause loss{};
  OwnCost own_cost;
};

/// Both clocks once a second, so that readers can detect and remove a step of CLOCK_REALTIME.
struct ClockRecord {
  TimeNs at_ns = 0;         ///< CLOCK_REALTIME - base_unix_ns
  TimeNs monotonic_ns = 0;  ///< CLOCK_MONOTONIC_RAW - base_monotonic_ns
};

}  // namespace rangefinder
