// SPDX-License-Identifier: Apache-2.0
//
// One insert per table of the sqlite export, and the ids of its enumerations. Used only by SqliteRows.
#pragma once

#include "tools/export/sqlite_database.h"
#include "tools/export/sqlite_rows.h"

namespace rangefinder {

struct SqliteRows::Inserts {
  explicit Inserts(SqliteDatabase& database) : database_(database) {}

 private:
  SqliteDatabase& database_;

 public:
  SqliteInsert strings{database_, "StringIds"};
  SqliteInsert kernels{database_, "CUPTI_ACTIVITY_KIND_KERNEL"};
  SqliteInsert memcpys{database_, "CUPTI_ACTIVITY_KIND_MEMCPY"};
  SqliteInsert memsets{database_, "CUPTI_ACTIVITY_KIND_MEMSET"};
  SqliteInsert graphs{database_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  SqliteInsert runtime{database_, "CUPTI_ACTIVITY_KIND_RUNTIME"};
  SqliteInsert overhead{database_, "PROFILER_OVERHEAD"};
  SqliteInsert nvtx{database_, "NVTX_EVENTS"};
  SqliteInsert processes{database_, "PROCESSES"};
  SqliteInsert thread_names{database_, "ThreadNames"};
  SqliteInsert session{database_, "TARGET_INFO_SESSION_START_TIME"};
  SqliteInsert environment{database_, "TARGET_INFO_SYSTEM_ENV"};
  SqliteInsert gpus{database_, "TARGET_INFO_GPU"};
  SqliteInsert contexts{database_, "TARGET_INFO_CUDA_CONTEXT_INFO"};
  SqliteInsert streams{database_, "TARGET_INFO_CUDA_STREAM"};
  SqliteInsert copy_kinds{database_, "ENUM_CUDA_MEMCPY_OPER"};
  SqliteInsert memory_kinds{database_, "ENUM_CUDA_MEM_KIND"};
  SqliteInsert event_types{database_, "ENUM_NSYS_EVENT_TYPE"};
  SqliteInsert trace{database_, "trace"};
  SqliteInsert loss{database_, "loss"};
  SqliteInsert paths{database_, "paths"};
  SqliteInsert exact{database_, "exact"};
  SqliteInsert metrics{database_, "metrics"};
  SqliteInsert syncs{database_, "syncs"};
  SqliteInsert allocations{database_, "allocations"};
  SqliteInsert events{database_, "events"};
  SqliteInsert captures{database_, "captures"};
  SqliteInsert samples{database_, "samples"};
};

/// Nsight Systems' values of NVTX_EVENTS.eventType.
inline constexpr int kNsysNvtxCategory = 33, kNsysNvtxMark = 34, kNsysNvtxPushPop = 59,
                     kNsysNvtxStartEnd = 60, kNsysNvtxDomain = 75;

}  // namespace rangefinder
