// SPDX-License-Identifier: Apache-2.0
//
// What opens and closes windows without anybody typing: the texts of --capture and
// --capture-end, read.
//
//   cudaProfilerApi                      between cudaProfilerStart and cudaProfilerStop
//   nvtx:GLOB[@DOMAIN][,after:N][,for:N] ranges: N are left out, then a window over N of them
//   after:N,for:N                        the same with ranges that have no range around them
//   after:SECONDSs,for:SECONDSs          a delay and a duration (10s, 500ms)
//
// Pure; the text of a user. Whoever acts on it is control/capture.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rangefinder {

enum class CaptureBy : std::uint8_t { nothing, profiler_calls, ranges, time };

struct CaptureRequest {
  CaptureBy by = CaptureBy::nothing;
  std::string glob;               ///< over paths (profiler/base/path_glob.h); empty: every outermost range
  std::string domain;             ///< of the range itself; empty: any
  std::uint64_t after_count = 0;  ///< ranges
  std::uint64_t for_count = 1;
  std::int64_t after_ns = 0;
  std::int64_t for_ns = 0;    ///< 0: until the program ends
  std::uint64_t windows = 1;  ///< how many; kUnlimited: as often as it comes

  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  [[nodiscard]] bool empty() const noexcept { return by == CaptureBy::nothing; }
};

/// False: `text` or `end` is not understood; then `request` is as it was.
[[nodiscard]] bool read_capture(std::string_view text, std::string_view end, CaptureRequest& request);

/// "10s", "1.5s", "500ms" to ns. False: something else, or more than 30 days.
[[nodiscard]] bool read_duration(std::string_view text, std::int64_t& ns);

}  // namespace rangefinder
