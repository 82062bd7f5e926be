// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity/buffer_pool.h"

#include <sys/mman.h>

#include <cstring>

namespace rangefinder {

BufferPool::BufferPool(std::uint32_t buffers, LossLedger& loss)
    : limit_(buffers), loss_(loss), queue_(buffers) {
  all_.reserve(buffers);
  free_.reserve(buffers);
}

BufferPool::~BufferPool() {
  for (std::uint8_t* const buffer : all_) munmap(buffer, kBufferBytes);
}

std::uint8_t* BufferPool::map_buffer() noexcept {
  void* const memory =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

std::uint8_t* BufferPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  std::uint8_t* buffer = nullptr;
  if (!free_.empty()) {
    buffer = free_.back();
    free_.pop_back();
  } else if (all_.size() < limit_ && (buffer = map_buffer()) != nullptr) {
    all_.push_back(buffer);  // within the reserved capacity
  }
  if (buffer == nullptr) {
    loss_.add(Loss::activity_buffers_exhausted);
    return nullptr;
  }
  if (const std::uint64_t in_flight = all_.size() - free_.size(); in_flight > peak_) peak_ = in_flight;
  return buffer;
}

void BufferPool::complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  if (buffer == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (valid_bytes == 0) {
    free_.push_back(buffer);
    return;
  }
  queue_[(queue_head_ + queue_size_) % queue_.size()] = {buffer, valid_bytes};
  ++queue_size_;  // at most limit_ buffers exist, so the ring cannot overflow
}

FilledBuffer BufferPool::next() noexcept {
  const std::lock_guard lock(mutex_);
  if (queue_size_ == 0) return {};
  const FilledBuffer oldest = queue_[queue_head_];
  queue_head_ = (queue_head_ + 1) % queue_.size();
  --queue_size_;
  return oldest;
}

void BufferPool::give_back(const FilledBuffer& buffer) noexcept {
  // CUPTI was told that its buffers come zeroed, so that no application thread has to do it.
  std::memset(buffer.data, 0, buffer.valid_bytes);
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer.data);
}

void BufferPool::make_ready() noexcept {
  for (std::size_t made = 0; made < kReady; ++made) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || all_.empty() || free_.size() >= kReady || all_.size() >= limit_) return;
    }
    std::uint8_t* const buffer = map_buffer();
    if (buffer == nullptr) return;
    std::memset(buffer, 0, kBufferBytes);
    const std::lock_guard lock(mutex_);
    if (all_.size() >= limit_) {  // meanwhile
      munmap(buffer, kBufferBytes);
      return;
    }
    all_.push_back(buffer);
    // In front: buffers that were in use are in the processor's caches.
    free_.insert(free_.begin(), buffer);
  }
}

void BufferPool::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::uint64_t BufferPool::peak_in_flight() const noexcept {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace rangefinder
