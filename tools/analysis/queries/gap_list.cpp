// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/gap_list.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr unsigned kNumberBits = 7;  // of a number in a byte; the highest bit: more follow
constexpr unsigned char kMoreFollow = 1U << kNumberBits;

std::uint64_t difference(TimeNs from, TimeNs to) noexcept {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

TimeNs later(TimeNs time, std::uint64_t ns) noexcept {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(time) + ns);
}

std::uint64_t read_number(const unsigned char*& at) noexcept {
  std::uint64_t out = *at & (kMoreFollow - 1U);
  for (unsigned shift = kNumberBits; (*at++ & kMoreFollow) != 0; shift += kNumberBits) {
    out |= std::uint64_t{*at & (kMoreFollow - 1U)} << shift;
  }
  return out;
}

}  // namespace

void GapList::add(TimeNs from_ns, TimeNs to_ns) {
  if (any_ && last_.to_ns == from_ns) {
    last_.to_ns = to_ns;
    return;
  }
  if (any_) {
    if (count_ % kBlockGaps == 0) blocks_.push_back({end_ns_, bytes_.size()});
    write(difference(end_ns_, last_.from_ns));
    write(last_.ns());
    end_ns_ = last_.to_ns;
    ++count_;
  }
  last_ = {from_ns, to_ns};
  any_ = true;
}

void GapList::write(std::uint64_t number) {
  for (; number >= kMoreFollow; number >>= kNumberBits)
    append(bytes_, static_cast<unsigned char>(number | kMoreFollow));
  append(bytes_, static_cast<unsigned char>(number));
}

bool GapList::Reader::next(Gap& gap) {
  if (at_ == list_->bytes_.size()) {
    if (last_ || !list_->any_) return false;
    last_ = true;
    gap = list_->last_;
    return true;
  }
  const unsigned char* at = list_->bytes_.data() + at_;
  gap.from_ns = later(end_ns_, read_number(at));
  gap.to_ns = end_ns_ = later(gap.from_ns, read_number(at));
  at_ = static_cast<std::size_t>(at - list_->bytes_.data());
  return true;
}

void GapList::Reader::seek(TimeNs time) {
  const std::vector<Block>& blocks = list_->blocks_;
  auto after = std::upper_bound(blocks.begin(), blocks.end(), time,
                                [](TimeNs at, const Block& block) { return at < block.end_ns; });
  if (after != blocks.begin()) --after;
  at_ = after == blocks.end() ? 0 : after->at;
  end_ns_ = after == blocks.end() ? 0 : after->end_ns;
  last_ = false;
}

bool GapSearch::overlaps(TimeNs start, TimeNs end) {
  if (start < start_ns_) {
    reader_.seek(start);
    has_gap_ = reader_.next(gap_);
  }
  start_ns_ = start;
  while (has_gap_ && gap_.to_ns <= start) has_gap_ = reader_.next(gap_);
  return has_gap_ && gap_.from_ns < end;
}

}  // namespace rangefinder
