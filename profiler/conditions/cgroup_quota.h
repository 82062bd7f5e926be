// SPDX-License-Identifier: Apache-2.0
//
// The CPU quota of this process: the smallest of its cgroup and the cgroups above, and the time for which
// that one has stopped it. cgroup v1 and v2.
//
//   /proc/self/cgroup      0::/kubepods/pod7/container     path, as the cgroup namespace shows it
//   /proc/self/mountinfo   /sys/fs/cgroup, of /kubepods    where a part of the hierarchy is mounted
//        ─▶ /sys/fs/cgroup/pod7/container, /sys/fs/cgroup/pod7, /sys/fs/cgroup
//
// Levels above the mount are not visible: a container may have a smaller quota than is known here. The cgroup
// is that of the constructor; a process that is moved later is not followed. Allocates in the constructor
// only. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/conditions/proc_file.h"

namespace rangefinder {

class CgroupQuota {
 public:
  /// Maximum number of levels, from the process's own upwards. Each has up to three open files.
  static constexpr std::size_t kMaxLevels = 8;

  /// `root`: what is before /proc and the mount points; empty except in tests.
  explicit CgroupQuota(const std::string& root);

  /// Reads all quotas again: they may change at any time.
  void read() noexcept;
  /// Of the last read(), in thousandths of a core. Nothing: no quota.
  [[nodiscard]] std::optional<std::uint64_t> millicores() const noexcept { return millicores_; }
  /// Time for which that quota has stopped its cgroup so far, now. Nothing: no quota, or not known.
  [[nodiscard]] std::optional<std::uint64_t> throttled_ms() const noexcept;

 private:
  struct Level {
    ProcFile quota;   // v2: cpu.max; v1: cpu.cfs_quota_us
    ProcFile period;  // v1: cpu.cfs_period_us
    ProcFile stat;    // cpu.stat
  };
  void open_levels(std::string folder, std::string_view mount_point);
  [[nodiscard]] std::optional<std::uint64_t> millicores_of(const Level& level) const noexcept;

  bool is_v1_ = false;
  std::vector<Level> levels_;
  const Level* smallest_ = nullptr;  // of the last read()
  std::optional<std::uint64_t> millicores_;
};

}  // namespace rangefinder
