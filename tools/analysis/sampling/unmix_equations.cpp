// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_equations.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rangefinder {
namespace {

constexpr std::size_t kFirstPlaces = 1024, kPlacesOfGroup = 8;

std::size_t hash_of(std::uint32_t low, std::uint32_t high) noexcept {
  const std::uint64_t key = (std::uint64_t{low} << 32 | high) * 0x9E37'79B9'7F4A'7C15ULL;
  return static_cast<std::size_t>(key ^ (key >> 29));
}

}  // namespace

NormalEquations::NormalEquations(std::size_t groups)
    : diagonal_(2 * groups),
      right_side_(2 * groups),
      own_(groups),
      pairs_(std::max(kFirstPlaces, std::bit_ceil(kPlacesOfGroup * groups))) {}

void NormalEquations::add_row(std::span<const RowEntry> entries, double units, double weight) {
  if (overfull_) return;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const RowEntry& entry = entries[i];
    const double head = weight * entry.head_ns, tail = weight * entry.tail_ns;
    diagonal_[head_of(entry.group)] += head * entry.head_ns;
    diagonal_[tail_of(entry.group)] += tail * entry.tail_ns;
    own_[entry.group] += head * entry.tail_ns;
    right_side_[head_of(entry.group)] += head * units;
    right_side_[tail_of(entry.group)] += tail * units;
    for (std::size_t j = 0; j < i; ++j) {
      const RowEntry& other = entries[j];
      Pair& pair = pair_of(std::min(entry.group, other.group), std::max(entry.group, other.group));
      const bool first = entry.group < other.group;
      pair.head_head += head * other.head_ns;
      (first ? pair.head_tail : pair.tail_head) += head * other.tail_ns;
      (first ? pair.tail_head : pair.head_tail) += tail * other.head_ns;
      pair.tail_tail += tail * other.tail_ns;
    }
  }
}

NormalEquations::Pair& NormalEquations::pair_of(std::uint32_t low, std::uint32_t high) {
  if (2 * used_ >= pairs_.size()) grow();
  for (std::size_t at = hash_of(low, high);; ++at) {
    Pair& pair = pairs_[at & (pairs_.size() - 1)];
    if (pair.low == low && pair.high == high) return pair;
    if (pair.high != 0) continue;  // taken: high > low >= 0
    pair.low = low;
    pair.high = high;
    overfull_ = ++used_ >= kMaxPairs;
    return pair;
  }
}

void NormalEquations::grow() {
  const std::vector<Pair> old = std::exchange(pairs_, std::vector<Pair>(2 * pairs_.size()));
  for (const Pair& pair : old) {
    if (pair.high == 0) continue;
    std::size_t at = hash_of(pair.low, pair.high);
    while (pairs_[at & (pairs_.size() - 1)].high != 0) ++at;
    pairs_[at & (pairs_.size() - 1)] = pair;
  }
}

}  // namespace rangefinder
