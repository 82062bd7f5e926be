// SPDX-License-Identifier: Apache-2.0
//
// Interns the names that the application uses: NVTX messages, domains, categories, threads.
// Maps a text to a dense id, and an id to its text without a lock.
//
//   intern("layers") ─▶ hash ─▶ mutex ─▶ id 17 ┐ chunk 0: [1..4096]
//                                              └ entries are never moved or freed
//
// Bounded (design rule 8): 262,144 names and 32 MiB of text. Every further new text gets
// kOtherName and is counted. A text over 16 KiB is cut, with a hash of the whole (cut_text.h), and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/events/cut_text.h"
#include "profiler/guest/host_mutex.h"
#include "schema/loss.h"

namespace rangefinder {

/// Id of the text "(other)", which replaces all texts that did not fit.
inline constexpr std::uint32_t kOtherName = 1;

/// Hash of a text; all tables use this one. Fast for short texts; not safe against crafted collisions.
[[nodiscard]] std::uint64_t hash_text(std::string_view text) noexcept;

class NameTable {
 public:
  static constexpr std::uint32_t kMaxNames = 262'144;
  static constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20;
  static constexpr std::size_t kMaxNameBytes = 16'384;
  static constexpr std::size_t kLongTextBytes = kMaxNameBytes + kHashDigits + 1;  ///< a TextBuffer to be cut
  /// Texts that differ only later are one.
  static constexpr std::size_t kMaxReadBytes = std::size_t{1} << 20;

  explicit NameTable(LossLedger& loss);
  ~NameTable();
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  /// Id of `text`; any thread. Takes a lock; allocates only for a new text. Never throws: returns
  /// kOtherName if the text does not fit.
  [[nodiscard]] std::uint32_t intern(std::string_view text) noexcept { return intern(text, hash_text(text)); }
  [[nodiscard]] std::uint32_t intern(std::string_view text, std::uint64_t hash) noexcept;

  /// Text of an id that intern() returned; any thread, no lock. Never invalidated.
  [[nodiscard]] std::string_view text(std::uint32_t id) const noexcept;

  /// Ids 1 … size() are in use.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  /// Held during fork(), so that the child gets a consistent table.
  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t kChunk = 4096;
  struct Entry {
    std::uint64_t hash;
    const char* data;
    std::uint32_t bytes;
  };
  [[nodiscard]] const Entry& entry(std::uint32_t id) const noexcept;
  [[nodiscard]] std::uint32_t add(std::string_view text, std::uint64_t hash);
  [[nodiscard]] std::uint32_t intern_kept(std::string_view text, std::uint64_t hash, bool cut) noexcept;
  [[nodiscard]] std::uint32_t intern_cut(std::string_view text, std::uint64_t hash) noexcept;
  void grow_index();
  [[nodiscard]] char* store(std::string_view text);

  LossLedger& loss_;
  HostMutex mutex_;
  std::vector<std::uint32_t> index_;  // guarded by mutex_; open addressing, 0 = free
  std::vector<char*> blocks_;         // guarded by mutex_
  std::size_t block_used_ = 0;        // guarded by mutex_
  std::size_t text_bytes_ = 0;        // guarded by mutex_
  std::atomic<Entry*> chunks_[kMaxNames / kChunk + 1]{};
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace rangefinder
