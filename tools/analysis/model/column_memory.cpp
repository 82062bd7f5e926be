// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/column_memory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "tools/analysis/model/huge_pages.h"

namespace rangefinder {
namespace {

constexpr std::size_t kBlockBytes = 8 * kHugePageBytes;

/// Blocks for the next trace: new pages cost more than what is written into them.
class SpareBlocks {
 public:
  /// nullptr: there is none.
  unsigned char* pop() noexcept {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return nullptr;
    unsigned char* const out = blocks_.back();
    blocks_.pop_back();
    return out;
  }
  void push(unsigned char* block) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      blocks_.push_back(block);
    } catch (...) {
      std::free(block);
    }
  }
  void free_all() {
    const std::lock_guard lock(mutex_);
    for (unsigned char* const block : blocks_) std::free(block);
    blocks_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<unsigned char*> blocks_;
};

SpareBlocks& spare_blocks() {
  static SpareBlocks& all = *new SpareBlocks;  // chunks may end after static objects
  return all;
}

struct Free {
  void operator()(unsigned char* block) const noexcept {
    is_usual ? spare_blocks().push(block) : std::free(block);
  }
  bool is_usual;
};

}  // namespace

void ColumnMemory::free_spare() {
  spare_blocks().free_all();
}

void ColumnMemory::begin() {
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin(), blocks_.end() - 1);
}

unsigned char* ColumnMemory::allocate(std::size_t bytes) {
  if (size_ - used_ < bytes) {
    size_ = std::max(kBlockBytes, bytes);
    used_ = 0;
    const bool is_usual = size_ == kBlockBytes;
    unsigned char* block = is_usual ? spare_blocks().pop() : nullptr;
    if (block == nullptr) block = static_cast<unsigned char*>(allocate_huge(size_));
    blocks_.push_back(Block(block, Free{is_usual}));
  }
  unsigned char* const out = blocks_.back().get() + used_;
  used_ += bytes;
  return out;
}

}  // namespace rangefinder
