// SPDX-License-Identifier: Apache-2.0
//
// CPU time, memory, input and output, and CPU limits of this process, from the kernel.
//
//   each turn           getrusage, statm
//   every fifth turn    io, net/dev; time stopped by the cgroup's quota
//   every tenth turn    swap; affinity and quotas
//
// kReadings has the periods. The kernel sums io over threads, net/dev over interfaces and a cgroup's time
// over processors, so these cost most. Files are opened once. A file that cannot be read leaves its values
// absent, for example /proc/self/io of a program with capabilities. One thread at a time. Allocates in the
// constructor only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/conditions/cgroup_quota.h"
#include "profiler/conditions/proc_file.h"
#include "schema/condition_record.h"

namespace rangefinder {

class ProcessConditions {
 public:
  /// `root`: what is before /proc and the cgroup's mount point; empty except in tests.
  explicit ProcessConditions(const std::string& root = {});

  /// One turn; the first one after construction and restart() makes all readings. The latest value of each
  /// reading: up to its period old. Only entries of ConditionOf::process.
  [[nodiscard]] const ConditionValues& read() noexcept;
  /// After a pause: forgets the values.
  void restart() noexcept;

 private:
  struct Reading {
    void (ProcessConditions::*read)() noexcept;
    std::uint32_t period;  ///< turns
  };
  static constexpr std::size_t kReadingCount = 7;
  static const std::array<Reading, kReadingCount> kReadings;

  void read_usage() noexcept;
  void read_memory() noexcept;
  void read_io() noexcept;
  void read_network() noexcept;
  void read_swap() noexcept;
  void read_cores() noexcept;
  void read_throttled() noexcept;

  std::uint64_t turn_ = 0;
  const std::uint64_t page_bytes_;
  ProcFile statm_, status_, io_, network_;
  CgroupQuota quota_;
  ConditionValues values_{};
};

}  // namespace rangefinder
