// SPDX-License-Identifier: Apache-2.0
//
// Memory of packed columns, in large blocks: a trace of ten million kernels has a hundred thousand columns. A
// block is free when its last chunk is destroyed; the next trace uses it again. One thread, except
// free_spare().
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace rangefinder {

class ColumnMemory {
 public:
  using Block = std::shared_ptr<unsigned char[]>;
  /// Call it before the first allocate() of a chunk.
  void begin();
  /// `bytes` in one piece, valid as long as blocks(). Throws std::bad_alloc.
  [[nodiscard]] unsigned char* allocate(std::size_t bytes);
  /// Returns free blocks to the system.
  static void free_spare();
  /// Those of each allocate() since begin().
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }

 private:
  std::vector<Block> blocks_;  // the last one has room
  std::size_t size_ = 0, used_ = 0;
};

}  // namespace rangefinder
