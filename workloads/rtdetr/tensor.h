// SPDX-License-Identifier: Apache-2.0
//
// Activations: a view of channels-last memory with its element type, and the arena that holds it.
//
// Sequences are tensors too: (images, 1, rows, channels). A Tensor owns nothing and is copied freely. Only
// the Backend knows whether its memory is the GPU's or the host's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"
#include "kernels/nhwc.h"

namespace rangefinder::rtdetr {

struct Tensor {
  kernels::ElementType element = kernels::ElementType::fp32;
  int images = 0;
  kernels::NhwcOutput view;

  kernels::NhwcInput input() const { return kernels::as_input(view); }
  /// Rows of all images; contiguous only if the tensor is packed.
  std::int64_t rows() const { return images * view.pixels(); }
  bool is_packed() const {
    return view.pixel_step() == view.channels && view.image_step() == view.pixels() * view.channels;
  }
  /// Channels [first, first + count) of every pixel.
  Tensor channels(int first, int count) const;
  /// Pixels [first, first + height * width) of every image as an image of this size: one level of a sequence.
  Tensor level(int first, int height, int width) const;
  /// The same memory as (images, 1, height * width, channels).
  Tensor as_sequence() const;
};

/// Allocates from one block, last in, first out. A module's temporaries reuse the memory of the previous
/// one's, so that a forward pass needs few bytes and much of it stays in L2. One thread.
class Arena {
 public:
  /// base nullptr: returns addresses only; peak_bytes() is then the size that a real arena needs.
  Arena(void* base, std::size_t capacity_bytes);

  /// 256-byte aligned, uninitialised. Throws std::bad_alloc beyond the capacity of a real arena.
  void* allocate(std::size_t bytes);
  Tensor tensor(kernels::ElementType element, int images, int height, int width, int channels);

  std::size_t peak_bytes() const { return peak_bytes_; }

  /// Releases, when it ends, everything that was allocated while it lived.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), used_bytes_(arena.used_bytes_) {}
    ~Scope() { arena_.used_bytes_ = used_bytes_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    std::size_t used_bytes_;
  };

 private:
  std::byte* base_;  // never dereferenced if the arena only measures
  std::size_t capacity_bytes_;
  std::size_t used_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace rangefinder::rtdetr
