// SPDX-License-Identifier: Apache-2.0
//
// Facts about a machine from its files: /proc, /sys/fs/cgroup, /etc/os-release, /dev.
//
// The root is configurable, for tests and for copies of another machine's files. Never fails: a file that
// cannot be read is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

class MachineFiles {
 public:
  explicit MachineFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] bool exists(std::string_view path) const;
  /// First line, without its newline.
  [[nodiscard]] std::string line(std::string_view path) const;
  /// Text after "KEY:" or "KEY=", without quotes; "" if there is no such line.
  [[nodiscard]] std::string value(std::string_view path, std::string_view key) const;
  /// Names in a folder, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;
  /// The names in `programs` of which a process runs.
  [[nodiscard]] std::vector<std::string> running(const std::vector<std::string>& programs) const;

  /// Cores that this process may use: the smaller of its affinity mask and its cgroup quota; 0: unknown.
  [[nodiscard]] double cores() const;
  /// Available memory: the smaller value of machine and cgroup.
  [[nodiscard]] std::optional<std::uint64_t> free_memory_bytes() const;
  /// "docker", "kubernetes", …; "": no sign of a container.
  [[nodiscard]] std::string container() const;

 private:
  [[nodiscard]] std::filesystem::path at(std::string_view path) const;
  std::filesystem::path root_;
};

}  // namespace rangefinder
