// SPDX-License-Identifier: Apache-2.0
//
// Turns events of application threads into records, as activity_decoder.h does with CUPTI's buffers.
//
//   Event                          LaunchRecord, RangeRecord, AllocRecord, …
//     absolute times, API's index  ─▶  times since time 0 of the trace, API's name
//
// Pure: the same event gives the same record.
#pragma once

#include <cstdint>
#include <span>

#include "profiler/events/event.h"
#include "profiler/launch/driver_apis.h"
#include "schema/record.h"

namespace rangefinder {

class EventDecoder {
 public:
  /// `base_unix_ns`: time 0 of the trace.
  explicit EventDecoder(std::int64_t base_unix_ns) noexcept : base_unix_ns_(base_unix_ns) {}

  [[nodiscard]] TimeNs relative(std::int64_t unix_ns) const noexcept {
    return unix_ns == kNoTime ? kNoTime : unix_ns - base_unix_ns_;
  }
  /// The driver call of an event.
  [[nodiscard]] static const DriverApi& api_of(const Event& event) noexcept;

  // `thread`: whose ring had the event; `extra`: its extended payload (schema id, then data).
  [[nodiscard]] LaunchRecord launch(std::uint32_t thread, const Event& event) const;
  [[nodiscard]] RangeRecord range(std::uint32_t thread, const Event& event,
                                  std::span<const std::byte> extra) const;
  [[nodiscard]] MarkRecord mark(std::uint32_t thread, const Event& event,
                                std::span<const std::byte> extra) const;
  [[nodiscard]] SyncRecord sync(std::uint32_t thread, const Event& event) const;
  [[nodiscard]] AllocRecord alloc(std::uint32_t thread, const Event& event,
                                  std::span<const std::byte> extra) const;
  [[nodiscard]] EventRecord cuda_event(std::uint32_t thread, const Event& event) const;
  [[nodiscard]] CaptureRecord capture(std::uint32_t thread, const Event& event) const;
  [[nodiscard]] HoldRecord hold(std::uint32_t thread, const Event& event) const noexcept;

 private:
  [[nodiscard]] HostWork host_of(std::uint32_t thread, const Event& event) const noexcept;

  const std::int64_t base_unix_ns_;
};

}  // namespace rangefinder
