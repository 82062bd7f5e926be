// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/sample_queue.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "profiler/guest/reserve_large.h"

namespace rangefinder {
namespace {

/// Precedes a record's runs and columns. A SamplingRecord has none: it is the next in Batch::changes.
struct Head {
  bool is_change = false;
  std::uint32_t gpu = 0;
  std::size_t runs = 0;
  std::array<std::size_t, kSampleColumns> values{};
  std::uint64_t idle_samples = 0;
  std::array<std::uint64_t, kSampleColumns> idle_units{};
};

template <typename Item>
[[nodiscard]] std::size_t bytes_of(const std::vector<Item>& items) noexcept {
  return items.size() * sizeof(Item);
}

/// Copies `count` items from `from`; returns their end.
template <typename Item>
const std::byte* get(const std::byte* from, std::size_t count, std::vector<Item>& items) {
  items.resize(count);
  if (count != 0) std::memcpy(items.data(), from, bytes_of(items));
  return from + bytes_of(items);
}

}  // namespace

SampleQueue::Batch::Batch() {
  reserve_large(bytes);
}

void SampleQueue::Batch::make_room(std::size_t more) {
  const std::size_t needed = bytes.size() + more;
  if (needed > bytes.capacity()) bytes.reserve(std::max(needed, 2 * bytes.capacity()));
}

void SampleQueue::Batch::put(const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

void SampleQueue::Batch::clear() {
  bytes.clear();
  changes.clear();
  records = 0;
  if (bytes.capacity() <= 4 * kLargeBytes) return;
  bytes = std::vector<std::byte>();
  reserve_large(bytes);
}

SampleQueue::SampleQueue() = default;

bool SampleQueue::push(const SamplesRecord& record) {
  Head head{.gpu = record.gpu,
            .runs = record.runs.size(),
            .idle_samples = record.idle_samples,
            .idle_units = record.idle_units};
  std::size_t bytes = sizeof head + bytes_of(record.runs);
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    head.values[column] = record.columns[column].size();
    bytes += bytes_of(record.columns[column]);
  }
  const std::lock_guard lock(mutex_);
  if (waiting_.records >= kMaxRecords) return false;
  waiting_.make_room(bytes);  // may throw: before any part of the record is added
  waiting_.put(&head, sizeof head);
  waiting_.put(record.runs.data(), bytes_of(record.runs));
  for (const auto& column : record.columns) waiting_.put(column.data(), bytes_of(column));
  ++waiting_.records;
  return true;
}

bool SampleQueue::push(SamplingRecord record) {
  const Head head{.is_change = true};
  const std::lock_guard lock(mutex_);
  if (waiting_.records >= kMaxRecords) return false;
  waiting_.make_room(sizeof head);
  waiting_.changes.push_back(std::move(record));
  waiting_.put(&head, sizeof head);
  ++waiting_.records;
  return true;
}

void SampleQueue::take(const std::function<void(const PmRecord&)>& sink) {
  taken_.clear();
  {
    const std::lock_guard lock(mutex_);
    std::swap(waiting_, taken_);
  }
  const std::byte* from = taken_.bytes.data();
  std::size_t change = 0;
  for (std::size_t i = 0; i < taken_.records; ++i) {
    Head head;
    std::memcpy(&head, from, sizeof head);
    from += sizeof head;
    if (head.is_change) {
      sink(std::move(taken_.changes[change++]));
      continue;
    }
    auto& samples = std::get<SamplesRecord>(record_);
    samples.gpu = head.gpu;
    samples.idle_samples = head.idle_samples;
    samples.idle_units = head.idle_units;
    from = get(from, head.runs, samples.runs);
    for (std::size_t column = 0; column < kSampleColumns; ++column)
      from = get(from, head.values[column], samples.columns[column]);
    sink(record_);
  }
}

}  // namespace rangefinder
