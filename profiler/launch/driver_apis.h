// SPDX-License-Identifier: Apache-2.0
//
// The driver functions that we trace, and how their arguments are read.
//
// One entry per cbid, never a whole domain: a callback costs the application time
// even if we ignore it. Runtime calls end in driver calls, and CUPTI reports those
// with the correlation id of the activity record. So driver functions are enough.
#pragma once

#include <cuda.h>
#include <cupti_callbacks.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "schema/record.h"

namespace rangefinder {

enum class ApiClass : std::uint8_t {
  kernel,
  memcpy,
  memset,
  graph,  // these four launch GPU work; same order as WorkKind
  sync,
  alloc,
  free,
  event_record,
  event_wait,
  capture_begin,
  capture_end,
  watched,  ///< in the trace only if it made a capture invalid
  query,    ///< as `watched`; traced only while a stream is captured, for programs query in loops
  // Traced in exact mode only.
  value_wait,  ///< a stream waits for a value in memory
  stream_create,
  stream_destroy,
};

/// Whether a call with this result made a stream capture invalid: CUDA_ERROR_STREAM_CAPTURE_*, but those of
/// a capture's end, or of one that is invalid already.
[[nodiscard]] constexpr bool breaks_capture(CUresult result) noexcept {
  return result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || result == CUDA_ERROR_STREAM_CAPTURE_MERGE ||
         result == CUDA_ERROR_STREAM_CAPTURE_ISOLATION || result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
         result == CUDA_ERROR_CAPTURED_EVENT;
}

[[nodiscard]] constexpr bool is_gpu_work(ApiClass api) noexcept {
  return api <= ApiClass::graph;
}

/// A call's arguments. Fields that the call does not have stay 0.
struct ApiArguments {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< alloc: valid only after a successful return
  std::uint64_t pool = 0;
  std::uint64_t event = 0;
  std::uint64_t graph = 0;  ///< capture_end: valid only after a successful return
  CUstream stream = nullptr;
  CUgraphExec executable = nullptr;  ///< launched by the call
  AllocKind alloc_kind = AllocKind::device;
  bool relaxed = false;  ///< capture_begin: no call of another thread makes it invalid
  Dim3 grid, block;
};

struct DriverApi {
  CUpti_CallbackId cbid;
  ApiClass kind;
  bool has_stream;         ///< ApiArguments::stream is meaningful
  bool per_thread_stream;  ///< stream 0 means the per-thread default stream (_ptsz, _ptds)
  std::string_view name;   ///< without version and stream suffixes: "cuMemcpyHtoDAsync"
  /// Reads `params`, the function's generated parameter struct. `after`: the call has returned.
  void (*read)(const void* params, bool after, ApiArguments& out);
};

inline constexpr std::size_t kMaxDriverApis = 256;

/// All traced functions. Event::api is an index into this span.
[[nodiscard]] std::span<const DriverApi> driver_apis() noexcept;

/// Index of the entry for a cbid; -1 if we do not trace it.
[[nodiscard]] int find_driver_api(CUpti_CallbackId cbid) noexcept;

/// A call that changes a graph or executable, of those in kGraphCalls (untraced_calls.h).
struct GraphCall {
  enum class Kind : std::uint8_t {
    none,
    create,               ///< a graph that is no part of another one
    update,               ///< `executable` with `graph`
    update_child,         ///< the graph in `node` of `executable`, with `graph`
    allow_device_launch,  ///< an executable that kernels may launch
    set_function          ///< of `node`, in `executable` or, if that is nullptr, in its graph
  } kind = Kind::none;
  CUgraphExec executable = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
};
[[nodiscard]] GraphCall read_graph_call(CUpti_CallbackId cbid, const void* params) noexcept;

/// Whether a recording needs callbacks of this class. `memory`, `events`: the members of Options;
/// `exact`: launches have counter ranges.
[[nodiscard]] bool is_wanted(ApiClass api, bool memory, bool events, bool exact) noexcept;

}  // namespace rangefinder
