// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/cgroup_quota.h"

#include <array>

#include "profiler/conditions/proc_text.h"

namespace rangefinder {
namespace {

/// A machine with thousands of containers has long lists of mounts.
constexpr std::size_t kMaxMountInfoBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxCgroupBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxStatBytes = 4096;
constexpr std::uint64_t kQuotaUsPerMs = 1000, kQuotaNsPerMs = 1'000'000;

/// Removes and returns the text before `separator`, which is removed too.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

/// Whether a list like "rw,cpu,cpuacct" has `item`.
bool list_has(std::string_view list, std::string_view item) noexcept {
  while (!list.empty()) {
    if (take_until(list, ',') == item) return true;
  }
  return false;
}

/// Paths in mountinfo have spaces and the like as \ooo.
std::string unescaped(std::string_view path) {
  constexpr std::size_t kDigits = 3;
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    unsigned code = 0;
    const std::string_view digits = path.substr(i + 1, kDigits);
    const char* const end = digits.data() + digits.size();
    if (path[i] == '\\' && digits.size() == kDigits &&
        std::from_chars(digits.data(), end, code, 8).ptr == end) {
      text += static_cast<char>(code);
      i += kDigits;
    } else {
      text += path[i];
    }
  }
  return text;
}

struct CgroupPaths {
  std::optional<std::string> v1;  ///< of the controller "cpu"
  std::optional<std::string> v2;
};

CgroupPaths cgroup_paths(std::string_view text) {
  CgroupPaths paths;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view number = take_until(line, ':'), controllers = take_until(line, ':');
    if (list_has(controllers, "cpu")) paths.v1 = line;
    if (number == "0" && controllers.empty()) paths.v2 = line;
  }
  return paths;
}

struct CgroupMount {
  std::string root;   ///< the cgroup that is mounted
  std::string point;  ///< where
};

/// `path` below the cgroup `root`, with its leading slash; nothing: it is not below it.
std::optional<std::string_view> below(std::string_view path, std::string_view root) noexcept {
  if (root == "/") root = {};
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path == "/" ? std::string_view{} : path;
}

/// The mount of the hierarchy that shows `path`; else any of that hierarchy.
std::optional<CgroupMount> find_mount(std::string_view text, bool v1, std::string_view path) {
  std::optional<CgroupMount> found;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    std::string_view type = line;
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    type.remove_prefix(dash + 3);
    if (next_word(type) != (v1 ? "cgroup" : "cgroup2")) continue;
    (void)next_word(type);  // the source
    if (v1 && !list_has(next_word(type), "cpu")) continue;
    for (int i = 0; i < 3; ++i) (void)next_word(line);  // ids and device
    CgroupMount mount;
    mount.root = unescaped(next_word(line));
    mount.point = unescaped(next_word(line));
    const bool shows_path = below(path, mount.root).has_value();
    if (shows_path || !found) found = std::move(mount);
    if (shows_path) break;
  }
  return found;
}

}  // namespace

CgroupQuota::CgroupQuota(const std::string& root) {
  const CgroupPaths paths = cgroup_paths(ProcFile(root + "/proc/self/cgroup").read_all(kMaxCgroupBytes));
  const std::string mounts = ProcFile(root + "/proc/self/mountinfo").read_all(kMaxMountInfoBytes);
  // With both versions, the controller is in v1 if a line there has it.
  for (const bool v1 : {true, false}) {
    const std::optional<std::string>& path = v1 ? paths.v1 : paths.v2;
    if (!path) continue;
    const std::optional<CgroupMount> mount = find_mount(mounts, v1, *path);
    if (!mount) continue;
    is_v1_ = v1;
    std::string_view rest = below(*path, mount->root).value_or(std::string_view{});
    // The process is outside of what its cgroup namespace shows.
    if (rest.find("/..") != std::string_view::npos) rest = {};
    const std::string point = root + mount->point;
    open_levels(point + std::string(rest), point);
    break;
  }
  read();
}

void CgroupQuota::open_levels(std::string folder, std::string_view mount_point) {
  levels_.reserve(kMaxLevels);
  for (std::size_t i = 0; i < kMaxLevels && folder.size() >= mount_point.size(); ++i) {
    Level level;
    level.quota = ProcFile(folder + (is_v1_ ? "/cpu.cfs_quota_us" : "/cpu.max"));
    if (level.quota.is_open()) {  // v2: the root cgroup has none
      if (is_v1_) level.period = ProcFile(folder + "/cpu.cfs_period_us");
      level.stat = ProcFile(folder + "/cpu.stat");
      levels_.push_back(std::move(level));
    }
    folder.resize(folder.rfind('/'));
  }
}

std::optional<std::uint64_t> CgroupQuota::millicores_of(const Level& level) const noexcept {
  std::array<char, 64> buffer, period_buffer;
  std::string_view text = level.quota.read(buffer);
  const std::optional<std::uint64_t> quota_us = next_number(text);  // none: "max", or -1 in v1
  if (is_v1_) text = level.period.read(period_buffer);
  const std::optional<std::uint64_t> period_us = next_number(text);
  if (!quota_us || !period_us || *period_us == 0) return std::nullopt;
  return *quota_us * 1000 / *period_us;
}

void CgroupQuota::read() noexcept {
  smallest_ = nullptr;
  millicores_.reset();
  for (const Level& level : levels_) {
    const std::optional<std::uint64_t> millicores = millicores_of(level);
    if (!millicores || (millicores_ && *millicores_ <= *millicores)) continue;
    millicores_ = millicores;
    smallest_ = &level;
  }
}

std::optional<std::uint64_t> CgroupQuota::throttled_ms() const noexcept {
  if (smallest_ == nullptr) return std::nullopt;
  std::array<char, kMaxStatBytes> buffer;
  const std::string_view text = smallest_->stat.read(buffer);
  if (const auto us = number_of_line(text, "throttled_usec")) return *us / kQuotaUsPerMs;
  if (const auto ns = number_of_line(text, "throttled_time")) return *ns / kQuotaNsPerMs;
  return std::nullopt;
}

}  // namespace rangefinder
