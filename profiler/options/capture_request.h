// SPDX-License-Identifier: Apache-2.0
//
// Parses --capture and --capture-end: when windows open and close without a command.
//
//   cudaProfilerApi                      between cudaProfilerStart and cudaProfilerStop
//   nvtx:GLOB[@DOMAIN][,after:N][,for:N] skip N matching ranges, then open a window for N of them
//   after:N,for:N                        the same for outermost ranges
//   after:SECONDSs,for:SECONDSs          a delay and a duration (10s, 500ms)
//
// Parses only: control/capture.h opens and closes the windows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rangefinder {

enum class CaptureBy : std::uint8_t { nothing, profiler_calls, ranges, time };

struct CaptureRequest {
  CaptureBy by = CaptureBy::nothing;
  std::string glob;               ///< matches paths (profiler/base/path_glob.h); empty: every outermost range
  std::string domain;             ///< NVTX domain of the range; empty: any
  std::uint64_t after_count = 0;  ///< ranges
  std::uint64_t for_count = 1;
  std::int64_t after_ns = 0;
  std::int64_t for_ns = 0;    ///< 0: until the program ends
  std::uint64_t windows = 1;  ///< how many to open

  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  [[nodiscard]] bool empty() const noexcept { return by == CaptureBy::nothing; }
};

/// False: `text` or `end` is not understood, and `request` is unchanged.
[[nodiscard]] bool read_capture(std::string_view text, std::string_view end, CaptureRequest& request);

/// Converts "10s", "1.5s", "500ms" to ns. False: another form, or more than 30 days.
[[nodiscard]] bool read_duration(std::string_view text, std::int64_t& ns);

}  // namespace rangefinder
