// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/tensor.h"

#include <algorithm>
#include <limits>
#include <new>

namespace rangefinder::rtdetr {
namespace {

constexpr std::size_t kAlignmentBytes = 256;

void* advanced(void* data, std::int64_t elements, kernels::ElementType element) {
  const auto bytes = elements * static_cast<std::int64_t>(kernels::element_bytes(element));
  return static_cast<std::byte*>(data) + bytes;
}

}  // namespace

Tensor Tensor::channels(int first, int count) const {
  Tensor slice = *this;
  slice.view.data = advanced(view.data, first, element);
  slice.view.channels = count;
  slice.view.pixel_stride = view.pixel_step();
  slice.view.image_stride = view.image_step();
  return slice;
}

Tensor Tensor::level(int first, int height, int width) const {
  Tensor slice = *this;
  slice.view.data = advanced(view.data, first * view.pixel_step(), element);
  slice.view.height = height;
  slice.view.width = width;
  slice.view.pixel_stride = view.pixel_step();
  slice.view.image_stride = view.image_step();
  return slice;
}

Tensor Tensor::as_sequence() const {
  Tensor sequence = *this;
  sequence.view.height = 1;
  sequence.view.width = static_cast<int>(view.pixels());
  return sequence;
}

Arena::Arena(void* base, std::size_t capacity_bytes)
    // An aligned address that is not null: kernels treat null as an absent operand.
    : base_(base != nullptr ? static_cast<std::byte*>(base) : reinterpret_cast<std::byte*>(kAlignmentBytes)),
      capacity_bytes_(base != nullptr ? capacity_bytes : std::numeric_limits<std::size_t>::max() / 2) {}

void* Arena::allocate(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  if (rounded > capacity_bytes_ - used_bytes_) throw std::bad_alloc();
  void* const data = base_ + used_bytes_;
  used_bytes_ += rounded;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return data;
}

Tensor Arena::tensor(kernels::ElementType element, int images, int height, int width, int channels) {
  Tensor made;
  made.element = element;
  made.images = images;
  made.view.height = height;
  made.view.width = width;
  made.view.channels = channels;
  const auto elements = static_cast<std::size_t>(made.rows()) * static_cast<std::size_t>(channels);
  made.view.data = allocate(elements * kernels::element_bytes(element));
  return made;
}

}  // namespace rangefinder::rtdetr
