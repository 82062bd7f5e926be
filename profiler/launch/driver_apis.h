// SPDX-License-Identifier: Apache-2.0
//
// The driver functions we listen to, and what their arguments say.
//
// One entry a cbid, never a whole domain: a callback costs the application time
// even where we look away. Runtime calls end in driver calls, and CUPTI reports
// those with the correlation id of the activity record, so the driver's functions
// are enough.
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
  graph,  // these four put work on the GPU, in the order of WorkKind
  sync,
  alloc,
  free,
  event_record,
  event_wait,
  capture_begin,
  capture_end,
  // Only exact mode listens to these.
  value_wait,  ///< a stream waits for a value in memory
  stream_create,
  stream_destroy,
};

[[nodiscard]] constexpr bool is_gpu_work(ApiClass api) noexcept {
  return api <= ApiClass::graph;
}

/// What a call's arguments say; fields that the call does not have stay 0.
struct ApiArguments {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< alloc: valid after a successful return only
  std::uint64_t pool = 0;
  std::uint64_t event = 0;
  std::uint64_t graph = 0;  ///< capture_end: valid after a successful return only
  CUstream stream = nullptr;
  AllocKind alloc_kind = AllocKind::device;
  Dim3 grid, block;
};

struct DriverApi {
  CUpti_CallbackId cbid;
  ApiClass kind;
  bool has_stream;         ///< ApiArguments::stream is meaningful
  bool per_thread_stream;  ///< stream 0 means the per-thread default stream (_ptsz, _ptds)
  std::string_view name;   ///< without version and stream suffixes: "cuMemcpyHtoDAsync"
  /// Reads `params`, the function's generated parameter struct; `after`: the call returned.
  void (*read)(const void* params, bool after, ApiArguments& out);
};

inline constexpr std::size_t kMaxDriverApis = 256;

/// All of them. Event::api is an index into this span.
[[nodiscard]] std::span<const DriverApi> driver_apis() noexcept;

/// Index of the entry for a cbid; -1 for one that we do not listen to.
[[nodiscard]] int find_driver_api(CUpti_CallbackId cbid) noexcept;

/// Whether a recording needs the callback of a function of this class. `memory`, `events`: Options' members
/// of these names; `exact`: launches have counter ranges.
[[nodiscard]] bool is_wanted(ApiClass api, bool memory, bool events, bool exact) noexcept;

}  // namespace rangefinder
