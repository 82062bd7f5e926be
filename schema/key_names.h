// SPDX-License-Identifier: Apache-2.0
//
// Names that writer, reader and summary share: enumerations as text and the keys of small
// objects. Each list exists only here in C++.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schema/record.h"

namespace rangefinder {

// Indexed by the value of the enumeration.
inline constexpr std::array<std::string_view, 11> kCopyKindNames{
    "unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA"};
inline constexpr std::array<std::string_view, 8> kMemoryKindNames{
    "unknown", "pageable", "pinned", "device", "array", "managed", "device_static", "managed_static"};
inline constexpr std::array<std::string_view, 4> kWorkKindNames{"kernel", "memcpy", "memset", "graph"};
/// Of `exact` lines: a kind of work, or the counter range that several launches share.
inline constexpr std::array<std::string_view, 5> kExactKindNames{"kernel", "memcpy", "memset", "graph",
                                                                 "range"};
inline constexpr std::size_t kExactRangeKind = 4;
inline constexpr std::array<std::string_view, 4> kDeviceLaunchNames{"unknown", "fire_and_forget", "tail",
                                                                    "sibling"};
inline constexpr std::array<std::string_view, 5> kAllocKindNames{"device", "host", "managed", "async",
                                                                 "pool"};
inline constexpr std::array<std::string_view, 4> kCaptureStepNames{"begin", "end", "invalidate", "broken_by"};
inline constexpr std::array<std::string_view, 7> kHoldCauseNames{
    "session_start", "session_end", "counter_batch", "counter_range", "launch_lock", "lock", "early_flush"};
inline constexpr std::array<std::string_view, 7> kPayloadTypeNames{"",    "u64", "i64", "f64",
                                                                   "u32", "i32", "f32"};

/// Text of an enumerator; for a value outside the list the text of the first.
template <typename Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_in(const std::array<std::string_view, N>& names,
                                                 Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return names[i < N ? i : 0];
}

[[nodiscard]] constexpr std::string_view to_text(CopyKind v) noexcept {
  return name_in(kCopyKindNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(MemoryKind v) noexcept {
  return name_in(kMemoryKindNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(WorkKind v) noexcept {
  return name_in(kWorkKindNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(AllocKind v) noexcept {
  return name_in(kAllocKindNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(CaptureStep v) noexcept {
  return name_in(kCaptureStepNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(HoldCause v) noexcept {
  return name_in(kHoldCauseNames, v);
}
[[nodiscard]] constexpr std::string_view to_text(PayloadType v) noexcept {
  return name_in(kPayloadTypeNames, v);
}

template <typename Struct>
struct CountKey {
  std::string_view key;
  std::uint64_t Struct::*member;
};

/// Keys of one kind inside "launches" of an `end` line.
inline constexpr std::array kBalanceKeys{
    CountKey<LaunchBalance>{"launched", &LaunchBalance::launched},
    CountKey<LaunchBalance>{"recorded", &LaunchBalance::recorded},
    CountKey<LaunchBalance>{"exact", &LaunchBalance::exact},
    CountKey<LaunchBalance>{"lost", &LaunchBalance::lost},
};

/// Keys of "truth" of an `end` line and of summary.json.
inline constexpr std::array kTruthKeys{
    CountKey<CopyTruth>{"copies", &CopyTruth::copies},
    CountKey<CopyTruth>{"known_bytes", &CopyTruth::known_bytes},
    CountKey<CopyTruth>{"measured_bytes", &CopyTruth::measured_bytes},
};

/// Keys of "own_cost" of an `end` line and of summary.json. All are written, but in an `end` line the last
/// two only if they are not 0. Traces of earlier versions have only the first kFirstOwnCostKeys.
inline constexpr std::size_t kFirstOwnCostKeys = 11;
inline constexpr std::array kOwnCostKeys{
    CountKey<OwnCost>{"launch_callbacks", &OwnCost::launch_callbacks},
    CountKey<OwnCost>{"launch_callback_median_ns", &OwnCost::launch_callback_median_ns},
    CountKey<OwnCost>{"launch_callback_p99_ns", &OwnCost::launch_callback_p99_ns},
    CountKey<OwnCost>{"drain_cpu_ns", &OwnCost::drain_cpu_ns},
    CountKey<OwnCost>{"bytes_written", &OwnCost::bytes_written},
    CountKey<OwnCost>{"activity_buffers_peak", &OwnCost::activity_buffers_peak},
    CountKey<OwnCost>{"activity_buffer_bytes", &OwnCost::activity_buffer_bytes},
    CountKey<OwnCost>{"exact_ns", &OwnCost::exact_ns},
    CountKey<OwnCost>{"exact_batches", &OwnCost::exact_batches},
    CountKey<OwnCost>{"sampler_cpu_ns", &OwnCost::sampler_cpu_ns},
    CountKey<OwnCost>{"samples", &OwnCost::samples},
    CountKey<OwnCost>{"drain_longest_ns", &OwnCost::drain_longest_ns},
    CountKey<OwnCost>{"flush_longest_ns", &OwnCost::flush_longest_ns},
    CountKey<OwnCost>{"held_ns", &OwnCost::held_ns},
    CountKey<OwnCost>{"launch_lock_ns", &OwnCost::launch_lock_ns},
    CountKey<OwnCost>{"conditions_cpu_ns", &OwnCost::conditions_cpu_ns},
    CountKey<OwnCost>{"stacks_cpu_ns", &OwnCost::stacks_cpu_ns},
};

}  // namespace rangefinder
