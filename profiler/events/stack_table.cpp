// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/stack_table.h"

#include <string_view>

namespace rangefinder {

template <typename Entry>
std::size_t StackTable::Entries<Entry>::Hash::operator()(const Entry& entry) const noexcept {
  static_assert(sizeof(Entry) % sizeof(std::uint32_t) == 0);  // no padding
  return hash_text({reinterpret_cast<const char*>(&entry), sizeof entry});
}

template <typename Entry>
std::uint32_t StackTable::Entries<Entry>::intern(const Entry& entry) noexcept {
  try {
    if (const auto known = ids_.find(entry); known != ids_.end()) return known->second;
    if (size_ == kMaxStacks) return 0;
    const std::uint32_t id = size_ + 1;
    std::unique_ptr<Entry[]>& chunk = chunks_[id / kChunk];
    if (chunk == nullptr) chunk = std::make_unique<Entry[]>(kChunk);
    ids_.emplace(entry, id);
    chunk[id % kChunk] = entry;
    return size_ = id;
  } catch (...) {
    return 0;
  }
}

std::uint32_t StackTable::stack(const StackNode& node) noexcept {
  // The first stack is kOtherStack, so that there is room for it.
  if (stacks_.empty()) (void)stacks_.intern({0, frame({kOtherName, 0, 0})});
  const std::uint32_t id = node.frame == 0 || node.caller == kOtherStack ? 0 : stacks_.intern(node);
  if (id != 0) return id;
  loss_.add(Loss::stacks_folded);
  return kOtherStack;
}

}  // namespace rangefinder
