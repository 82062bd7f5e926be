// SPDX-License-Identifier: Apache-2.0
//
// Records that define ids and names: header, GPUs, streams, threads, paths, kernels.
//
// Part of record.h, which describes how lines and structs relate. Every segment that
// refers to one of these contains its line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rangefinder {

struct Dim3 {
  std::uint32_t x = 0, y = 0, z = 0;
  bool operator==(const Dim3&) const = default;
};

/// First line of every segment: the process, the versions, and the time base.
struct Header {
  std::uint32_t segment = 0;           ///< 0, 1, …: number of the file
  std::int64_t base_unix_ns = 0;       ///< CLOCK_REALTIME at time 0; a string in JSON (over 2^53)
  std::int64_t base_monotonic_ns = 0;  ///< CLOCK_MONOTONIC_RAW at the same moment; a string in JSON
  std::string tool_version;            ///< of Rangefinder
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string host;                  ///< gethostname()
  std::string executable;            ///< /proc/self/exe
  std::vector<std::string> command;  ///< /proc/self/cmdline
  std::int32_t driver_version = 0;   ///< cuDriverGetVersion: 13000 is CUDA 13.0; 0 unknown
  std::string driver_release;        ///< of the kernel module: "580.159.04"; empty: unknown
  std::int32_t runtime_version = 0;  ///< cudaRuntimeGetVersion: 13000; 0: no shared libcudart was mapped
  std::int32_t cupti_version = 0;    ///< cuptiGetVersion: 130001 is CUDA 13.0 Update 1; 0 not used
  std::string cupti_path;            ///< the libcupti in use; empty: none
  std::string counters;              ///< "off", "sampled", "exact", "refused"
  std::string counters_reason;       ///< why refused; empty otherwise
  std::string rank;                  ///< of a distributed run, if a rank variable is set
  std::uint32_t ranks = 0;           ///< of that run; 0: unknown
  /// Monitor mode: GPU work is recorded for `window` in each `period` (monitor_record.h); 0: not monitor
  /// mode.
  std::uint64_t monitor_window_ns = 0, monitor_period_ns = 0;
};

/// One GPU. Source: cuDeviceGetAttribute and similar; peaks are derived (see README.md).
struct GpuRecord {
  std::uint32_t id = 0;  ///< CUDA ordinal in this process
  std::string name;
  std::string uuid;  ///< "GPU-…", or "MIG-…" for a MIG instance
  std::uint32_t compute_major = 0, compute_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t warps_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint64_t shared_bytes_per_sm = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t memory_bus_bits = 0;
  std::uint64_t memory_clock_khz = 0;
  std::uint64_t sm_clock_khz = 0;           ///< highest SM clock
  std::uint64_t peak_dram_bytes_per_s = 0;  ///< 2 x memory clock x bus width / 8
  /// Dense peak by type at the highest clock, FLOP/s: {"fp32", 6.7e13}, …; absent types are unknown.
  std::vector<std::pair<std::string, double>> peak_flops;
  bool mig = false;
};

/// Source: CUpti_ActivityContext3.
struct ContextRecord {
  std::uint32_t id = 0;
  std::uint32_t gpu = 0;
  std::uint32_t null_stream = 0;  ///< id of the default stream
  bool green = false;
};

/// Source: CUpti_ActivityStream.
struct StreamRecord {
  std::uint32_t id = 0;
  std::uint32_t context = 0;
  std::int32_t priority = 0;
  bool non_blocking = false;
};

/// A host thread that launched, or used NVTX. Name: nvtxNameOsThread, else the kernel's comm.
struct ThreadRecord {
  std::uint32_t id = 0;  ///< gettid()
  std::string name;
};

/// NVTX domain; 0 is the default domain and has no line.
struct DomainRecord {
  std::uint32_t id = 0;
  std::string name;
};

/// Name of an NVTX category, which belongs to a domain.
struct CategoryRecord {
  std::uint32_t domain = 0;
  std::uint32_t id = 0;  ///< the application's number
  std::string name;
};

/// A text used by start/end ranges and marks.
struct NameRecord {
  std::uint32_t id = 0;
  std::string text;
};

/// Levels of a path at most. The profiler only counts deeper ranges (`nvtx_too_deep`), and a reader refuses
/// deeper path lines: texts of paths would grow with the square of the depth.
inline constexpr std::uint32_t kMaxPathDepth = 128;

/// One node of the tree of paths: the open push/pop ranges of a thread, outermost first.
struct PathRecord {
  std::uint32_t id = 0;
  std::uint32_t parent = 0;  ///< 0: outermost
  std::uint32_t domain = 0;
  std::string name;  ///< of the innermost range only; may contain '/'
};

/// Source lines of the PyTorch module of a path. At least one of the two is there. Source: the mark that
/// rangefinder.torch makes at the module's first call.
struct ModuleSourceRecord {
  std::uint32_t path = 0;
  std::string class_file;        ///< of forward() of the module's class; empty: a class of PyTorch's own
  std::uint32_t class_line = 0;  ///< from 1
  std::string call_file;         ///< where the program calls the module; empty: unknown
  std::uint32_t call_line = 0;   ///< from 1
};

/// What a generated kernel computes, of one line of the program; a fused kernel has several. Source: the mark
/// that rangefinder.torch makes before the kernel's first launch in a path.
struct KernelOriginRecord {
  std::uint32_t kernel = 0;
  std::uint32_t path = 0;  ///< of that launch
  std::string operators;   ///< "silu, mul", in their order
  std::string file;        ///< empty: unknown
  std::uint32_t line = 0;  ///< from 1
};

/// A kernel name, interned.
struct KernelNameRecord {
  std::uint32_t id = 0;
  std::string mangled;
  std::string demangled;     ///< equal to `mangled` if it is not a C++ name
  std::string from_library;  ///< "cuBLAS", "cuDNN", "CUTLASS", "NCCL", "Triton", "PyTorch", …, "own"
  std::string evidence;      ///< part of the name that identifies the library
};

/// A launch configuration, interned. Source: CUpti_ActivityKernel10.
struct LaunchConfigRecord {
  std::uint32_t id = 0;
  Dim3 grid;                    ///< blocks
  Dim3 block;                   ///< threads
  Dim3 cluster;                 ///< blocks; 0,0,0: launched without clusters
  std::uint32_t registers = 0;  ///< for each thread
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes_executed = 0;  ///< shared memory assigned to a block
  std::uint32_t local_bytes_per_thread = 0;
};

/// A payload schema or enum registered through the NVTX payload extension.
struct PayloadSchemaRecord {
  std::uint64_t id = 0;
  std::uint32_t domain = 0;
  std::string definition;  ///< a JSON object
};

/// A group of metrics that the hardware collects in one pass. `exact` lines refer to it and have one value
/// for each metric, in this order.
struct MetricSetRecord {
  std::uint32_t id = 0;
  std::string name;  ///< "memory", or "memory/2" if a set takes several passes
  std::vector<std::string> metrics;
};

}  // namespace rangefinder
