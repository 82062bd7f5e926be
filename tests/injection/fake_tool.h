// SPDX-License-Identifier: Apache-2.0
//
// The interface between the fake driver and the fake CUPTI.
//
//   program ─▶ libcuda.so.1 (fake) ── FakeHooks ──▶ libcupti.so.13 (fake) ─▶ librangefinder.so
//                   └─ CUDA_INJECTION64_PATH ─────────────────────────────────────▲
//
// As in the real driver, the table is found once the injected library has loaded libcupti. Both write
// calls that a profiler in the application must never make into the file FAKE_VIOLATIONS. The tests require
// that this file is empty.
#pragma once

#include <cuda.h>
#include <cupti_callbacks.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

// CUDA's opaque handles, as the fake driver defines them. Never freed: a tool may use them late.
struct CUctx_st {
  std::uint32_t id;
  std::uint32_t gpu;
  std::uint32_t null_stream;
  std::atomic<bool> alive;
  std::atomic<int> waiting;  ///< its streams with work that waits for a later launch
};
struct CUstream_st {
  std::uint32_t id;
  std::atomic<bool> alive;
};
struct CUgraphNode_st {
  std::uint64_t id;  ///< graph's id << 32 | number in the graph
};
struct CUgraph_st;
struct CUgraphExec_st;

namespace fake {

/// One driver call between its enter and its exit.
struct Call {
  CUpti_CallbackId cbid;
  const char* function;
  const void* params;
  const char* symbol;  ///< mangled name of a launched kernel, else nullptr
  CUcontext context;
  std::uint32_t correlation;
  CUresult result;
  std::uint64_t word;    ///< a tool's 64 bits from enter to exit
  bool entered = false;  ///< the tool got the enter callback; otherwise the exit has no `word`
};

enum class WorkClass : std::uint8_t { kernel, memcpy, memset, host_function };

/// Work on the GPU. Its times are set at the launch; it is complete after end_ns.
struct Work {
  WorkClass kind;
  CUcontext context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::int64_t start_ns, end_ns;  ///< CLOCK_REALTIME
  std::uint64_t graph_node;       ///< 0: not of a graph
  bool last_of_graph;             ///< of this launch
  const char* symbol;             ///< kernel
  CUfunction function;            ///< kernel
  unsigned grid[3], block[3];     ///< kernel
  std::uint64_t bytes;            ///< memcpy, memset
  bool to_host, async;            ///< memcpy
};

/// How opaque handles of graphs begin.
struct GraphHandle {
  std::uint32_t id;
};

struct Hooks {
  void (*enter)(Call& call);
  void (*exit)(Call& call);
  void (*submitted)(const Work& work);  ///< its times are not known yet
  void (*work)(const Work& work);       ///< once its end time is known
  void (*resource)(CUpti_CallbackId cbid, CUcontext context);
  void (*known_context)(CUcontext context);  ///< made before CUPTI was loaded
  void (*stream)(CUcontext context, std::uint32_t stream);
  void (*graph)(CUpti_CallbackId cbid, CUcontext context, const CUpti_GraphData& graph);
  bool (*in_callback)();  ///< this thread is inside a tool's callback
  void (*ended)();        ///< the driver's exit handler has run
};

/// In libcupti; its type is `const Hooks* (*)()`.
inline constexpr const char* kHooksFunction = "fake_cupti_hooks";

inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Reads a number from the environment.
inline std::int64_t number_from(const char* variable, std::int64_t fallback) {
  const char* const text = getenv(variable);
  return text != nullptr && *text != '\0' ? std::atoll(text) : fallback;
}

/// Number of GPUs of the machine.
inline int gpus() {
  return static_cast<int>(number_from("FAKE_CUDA_GPUS", 1));
}

/// Records a forbidden action. The test that reads the file fails.
inline void violation(const std::string& what) {
  const char* const path = getenv("FAKE_VIOLATIONS");
  const int file =
      open(path != nullptr ? path : "/dev/stderr", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = what + "\n";
  (void)!write(file, line.data(), line.size());
  close(file);
}

}  // namespace fake
