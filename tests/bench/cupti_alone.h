// SPDX-License-Identifier: Apache-2.0
//
// For programs that measure CUPTI without our library: a subscriber, errors, and buffers whose records are
// discarded.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "profiler/cupti/loader.h"

namespace rangefinder::bench {

/// Ends the program with exit code 1 on an error.
inline void check_cupti(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  std::fprintf(stderr, "%s: %s: CUPTI's error %d\n", program_invocation_short_name, what,
               static_cast<int>(result));
  std::exit(1);
}

inline constexpr std::size_t kThrownAwayBytes = std::size_t{2} << 20;

inline void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *most = 0;  // no limit on records
  *bytes = kThrownAwayBytes;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kThrownAwayBytes));
}

inline void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                         std::size_t) {
  std::free(buffer);
}

[[nodiscard]] inline CUptiResult throw_records_away(const CuptiFunctions& cupti) {
  return cupti.ActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);
}

[[nodiscard]] inline CUptiResult subscribe(const CuptiFunctions& cupti, CUpti_SubscriberHandle& subscriber,
                                           CUpti_CallbackFunc callback, void* user) {
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  return cupti.Subscribe_v2(&subscriber, callback, user, &params);
}

}  // namespace rangefinder::bench
