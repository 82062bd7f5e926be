// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/range_stack.h"

#include <cstring>
#include <new>

#include "profiler/events/event.h"

namespace rangefinder {

RangeStack::TooDeep* RangeStack::find_too_deep(std::uint32_t domain, bool add) noexcept {
  const auto last = too_deep_.end() - 1;
  const auto found = std::find_if(too_deep_.begin(), last, [domain](const TooDeep& entry) {
    return entry.count != 0 && entry.domain == domain;
  });
  if (found != last) return &*found;
  if (last->count != 0) return &*last;  // some of them may be of this domain
  if (!add) return nullptr;
  const auto unused = std::find_if(too_deep_.begin(), last, [](const TooDeep& e) { return e.count == 0; });
  unused->domain = domain;
  return &*unused;
}

int RangeStack::depth(std::uint32_t domain) const noexcept {
  const std::size_t level = innermost(domain);
  int count = level == kNone ? 0 : static_cast<int>(open_[level].level) + 1;
  if (too_deep_total_ == 0) return count;
  for (const TooDeep& entry : too_deep_) {
    if (entry.domain == domain) count += static_cast<int>(entry.count);
  }
  return count;
}

int RangeStack::push_too_deep(std::uint32_t domain) noexcept {
  const int level = depth(domain);
  ++too_deep(domain, true)->count;
  ++too_deep_total_;
  return level;
}

int RangeStack::pop_too_deep(std::uint32_t domain) noexcept {
  --too_deep(domain, false)->count;
  --too_deep_total_;
  return std::max(0, depth(domain));
}

void RangeStack::move(const Range& from, Range& to, std::uint32_t path) noexcept {
  to.id.store(0, kRelaxed);
  to.start_ns.store(from.start_ns.load(kRelaxed), kRelease);
  to.payload.store(from.payload.load(kRelaxed), kRelease);
  to.path.store(path, kRelease);
  to.domain.store(from.domain.load(kRelaxed), kRelease);
  to.category.store(from.category.load(kRelaxed), kRelease);
  to.color.store(from.color.load(kRelaxed), kRelease);
  to.payload_type.store(from.payload_type.load(kRelaxed), kRelease);
  to.extended_bytes = from.extended_bytes;
  to.extended_at = from.extended_at;
  to.name = from.name;
  to.level = from.level;
  to.id.store(from.id.load(kRelaxed), kRelease);
}

std::pair<std::uint32_t, std::uint64_t> RangeStack::innermost_of_other() const noexcept {
  constexpr int kAttempts = 8;
  for (int i = 0; i < kAttempts; ++i) {
    const std::size_t depth = depth_.load(kAcquire);
    if (depth == 0 || depth > kMaxDepth) return {0, 0};
    const Range& range = open_[depth - 1];
    const std::uint64_t id = range.id.load(kAcquire);
    const std::uint32_t path = range.path.load(kAcquire);
    if (id != 0 && range.id.load(kAcquire) == id) return {path, id};
  }
  return {0, 0};
}

bool RangeStack::store_payload(const NvtxPayload& payload) noexcept {
  const std::size_t data_bytes = std::min<std::size_t>(payload.bytes, kMaxPayloadBytes);
  const std::size_t bytes = sizeof payload.schema + data_bytes;
  if (payloads_ == nullptr) payloads_.reset(new (std::nothrow) std::byte[kPayloadStoreBytes]);
  if (payloads_ == nullptr || payloads_used_ + bytes > kPayloadStoreBytes) return false;
  std::byte* const at = payloads_.get() + payloads_used_;
  std::memcpy(at, &payload.schema, sizeof payload.schema);
  if (data_bytes != 0) std::memcpy(at + sizeof payload.schema, payload.data, data_bytes);
  Range& range = open_[depth() - 1];
  range.extended_at = static_cast<std::uint32_t>(payloads_used_);
  range.extended_bytes = static_cast<std::uint16_t>(bytes);
  payloads_used_ += bytes;
  return data_bytes == payload.bytes;
}

NvtxPayload RangeStack::payload_of(const Range& range) const noexcept {
  NvtxPayload stored;
  const std::byte* const at = payloads_.get() + range.extended_at;
  std::memcpy(&stored.schema, at, sizeof stored.schema);
  stored.data = at + sizeof stored.schema;
  stored.bytes = range.extended_bytes - sizeof stored.schema;
  return stored;
}

void RangeStack::remove_payload() noexcept {
  payloads_used_ = 0;
  for (std::size_t i = 0; i < depth(); ++i) {
    const Range& range = open_[i];
    if (range.extended_bytes == 0) continue;
    payloads_used_ = std::max<std::size_t>(payloads_used_, range.extended_at + range.extended_bytes);
  }
}

void RangeStack::clear() noexcept {
  depth_.store(0, kRelease);
  path_ = base_ = base_depth_ = too_deep_total_ = 0;
  range_ = 0;
  too_deep_ = {};
  payloads_used_ = 0;
}

}  // namespace rangefinder
