// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/machine_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(" \t\r\n\"");
  text.erase(end == std::string::npos ? 0 : end + 1);
  text.erase(0, std::min(text.find_first_not_of(" \t\""), text.size()));
  return text;
}

/// Number of cores in a list such as "0-3,8".
double count_list(const std::string& list) {
  double cores = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const long first = std::atol(part.c_str());
    const long last = dash == std::string::npos ? first : std::atol(part.c_str() + dash + 1);
    if (!part.empty() && last >= first) cores += static_cast<double>(last - first + 1);
  }
  return cores;
}

std::optional<std::uint64_t> number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  return end == text.c_str() ? std::nullopt : std::optional(value);
}

}  // namespace

fs::path MachineFiles::at(std::string_view path) const {
  return root_ / fs::path(path).relative_path();
}

bool MachineFiles::exists(std::string_view path) const {
  std::error_code ignored;
  return fs::exists(at(path), ignored);
}

std::string MachineFiles::line(std::string_view path) const {
  std::ifstream stream(at(path));
  std::string text;
  std::getline(stream, text);
  return text;
}

std::string MachineFiles::value(std::string_view path, std::string_view key) const {
  std::ifstream stream(at(path));
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key) || line.size() <= key.size()) continue;
    if (line[key.size()] == ':' || line[key.size()] == '=') return trimmed(line.substr(key.size() + 1));
  }
  return {};
}

std::vector<std::string> MachineFiles::names(std::string_view folder) const {
  std::vector<std::string> out;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(at(folder), error))
    out.push_back(entry.path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> MachineFiles::running(const std::vector<std::string>& programs) const {
  std::set<std::string> found;
  for (const std::string& process : names("/proc")) {
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string name = line("/proc/" + process + "/comm");
    if (std::find(programs.begin(), programs.end(), name) != programs.end()) found.insert(name);
  }
  return {found.begin(), found.end()};
}

double MachineFiles::cores() const {
  const double allowed = count_list(value("/proc/self/status", "Cpus_allowed_list"));
  std::istringstream quota(line("/sys/fs/cgroup/cpu.max"));
  double of_period = 0, period = 0;
  if (!(quota >> of_period >> period) || period <= 0) return allowed;  // "max 100000"
  return allowed == 0 ? of_period / period : std::min(allowed, of_period / period);
}

std::optional<std::uint64_t> MachineFiles::free_memory_bytes() const {
  std::optional<std::uint64_t> out;
  if (const auto available_kib = number(value("/proc/meminfo", "MemAvailable"))) out = *available_kib * 1024;
  const auto limit = number(line("/sys/fs/cgroup/memory.max"));
  const auto used = number(line("/sys/fs/cgroup/memory.current"));
  if (!limit || !used) return out;
  const std::uint64_t left = *limit > *used ? *limit - *used : 0;
  return out ? std::min(*out, left) : left;
}

std::string MachineFiles::container() const {
  if (exists("/.dockerenv")) return "docker";
  if (exists("/run/.containerenv")) return "podman";
  static constexpr std::array<std::array<const char*, 2>, 4> kSigns{
      {{"kubepods", "kubernetes"}, {"docker", "docker"}, {"containerd", "containerd"}, {"lxc", "lxc"}}};
  std::ifstream groups(at("/proc/1/cgroup"));
  for (std::string group; std::getline(groups, group);) {
    for (const auto& [sign, name] : kSigns) {
      if (group.find(sign) != std::string::npos) return name;
    }
  }
  return {};
}

}  // namespace rangefinder
