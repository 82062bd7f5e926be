// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace rangefinder {

BufferPool::BufferPool(std::uint32_t buffers, LossLedger& loss)
    : small_limit_(buffers / 4 * (kBufferBytes / kSmallBytes)),
      limit_(buffers - buffers / 4),
      loss_(loss),
      queue_(limit_ + small_limit_) {
  all_.reserve(limit_);
  free_.reserve(limit_);
  free_small_.reserve(small_limit_);
}

BufferPool::~BufferPool() {
  for (std::uint8_t* const buffer : all_) munmap(buffer, kBufferBytes);
  if (small_ != nullptr) munmap(small_, small_limit_ * kSmallBytes);
}

std::uint8_t* BufferPool::map_memory(std::size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

bool BufferPool::is_small(const std::uint8_t* buffer) const noexcept {
  return small_ != nullptr && buffer >= small_ && buffer < small_ + small_limit_ * kSmallBytes;
}

std::uint8_t* BufferPool::take_small() noexcept {
  if (!free_small_.empty()) {
    std::uint8_t* const buffer = free_small_.back();
    free_small_.pop_back();
    return buffer;
  }
  if (small_used_ == small_limit_) return nullptr;
  if (small_ == nullptr) small_ = map_memory(small_limit_ * kSmallBytes);
  return small_ == nullptr ? nullptr : small_ + small_used_++ * kSmallBytes;
}

LentBuffer BufferPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  LentBuffer lent{nullptr, kBufferBytes};
  if (!free_.empty()) {
    lent.data = free_.back();
    free_.pop_back();
  } else if (all_.size() < limit_ && (lent.data = map_memory(kBufferBytes)) != nullptr) {
    all_.push_back(lent.data);  // within the reserved capacity
  } else {
    lent = {take_small(), kSmallBytes};
  }
  if (lent.data == nullptr) {
    loss_.add(Loss::activity_buffers_exhausted);
    return {};
  }
  bytes_in_flight_ += lent.bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_in_flight_);
  return lent;
}

void BufferPool::put_back(std::uint8_t* buffer) noexcept {
  const bool small = is_small(buffer);
  bytes_in_flight_ -= small ? kSmallBytes : kBufferBytes;
  (small ? free_small_ : free_).push_back(buffer);  // within the reserved capacity
}

void BufferPool::complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  if (buffer == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (valid_bytes == 0) return put_back(buffer);
  queue_[(queue_head_ + queue_size_) % queue_.size()] = {buffer, valid_bytes};
  ++queue_size_;  // cannot overflow: the ring has an entry for every buffer
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
  // We promised CUPTI zeroed buffers, so that no application thread has to clear them.
  std::memset(buffer.data, 0, buffer.valid_bytes);
  const std::lock_guard lock(mutex_);
  put_back(buffer.data);
}

void BufferPool::make_ready() noexcept {
  for (std::size_t made = 0; made < kReady; ++made) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || all_.empty() || free_.size() >= kReady || all_.size() >= limit_) return;
    }
    std::uint8_t* const buffer = map_memory(kBufferBytes);
    if (buffer == nullptr) return;
    std::memset(buffer, 0, kBufferBytes);
    const std::lock_guard lock(mutex_);
    if (all_.size() >= limit_) {  // take() mapped more meanwhile
      munmap(buffer, kBufferBytes);
      return;
    }
    all_.push_back(buffer);
    // At the front, so that recently used buffers, still in the CPU's caches, are lent first.
    free_.insert(free_.begin(), buffer);
  }
}

std::uint8_t* BufferPool::take_spare() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.size() <= kReady) return nullptr;
  std::uint8_t* const buffer = free_.front();  // unused for longest
  free_.erase(free_.begin());
  std::erase(all_, buffer);
  return buffer;
}

std::uint8_t* BufferPool::take_all_small() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_small_.size() != small_used_) return nullptr;  // some are in use
  small_used_ = 0;
  free_small_.clear();
  return std::exchange(small_, nullptr);
}

void BufferPool::shrink() noexcept {
  for (std::uint8_t* buffer = take_spare(); buffer != nullptr; buffer = take_spare())
    munmap(buffer, kBufferBytes);
  if (std::uint8_t* const small = take_all_small(); small != nullptr)
    munmap(small, small_limit_ * kSmallBytes);
}

void BufferPool::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::uint64_t BufferPool::peak_in_flight() const noexcept {
  const std::lock_guard lock(mutex_);
  return (peak_bytes_ + kBufferBytes - 1) / kBufferBytes;
}

}  // namespace rangefinder
