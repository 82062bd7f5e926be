// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/process_conditions.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "profiler/conditions/condition_value.h"
#include "profiler/conditions/proc_text.h"
#include "profiler/conditions/reading_turns.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMaxProcTextBytes = 4096;
constexpr unsigned kMibShift = 20;
/// Interfaces beyond that are not counted: about 2000.
constexpr std::uint64_t kMaxNetworkBytes = std::uint64_t{256} << 10;

std::uint64_t ms_of_usage(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 + static_cast<std::uint64_t>(time.tv_usec) / 1000;
}

/// Most processors of a Linux kernel.
using CoreMask = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

void add_affinity(pid_t thread, CoreMask& cores) noexcept {
  CoreMask own{};
  if (sched_getaffinity(thread, sizeof(own), reinterpret_cast<cpu_set_t*>(own.data())) != 0) return;
  for (std::size_t i = 0; i < own.size(); ++i) cores[i] |= own[i];
}

/// Of the main thread and of ours, which inherited those of the thread that started it. A program may bind
/// its main thread to one core, as OpenMP does, and still use others. Only a lower bound then.
std::uint64_t allowed_cores() noexcept {
  CoreMask cores{};
  add_affinity(getpid(), cores);
  add_affinity(0, cores);
  std::uint64_t count = 0;
  for (const unsigned long word : cores) count += static_cast<unsigned>(std::popcount(word));
  return count;
}

struct NetworkBytes {
  std::uint64_t received = 0, sent = 0;
  bool known = false;

  /// "  eth0: 1500 10 0 0 0 0 0 0 900 …": the first and the ninth number.
  void add(std::string_view line) noexcept {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) return;  // the two lines of headings
    std::string_view name = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    known = true;
    if (next_word(name) == "lo") return;
    constexpr int kBetween = 7;
    const std::optional<std::uint64_t> in = next_number(line);
    for (int i = 0; i < kBetween; ++i) (void)next_word(line);
    const std::optional<std::uint64_t> out = next_number(line);
    received += in.value_or(0);
    sent += out.value_or(0);
  }
};

}  // namespace

constexpr std::array<ProcessConditions::Reading, ProcessConditions::kReadingCount>
    ProcessConditions::kReadings{{
        {&ProcessConditions::read_usage, 1},
        {&ProcessConditions::read_memory, 1},
        {&ProcessConditions::read_io, 5},
        {&ProcessConditions::read_network, 5},
        {&ProcessConditions::read_swap, 10},
        {&ProcessConditions::read_cores, 10},  // before read_throttled, which uses the quota that it finds
        {&ProcessConditions::read_throttled, 5},
    }};

ProcessConditions::ProcessConditions(const std::string& root)
    : page_bytes_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
      statm_(root + "/proc/self/statm"),
      status_(root + "/proc/self/status"),
      io_(root + "/proc/self/io"),
      network_(root + "/proc/self/net/dev"),
      quota_(root) {}

void ProcessConditions::restart() noexcept {
  values_ = {};
  turn_ = 0;
}

const ConditionValues& ProcessConditions::read() noexcept {
  for (std::size_t i = 0; i < kReadingCount; ++i) {
    if (turn_ == 0 || is_reading_due(turn_, i, kReadings[i].period)) (this->*kReadings[i].read)();
  }
  ++turn_;
  return values_;
}

void ProcessConditions::read_usage() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  value_of(values_, Condition::cpu_ms) = ms_of_usage(usage.ru_utime) + ms_of_usage(usage.ru_stime);
  value_of(values_, Condition::minor_faults) = static_cast<std::uint64_t>(usage.ru_minflt);
  value_of(values_, Condition::major_faults) = static_cast<std::uint64_t>(usage.ru_majflt);
  value_of(values_, Condition::involuntary_switches) = static_cast<std::uint64_t>(usage.ru_nivcsw);
}

void ProcessConditions::read_memory() noexcept {
  std::array<char, 256> buffer;
  std::string_view text = statm_.read(buffer);
  (void)next_word(text);  // virtual size
  const std::optional<std::uint64_t> pages = next_number(text);
  // 0: the main thread has ended while others go on, and /proc/self is about the main thread.
  value_of(values_, Condition::rss_mib) =
      pages && *pages != 0 ? std::optional((*pages * page_bytes_) >> kMibShift) : std::nullopt;
}

void ProcessConditions::read_io() noexcept {
  std::array<char, 512> buffer;
  const std::string_view text = io_.read(buffer);
  const auto mib = [text](std::string_view key) {
    const std::optional<std::uint64_t> bytes = number_of_line(text, key);
    return bytes ? std::optional(*bytes >> kMibShift) : std::nullopt;
  };
  value_of(values_, Condition::read_mib) = mib("read_bytes:");
  value_of(values_, Condition::written_mib) = mib("write_bytes:");
}

// In parts, since a host of many containers has many interfaces.
void ProcessConditions::read_network() noexcept {
  std::array<char, kMaxProcTextBytes> buffer;
  NetworkBytes bytes;
  std::size_t kept = 0;  // start of a line that the part before has cut
  for (std::uint64_t offset = 0; offset < kMaxNetworkBytes && kept < buffer.size();) {
    const std::string_view part = network_.read(std::span(buffer).subspan(kept), offset);
    if (part.empty()) break;
    offset += part.size();
    std::string_view text(buffer.data(), kept + part.size());
    while (text.find('\n') != std::string_view::npos) bytes.add(next_line(text));
    std::memmove(buffer.data(), text.data(), text.size());
    kept = text.size();
  }
  const auto mib = [&bytes](std::uint64_t count) {
    return bytes.known ? std::optional(count >> kMibShift) : std::nullopt;
  };
  value_of(values_, Condition::received_mib) = mib(bytes.received);
  value_of(values_, Condition::sent_mib) = mib(bytes.sent);
}

void ProcessConditions::read_swap() noexcept {
  constexpr std::uint64_t kKibPerMib = 1024;
  std::array<char, kMaxProcTextBytes> buffer;
  const std::optional<std::uint64_t> kib = number_of_line(status_.read(buffer), "VmSwap:");
  value_of(values_, Condition::swap_mib) = kib ? std::optional(*kib / kKibPerMib) : std::nullopt;
}

void ProcessConditions::read_cores() noexcept {
  quota_.read();
  const std::uint64_t cores = allowed_cores();
  std::optional<std::uint64_t> millicores = quota_.millicores();
  if (cores != 0) millicores = std::min(millicores.value_or(cores * 1000), cores * 1000);
  value_of(values_, Condition::millicores) = millicores;
}

void ProcessConditions::read_throttled() noexcept {
  value_of(values_, Condition::quota_throttled_ms) = quota_.throttled_ms();
}

}  // namespace rangefinder
