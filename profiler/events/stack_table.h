// SPDX-License-Identifier: Apache-2.0
//
// Interns frames of host stacks, and stacks. A stack is its innermost frame and the stack of its caller.
//
//   frame(decode_image, data.py, 41) ─▶ 3     stack(caller 5, frame 3) ─▶ 7
//
// Bounded (design rule 8): kMaxStacks stacks. Further ones are kOtherStack, "(other)", and counted. A frame
// exists only for a stack.
//
// The thread that samples stacks writes. The drain thread reads ids that it got from that thread through a
// lock. Never throws.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profiler/events/name_table.h"
#include "schema/loss.h"

namespace rangefinder {

/// Stack "(other)", which replaces all stacks that did not fit.
inline constexpr std::uint32_t kOtherStack = 1;

/// A line of a function. Names are NameTable ids; 0: none.
struct StackFrame {
  std::uint32_t function = 0, file = 0;
  std::uint32_t line = 0;  ///< 0: unknown
  bool operator==(const StackFrame&) const = default;
};

struct StackNode {
  std::uint32_t caller = 0;  ///< 0: outermost
  std::uint32_t frame = 0;
  bool operator==(const StackNode&) const = default;
};

class StackTable {
 public:
  static constexpr std::uint32_t kMaxStacks = 262'144;

  explicit StackTable(LossLedger& loss) noexcept : loss_(loss) {}
  StackTable(const StackTable&) = delete;
  StackTable& operator=(const StackTable&) = delete;

  // The sampling thread only.
  /// 0: no room.
  [[nodiscard]] std::uint32_t frame(const StackFrame& frame) noexcept { return frames_.intern(frame); }
  /// `node`: its frame may be 0, if there was no room for it.
  [[nodiscard]] std::uint32_t stack(const StackNode& node) noexcept;

  // Of an id that was returned; any thread that got it through a lock.
  [[nodiscard]] StackFrame frame_at(std::uint32_t id) const noexcept { return frames_.at(id); }
  [[nodiscard]] StackNode stack_at(std::uint32_t id) const noexcept { return stacks_.at(id); }

 private:
  /// Entries are never moved, so that they can be read while others are added.
  template <typename Entry>
  class Entries {
   public:
    /// 0: no room.
    [[nodiscard]] std::uint32_t intern(const Entry& entry) noexcept;
    [[nodiscard]] Entry at(std::uint32_t id) const noexcept { return chunks_[id / kChunk][id % kChunk]; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

   private:
    static constexpr std::uint32_t kChunk = 4096;
    struct Hash {
      std::size_t operator()(const Entry& entry) const noexcept;
    };
    std::unordered_map<Entry, std::uint32_t, Hash> ids_;
    std::unique_ptr<Entry[]> chunks_[kMaxStacks / kChunk + 1];
    std::uint32_t size_ = 0;  // ids 1 … size_ are in use
  };

  LossLedger& loss_;
  Entries<StackFrame> frames_;
  Entries<StackNode> stacks_;
};

}  // namespace rangefinder
