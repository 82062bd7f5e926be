// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of the fake CUPTI: injected errors, and the effects of driver calls on
// activity records (fake_cupti_activity.cpp) and counters (fake_cupti_counters.cpp).
//
//   FAKE_CUPTI_VERSION  result of cuptiGetVersion
//   FAKE_CUPTI_OWNER    name of another tool that has already subscribed
//   FAKE_CUPTI_FAIL     Function:code[@n][,…]: Function (without `cupti`) returns code, from its n-th call on
//   FAKE_CUPTI_LOSE     N: every N-th record is lost, and not reported as lost
//   FAKE_CUPTI_PASSES   number of passes that the counters need
//   FAKE_CUPTI_A_PASS   metrics per pass; default: all
//   FAKE_CUPTI_PLAN_US  microseconds that a query of the number of passes takes
//   FAKE_CUPTI_DEVICE_GRAPHS  number of graphs that are launched from the device during a launch of a graph
//   FAKE_CUPTI_START_MS time that each start of the Range Profiler takes
//   FAKE_CUPTI_SHARED   a counter range may contain several launches
//   FAKE_CUPTI_CALLS    output file: a line `Function n` for each function called
#pragma once

#include <cupti.h>

#include <atomic>
#include <vector>

#include "tests/injection/fake_tool.h"

namespace fake {

enum class Needs : std::uint8_t {
  nothing,   ///< works without a driver, also after its end
  driver,    ///< fails once the driver has ended
  counters,  ///< must not even be called then
};

/// Begins every function. Returns the error that the function must return, if any. A call in a forked
/// child is a violation: the real library hangs there.
[[nodiscard]] CUptiResult begin(const char* function, Needs needs);
#define FAKE_BEGIN(function, needs)                                                                 \
  if (const CUptiResult begun = fake::begin(#function, fake::Needs::needs); begun != CUPTI_SUCCESS) \
  return begun

// Activity records.
void record_work(const Work& work);
void record_context(CUcontext context);
/// Size of a record in bytes; 0: the kind has no records.
[[nodiscard]] std::size_t size_of(CUpti_ActivityKind kind);
void record_stream(CUcontext context, std::uint32_t stream);
/// Correlation id of this thread's current driver call; 0: none.
[[nodiscard]] std::uint32_t correlation_in_progress();

// Records of graphs (fake_cupti_graphs.cpp).
[[nodiscard]] bool node_has_times();  ///< a node of a graph is about to be recorded
void node_records_disabled();
/// Record of a whole graph launch. Called for each node; the record's kind is 0 until the last node.
[[nodiscard]] CUpti_ActivityGraphTrace2 whole_graph(const Work& work);
/// Records of the graphs that kernels of `by` launched: the first by that graph, each further one by the one
/// before it.
[[nodiscard]] std::vector<CUpti_ActivityDeviceGraphTrace> device_graphs(const CUpti_ActivityGraphTrace2& by);

// Counters.
/// Opens libnvperf_host as the real library does. This ends a program with AddressSanitizer.
void open_counter_library();
void count_work(const Work& work);
void counters_context_destroyed(CUcontext context);

// PM sampling (fake_cupti_pm.cpp).
void pm_context_created();
void pm_context_destroyed();
void sampling_begun_or_failed();
[[nodiscard]] bool sampler_enabled();
extern std::atomic<bool> counters_ended;  ///< CUPTI's exit handler ran

/// Stack that the real library needed to begin counting. A measured lower bound: more than 128 KiB.
[[gnu::noinline]] inline void use_stack() {
  volatile char bytes[192 << 10];
  for (std::size_t i = 0; i < sizeof(bytes); i += 4096) bytes[i] = 0;
}

}  // namespace fake
