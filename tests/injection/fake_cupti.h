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
void record_stream(CUcontext context, std::uint32_t stream);
[[nodiscard]] bool kernel_records_enabled();

// Counters.
void count_work(const Work& work);
void counters_context_destroyed(CUcontext context);

}  // namespace fake
