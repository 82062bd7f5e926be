// SPDX-License-Identifier: Apache-2.0
//
// What a machine tells of itself in files: /proc, /sys/fs/cgroup, /etc/os-release, /dev.
//
// Below a root of its own, so that tests, and whoever looks at another machine's copy of these files, read
// theirs. Never fails: what cannot be read is empty.
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
  /// First line, without its end.
  [[nodiscard]] std::string line(std::string_view path) const;
  /// Behind "KEY:" or "KEY=", without quotes; "" where there is none.
  [[nodiscard]] std::string value(std::string_view path, std::string_view key) const;
  /// Names in a folder, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;
  /// Of the programs with these names, those that run.
  [[nodiscard]] std::vector<std::string> running(const std::vector<std::string>& programs) const;

  /// Cores that this process may use: of its mask and of its control group's quota the less; 0: not known.
  [[nodiscard]] double cores() const;
  /// Memory that is left, of the machine and of the control group the less.
  [[nodiscard]] std::optional<std::uint64_t> free_memory_bytes() const;
  /// "docker", "kubernetes", …; "" where nothing speaks for a container.
  [[nodiscard]] std::string container() const;

 private:
  [[nodiscard]] std::filesystem::path at(std::string_view path) const;
  std::filesystem::path root_;
};

}  // namespace rangefinder
