// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_groups.h"

#include <algorithm>
#include <bit>

#include "tools/analysis/model/selection.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kMaxConfigurations = 8;
constexpr std::uint32_t kAnyConfiguration = UINT32_MAX;

}  // namespace

std::size_t WorkGroups::KeyHash::operator()(const GroupKey& key) const noexcept {
  std::uint64_t hash = 0;
  for (const std::uint32_t part : key) {
    hash = (hash ^ part) * 0x9E37'79B9'7F4A'7C15ULL;
    hash ^= hash >> 31;
  }
  return static_cast<std::size_t>(hash);
}

WorkGroups::WorkGroups(const Selection* selection) : paths_(1), parents_(1), selection_(selection) {
  path_positions_.emplace(0, 0);
}

void WorkGroups::start_again() noexcept {
  for (auto& [key, repeated] : repeated_) repeated.range = 0;
  streams_.start_again();
}

void WorkGroups::add(const PathRecord& path) {
  // A parent's id is smaller than its child's. A damaged trace may have a larger one and form a cycle.
  parent_ids_.emplace(path.id, path.parent < path.id ? path.parent : 0);
}

std::uint32_t WorkGroups::path_at(std::uint32_t path) {
  const auto at = path_positions_.find(path);
  if (at != path_positions_.end()) return at->second;
  const auto parent_id = parent_ids_.find(path);
  const std::uint32_t parent = parent_id == parent_ids_.end() ? 0 : path_at(parent_id->second);
  const auto position = static_cast<std::uint32_t>(paths_.size());
  paths_.push_back(path);
  parents_.push_back(parent);
  path_positions_.emplace(path, position);
  return position;
}

std::uint32_t WorkGroups::owner_at(std::uint32_t path, std::uint32_t name, bool selected) {
  const std::uint64_t key = std::uint64_t{path} << 32 | name;
  const auto [it, is_new] =
      owner_positions_[selected ? 1 : 0].try_emplace(key, static_cast<std::uint32_t>(owners_.size()));
  if (is_new) {
    const auto& others = owner_positions_[selected ? 0 : 1];
    const auto other = others.find(key);
    const std::uint32_t number = other == others.end() ? numbers_++ : owners_[other->second].number;
    owners_.push_back({path_at(path), name, selected, number});
  }
  return it->second;
}

std::uint32_t WorkGroups::new_group() {
  return groups_ < kMaxGroups ? static_cast<std::uint32_t>(groups_++) : 0;
}

WorkGroups::Repeated& WorkGroups::repeated_at(GroupKey key) {
  const auto at = repeated_.find(key);
  if (at != repeated_.end()) return at->second;
  if (key[3] != kAnyConfiguration && ++configurations_[{key[0], key[1], key[2], 0}] > kMaxConfigurations) {
    return repeated_at({key[0], key[1], key[2], kAnyConfiguration});
  }
  return repeated_[key];
}

std::uint32_t WorkGroups::group_of(Repeated& repeated, std::uint64_t range) {
  // Launches outside a range are not numbered.
  repeated.launches = range == 0 || range != repeated.range ? 0 : repeated.launches + 1;
  repeated.range = range;
  const std::uint32_t place = std::min(repeated.launches, kMaxPlaces - 1);
  std::uint32_t& group = repeated.groups[place];
  if (group == 0) group = new_group();
  return group;
}

OrderedWork WorkGroups::ordered(const GpuWork& work, std::uint32_t name, std::uint32_t what) {
  const bool selected = selection_ == nullptr || selection_->counts(work, name);
  const OrderedWork out{streams_.begin_of(work), work.end_ns, owner_at(work.path, name, selected),
                        group_of(repeated_at({work.gpu, work.path, name, what}), work.range)};
  if (out.kind >= durations_.size()) durations_.resize(std::size_t{out.kind} + 1);
  durations_[out.kind].ns += static_cast<double>(out.end_ns - out.start_ns);
  durations_[out.kind].count += 1;
  return out;
}

std::vector<double> WorkGroups::mean_durations() const {
  std::vector<double> means(groups_);
  for (std::size_t g = 0; g < std::min(groups_, durations_.size()); ++g) {
    if (durations_[g].count > 0) means[g] = durations_[g].ns / durations_[g].count;
  }
  return means;
}

OrderedWork WorkGroups::ordered(const KernelRecord& kernel) {
  return ordered(kernel.work, kernel.name, kernel.config);
}

OrderedWork WorkGroups::ordered(const MemcpyRecord& copy) {
  // Copies of similar size between the same memories move bytes at a similar rate.
  const auto size = static_cast<std::uint32_t>(std::bit_width(copy.bytes));
  OrderedWork work =
      ordered(copy.work, 0,
              static_cast<std::uint32_t>(copy.kind) << 24 | static_cast<std::uint32_t>(copy.source) << 16 |
                  static_cast<std::uint32_t>(copy.destination) << 8 | size);
  set_known_traffic(work, copy, l2_sizes_.of(copy.work.gpu));
  return work;
}

OrderedWork WorkGroups::ordered(const MemsetRecord& memset) {
  constexpr std::uint32_t kMemset = 0xFF;
  OrderedWork work = ordered(memset.work, 0,
                             kMemset << 24 | static_cast<std::uint32_t>(memset.memory) << 8 |
                                 static_cast<std::uint32_t>(std::bit_width(memset.bytes)));
  set_known_traffic(work, memset, l2_sizes_.of(memset.work.gpu));
  return work;
}

OrderedWork WorkGroups::ordered(const GraphRecord& graph) {
  constexpr std::uint32_t kGraph = 0xFE;
  return ordered(graph.work, 0, kGraph << 24 | (graph.work.graph & 0xFFFFFF));
}

}  // namespace rangefinder
