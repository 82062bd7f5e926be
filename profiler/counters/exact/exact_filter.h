// SPDX-License-Identifier: Apache-2.0
//
// Which launches get a counter range: those that the user selects, never those that may
// wait for work launched later.
//
//   path id ─▶ glob of --exact-range ──┐
//   kernel  ─▶ --exact-kernel ─────────┼─▶ measure | not wanted | may wait
//   kernel  ─▶ --exact-skip, list ─────┘
//
// A counter range ends with a drain of the GPU. If a kernel waits for a flag, a peer or a
// later launch, such a drain never ends and the program hangs. These kernels are known by
// name (exact_filter.cpp), from the user, or from the watchdog. Each name and path is
// evaluated once; later queries are one load. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/events/recorder.h"
#include "profiler/options/options.h"

namespace rangefinder {

enum class ExactChoice : std::uint8_t { unknown, measure, not_wanted, may_wait };

class ExactFilter {
 public:
  ExactFilter(const Options& options, const Recorder& recorder);
  ~ExactFilter();

  /// `name`: NameTable id of a kernel's mangled name; 0 for copies, memsets and graphs, which
  /// --exact-kernel excludes. Never throws: on an error the launch is not wanted.
  [[nodiscard]] ExactChoice choose(std::uint32_t name, std::uint32_t path) noexcept;
  /// From now on `name` is a kernel that may wait.
  void add_waiter(std::uint32_t name) noexcept;

 private:
  [[nodiscard]] ExactChoice choose_name(std::uint32_t name);
  [[nodiscard]] bool path_wanted(std::uint32_t path);
  [[nodiscard]] std::string path_text(std::uint32_t path) const;

  const Recorder& recorder_;
  const std::string glob_;
  struct Patterns;  // defined in the .cpp
  const std::unique_ptr<const Patterns> patterns_;
  // By id; bounded like the tables of names and paths.
  std::unique_ptr<std::atomic<ExactChoice>[]> names_, paths_;
};

/// Whether a kernel with this demangled name is known to wait for later launches or for another GPU
/// (collectives, signals).
[[nodiscard]] bool is_known_waiter(std::string_view name);

}  // namespace rangefinder
