// SPDX-License-Identifier: Apache-2.0
//
// Parts shared by several kinds of lines: GPU work, a host call, a launch.
#pragma once

#include <variant>

#include "schema/read_line.h"

namespace rangefinder {

/// The work of a kernel, copy, memset or whole graph; else nullptr.
[[nodiscard]] inline const GpuWork* gpu_work(const Line& line) noexcept {
  if (const auto* const kernel = std::get_if<KernelRecord>(&line)) return &kernel->work;
  if (const auto* const copy = std::get_if<MemcpyRecord>(&line)) return &copy->work;
  if (const auto* const memset = std::get_if<MemsetRecord>(&line)) return &memset->work;
  if (const auto* const graph = std::get_if<GraphRecord>(&line)) return &graph->work;
  return nullptr;
}

/// A launch, with or without counters; nullptr for all else, including a counter range of several launches.
[[nodiscard]] inline const LaunchRecord* launch_of(const Line& line) noexcept {
  if (const auto* const launch = std::get_if<LaunchRecord>(&line)) return launch;
  const auto* const exact = std::get_if<ExactRecord>(&line);
  return exact == nullptr || exact->is_counter_range ? nullptr : &exact->launch;
}

/// A driver call of a host thread; else nullptr.
[[nodiscard]] inline const HostWork* host_call(const Line& line) noexcept {
  if (const LaunchRecord* const launch = launch_of(line)) return &launch->host;
  if (const auto* const sync = std::get_if<SyncRecord>(&line)) return &sync->host;
  if (const auto* const alloc = std::get_if<AllocRecord>(&line)) return &alloc->host;
  if (const auto* const event = std::get_if<EventRecord>(&line)) return &event->host;
  if (const auto* const capture = std::get_if<CaptureRecord>(&line)) return &capture->host;
  return nullptr;
}

}  // namespace rangefinder
