// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the fake CUPTI share: injected errors, and what the driver's calls
// mean for activity records (fake_cupti_activity.cpp) and counters (fake_cupti_counters.cpp).
//
//   FAKE_CUPTI_VERSION  what cuptiGetVersion says
//   FAKE_CUPTI_OWNER    another tool of this name has subscribed already
//   FAKE_CUPTI_FAIL     Function:code[@n][,…]: Function (without `cupti`) returns code, from its n-th call on
//   FAKE_CUPTI_LOSE     every so many records vanish without a word
//   FAKE_CUPTI_PASSES   passes that the counters need
//   FAKE_CUPTI_A_PASS   metrics that one pass holds; without it all
//   FAKE_CUPTI_SHARED   a counter range may hold several launches
//   FAKE_CUPTI_CALLS    file that gets `Function n` for each function that was called
#pragma once

#include <cupti.h>

#include "tests/injection/fake_tool.h"

namespace fake {

enum class Needs : std::uint8_t {
  nothing,   ///< works without a driver, also after its end
  driver,    ///< fails once the driver has ended
  counters,  ///< must not even be called then
};

/// Begins every function: the error that it must return, if any. A call in a forked child is a
/// violation: the real library hangs there.
[[nodiscard]] CUptiResult begin(const char* function, Needs needs);
#define FAKE_BEGIN(function, needs)                                                                 \
  if (const CUptiResult begun = fake::begin(#function, fake::Needs::needs); begun != CUPTI_SUCCESS) \
  return begun

// Activity records.
void record_work(const Work& work);
void record_context(CUcontext context);
/// Bytes of a record; 0: a kind that there is none of.
[[nodiscard]] std::size_t size_of(CUpti_ActivityKind kind);
void record_stream(CUcontext context, std::uint32_t stream);
/// Correlation id of the driver call that this thread is in; 0: none.
[[nodiscard]] std::uint32_t correlation_in_progress();

// Records of graphs (fake_cupti_graphs.cpp).
[[nodiscard]] bool node_has_times();  ///< a node of a graph is about to be recorded
void node_records_disabled();
/// Of a whole launch, told of each of its nodes; its kind is 0 until the last.
[[nodiscard]] CUpti_ActivityGraphTrace2 whole_graph(const Work& work);

// Counters.
/// As the real library opens libnvperf_host: a program with AddressSanitizer is ended here.
void open_counter_library();
void count_work(const Work& work);
void counters_context_destroyed(CUcontext context);

// PM sampling (fake_cupti_pm.cpp).
void pm_context_created();
void pm_context_destroyed();
void sampling_begun_or_failed();
[[nodiscard]] bool sampler_enabled();

/// As much stack as the real library was seen to need to begin counting, at the least: more than 128 KiB.
[[gnu::noinline]] inline void use_stack() {
  volatile char bytes[192 << 10];
  for (std::size_t i = 0; i < sizeof(bytes); i += 4096) bytes[i] = 0;
}

}  // namespace fake
