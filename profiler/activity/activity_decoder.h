// SPDX-License-Identifier: Apache-2.0
//
// Turns one completed CUPTI activity buffer into records.
//
//   bytes from CUPTI                     plain structs from schema/record.h
//   +--------+--------+-----+            +--------------+   +--------------+
//   | kernel | memcpy | ... |  --------> | KernelRecord |   | MemcpyRecord | ...
//   +--------+--------+-----+            +--------------+   +--------------+
//
// No threads, no files, no globals: the same bytes always give the same records.
// That is what lets tests/replay/ run recorded buffers on a machine that has never
// seen a GPU (libcupti iterates buffers without a driver).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/cupti/functions.h"
#include "schema/record.h"

namespace rangefinder {

/// One kernel execution as CUPTI reports it. The ids of name, config and path are not set yet.
struct KernelActivity {
  GpuWork work;               ///< times absolute (CLOCK_REALTIME); kNoTime if CUPTI had none
  LaunchConfigRecord config;  ///< id is 0
  const char* name = "";      ///< mangled, borrowed from CUPTI: copy to keep
};

/// Receives the decoded records in buffer order. Times are absolute.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on_kernel(const KernelActivity& kernel) = 0;
  virtual void on_memcpy(MemcpyRecord copy) = 0;
  virtual void on_memset(MemsetRecord memset) = 0;
  virtual void on_graph(GraphRecord graph) = 0;
  virtual void on_host_function(HostFunctionRecord function) = 0;
  /// `details` was allocated by CUPTI. The receiver owns it and must free() it; may be nullptr.
  virtual void on_overhead(OverheadRecord overhead, void* details) = 0;
  virtual void on_context(const ContextRecord& context) = 0;
  virtual void on_stream(const StreamRecord& stream) = 0;
};

struct DecodeResult {
  std::uint64_t records = 0;
  std::uint64_t unknown = 0;  ///< records of kinds that we did not enable
  bool corrupt = false;       ///< the iterator failed before the end of the buffer
};

/// Calls `sink` for every record in `data`. Throws only what the sink throws.
DecodeResult decode_activity(const CuptiFunctions& cupti, std::uint8_t* data, std::size_t valid_bytes,
                             RecordSink& sink);

}  // namespace rangefinder
