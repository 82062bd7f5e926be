// SPDX-License-Identifier: Apache-2.0
//
// Keeps events that hold for all later windows: names of threads, categories and payload
// schemas, source lines of modules, origins of generated kernels. The application emits them once, perhaps
// long before a window opens; every window needs them.
//
//   ThreadState::emit ─▶ NamingLog (always) ─▶ the drain thread, at the start of each window
//                    └─▶ ring (while a window is open)
//
// A later name for the same object replaces an earlier one. Bounded: kMaxNames objects. What
// does not fit is missing only in later windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/events/event.h"
#include "profiler/guest/host_mutex.h"

namespace rangefinder {

/// Whether events of this kind also apply to later windows.
[[nodiscard]] constexpr bool names_something(EventKind kind) noexcept {
  return kind == EventKind::thread_name || kind == EventKind::category_name ||
         kind == EventKind::payload_schema || has_source_lines(kind);
}

class NamingLog {
 public:
  static constexpr std::size_t kMaxNames = 65'536;

  struct Entry {
    std::uint32_t thread = 0;  ///< that emitted the event
    Event event;
  };

  /// Any thread. False: no memory.
  [[nodiscard]] bool add(std::uint32_t thread, const Event& event) noexcept;

  /// A copy of all of them. Throws bad_alloc.
  [[nodiscard]] std::vector<Entry> entries();

  /// For fork() only.
  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  struct Key {
    EventKind kind;
    std::uint32_t domain;
    std::uint64_t id;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      const std::uint64_t word =
          key.id ^ std::uint64_t{key.domain} << 40 ^ static_cast<std::uint64_t>(key.kind) << 56;
      return static_cast<std::size_t>(word * 0x9E3779B97F4A7C15);
    }
  };
  [[nodiscard]] static Key key_of(const Event& event) noexcept;

  HostMutex mutex_;
  std::vector<Entry> names_;                              // guarded by mutex_
  std::unordered_map<Key, std::size_t, KeyHash> by_key_;  // guarded by mutex_; index into names_
};

}  // namespace rangefinder
