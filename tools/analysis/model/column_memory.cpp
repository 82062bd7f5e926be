// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/column_memory.h"

#include <algorithm>
#include <cstdlib>

#include "tools/analysis/model/huge_pages.h"

namespace rangefinder {
namespace {

constexpr std::size_t kBlockBytes = 8 * kHugePageBytes;

struct Free {
  void operator()(unsigned char* block) const noexcept { std::free(block); }
};

}  // namespace

void ColumnMemory::begin() {
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin(), blocks_.end() - 1);
}

unsigned char* ColumnMemory::take(std::size_t bytes) {
  if (size_ - used_ < bytes) {
    size_ = std::max(kBlockBytes, bytes);
    used_ = 0;
    blocks_.push_back(Block(static_cast<unsigned char*>(allocate_huge(size_)), Free()));
  }
  unsigned char* const out = blocks_.back().get() + used_;
  used_ += bytes;
  return out;
}

}  // namespace rangefinder
