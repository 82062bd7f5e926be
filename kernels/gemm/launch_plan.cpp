// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/launch_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "kernels/gemm/tensor_maps.h"

namespace rangefinder::kernels {
namespace {

constexpr int kMaxSplits = 16;
constexpr int kMinStagesOfSplit = 2;
constexpr std::int64_t kMaxSplitTiles = kWorkspaceCounterBytes / sizeof(unsigned);
constexpr float kSplitNs = 1700;           ///< counter and fences
constexpr float kPartialBytesPerNs = 100;  ///< per multiprocessor

struct TileLists {
  std::array<TileList, 4> lists;

  int count() const { return lists[0].count + lists[1].count + lists[2].count + lists[3].count; }
  const Tile& operator[](int index) const {
    std::size_t list = 0;
    while (index >= lists[list].count) index -= lists[list++].count;
    return lists[list].tiles[index];
  }
};

TileLists tiles_for(ElementType element, const DeviceFacts& facts) {
  TileLists all;
  all.lists[0] = element == ElementType::fp32 ? simt_tiles() : mma_tiles(element);
  all.lists[1] = halo_tiles(element);
  if (has_hopper_code(facts)) {
    all.lists[2] = wgmma_tiles(element);
    all.lists[3] = tma_tiles(element);
  }
  return all;
}

std::int64_t ceiling(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

std::int64_t tiles_in(const ImplicitGemm& gemm, const TileShape& shape) {
  const std::int64_t down =
      shape.has_patches ? patches_for(gemm, shape.rows).count() : ceiling(gemm.rows, shape.rows);
  return down * ceiling(gemm.columns, shape.columns) * gemm.groups;
}

std::size_t split_bytes(const TileShape& shape, std::int64_t tiles, int splits) {
  if (splits <= 1) return 0;
  return kWorkspaceCounterBytes + static_cast<std::size_t>(tiles) *
                                      static_cast<std::size_t>(splits * shape.rows * shape.columns) *
                                      sizeof(float);
}

/// Reduces `splits`, so that every split has at least one stage.
int whole_splits(int blocks_k, int splits) {
  return static_cast<int>(ceiling(blocks_k, ceiling(blocks_k, splits)));
}

bool fits(const ImplicitGemm& gemm, const Tile& tile, const DeviceFacts& facts) {
  const bool meets_alternate =
      gemm.alternate_input == nullptr || gemm.alternate_from_column % tile.shape.columns == 0;
  return meets_alternate && tile.shared_bytes <= facts.shared_bytes_per_block &&
         (tile.serves == nullptr || tile.serves(gemm));
}

float modelled_ns(const ImplicitGemm& gemm, const TileShape& shape, std::int64_t tiles, int splits,
                  int multiprocessors) {
  const std::int64_t blocks = tiles * splits;
  const auto busiest = static_cast<float>(ceiling(blocks, multiprocessors));
  const auto rounds =
      static_cast<float>(ceiling(blocks, std::int64_t{multiprocessors} * shape.blocks_per_sm));
  const auto stages = static_cast<float>(ceiling(gemm.blocks_k, splits));
  const float partial_bytes = static_cast<float>(splits * shape.rows * shape.columns) * sizeof(float);
  const float sums = splits > 1 ? kSplitNs + 2 * partial_bytes / kPartialBytesPerNs : 0;
  return std::max(busiest * stages * shape.block_ns, rounds * stages * shape.latency_ns) +
         rounds * shape.fixed_ns + sums;
}

struct PricedPlan {
  LaunchPlan plan;
  float cost_ns = 0;
};

/// The cheapest plan that satisfies `requested`; its tile is nullptr if there is none.
LaunchPlan choose(const TileLists& tiles, const ImplicitGemm& gemm, const LaunchChoice& requested,
                  const DeviceFacts& facts, bool any_workspace) {
  PricedPlan best;
  const int most = std::clamp(gemm.blocks_k / kMinStagesOfSplit, 1, kMaxSplits);
  for (int index = 0; index < tiles.count(); ++index) {
    const Tile& tile = tiles[index];
    if ((requested.tile >= 0 && requested.tile != index) || !fits(gemm, tile, facts)) continue;
    const std::int64_t tiles_of_shape = tiles_in(gemm, tile.shape);
    for (int splits = 1; splits <= std::max(most, requested.splits_k); ++splits) {
      if (requested.splits_k > 0 ? splits != requested.splits_k : splits > most) continue;
      if (splits > 1 && !tile.splits_k) continue;
      if (whole_splits(gemm.blocks_k, splits) != splits) continue;
      const bool has_room =
          any_workspace || (requested.workspace.data != nullptr &&
                            requested.workspace.bytes >= split_bytes(tile.shape, tiles_of_shape, splits));
      if (splits > 1 && (tiles_of_shape > kMaxSplitTiles || !has_room)) continue;
      const float cost = modelled_ns(gemm, tile.shape, tiles_of_shape, splits, facts.multiprocessors);
      if (best.plan.tile == nullptr || cost < best.cost_ns)
        best = {{&tile, splits, split_bytes(tile.shape, tiles_of_shape, splits)}, cost};
    }
  }
  return best.plan;
}

/// All inputs of a plan.
using PlanKey = std::array<std::int64_t, 20>;

PlanKey key_of(ElementType element, const ImplicitGemm& gemm, const LaunchChoice& choice,
               const DeviceFacts& facts, bool any_workspace) {
  const std::int64_t room = any_workspace ? -1
                            : choice.workspace.data != nullptr
                                ? static_cast<std::int64_t>(choice.workspace.bytes)
                                : 0;
  return {static_cast<std::int64_t>(element),
          gemm.rows,
          gemm.columns,
          gemm.groups,
          gemm.pixels,
          gemm.output_width,
          gemm.image_step,
          gemm.pixel_step,
          gemm.kernel_size,
          gemm.stride,
          gemm.channel_chunks,
          gemm.second_chunks,
          gemm.second_image_step,
          gemm.second_pixel_step,
          gemm.alternate_input != nullptr ? gemm.alternate_from_column : -1,
          gemm.row_valid != nullptr,
          choice.tile,
          choice.splits_k,
          room,
          facts.multiprocessors * 1000 + facts.compute_capability};
}

std::size_t slot_of(const PlanKey& key, std::size_t slots) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const std::int64_t part : key) hash = (hash ^ static_cast<std::uint64_t>(part)) * 1099511628211u;
  return static_cast<std::size_t>(hash >> 32) % slots;
}

}  // namespace

int tile_count(ElementType element, const DeviceFacts& facts) {
  return tiles_for(element, facts).count();
}

LaunchPlan plan_launch(ElementType element, const ImplicitGemm& gemm, const LaunchChoice& choice,
                       const DeviceFacts& facts, bool any_workspace) {
  struct CachedPlan {
    PlanKey key{};
    LaunchPlan plan;
  };
  static std::mutex mutex;
  static std::array<CachedPlan, 512> cache;  // guarded by mutex; a later plan may replace an earlier one

  const PlanKey key = key_of(element, gemm, choice, facts, any_workspace);
  CachedPlan& slot = cache[slot_of(key, cache.size())];
  {
    const std::lock_guard lock(mutex);
    if (slot.plan.tile != nullptr && slot.key == key) return slot.plan;
  }
  const LaunchPlan plan = choose(tiles_for(element, facts), gemm, choice, facts, any_workspace);
  const std::lock_guard lock(mutex);
  slot = {key, plan};
  return plan;
}

}  // namespace rangefinder::kernels
