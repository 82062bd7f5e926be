// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_sharing.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rangefinder {
namespace {

// Ids are dense and below this in every trace that we write: 65,536 paths, 262,144 names.
constexpr std::uint32_t kMaxIds = std::uint32_t{1} << 19;

// How far one sample moves rates towards what explains it alone. Larger: faster, and noisier.
constexpr double kStep = 0.1;
// Relative error of a learned rate, as far as it moves bytes between paths, and of one that cannot be
// learned. Measured on programs of known bytes: docs/internals/measured.md, "Bytes while the program runs".
constexpr double kRateError = 0.3, kUnknownRateError = 2;

/// Work of these durations overlaps in the sample; times are inexact.
bool at_one_time(double ns, const OrderedSample& sample) noexcept {
  return ns > 1.1 * sample.length_ns;
}

template <typename Row>
std::uint32_t known_id(std::vector<Row>& rows, std::uint32_t id) {
  if (id >= kMaxIds) id = 0;
  if (id >= rows.size()) rows.resize(std::size_t{id} + 1);
  return id;
}

std::uint64_t time_between(TimeNs start_ns, TimeNs end_ns) noexcept {
  return end_ns > start_ns ? static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns) : 0;
}

template <typename Row>
std::vector<SampledBytes> used_rows(const std::vector<Row>& rows) {
  std::vector<SampledBytes> used;
  for (std::size_t id = 0; id < rows.size(); ++id) {
    // A path above others has no work of its own, but what may have moved to or from it.
    if (rows[id].sum.work_ns == 0 && rows[id].sum.uncertain[kSharedL2] == 0) continue;
    used.push_back(rows[id].sum);
    used.back().id = static_cast<std::uint32_t>(id);
  }
  return used;
}

}  // namespace

SampleSharing::SampleSharing(L2Sizes l2_sizes) : l2_sizes_(std::move(l2_sizes)), owners_(1) {}

void SampleSharing::add_path(std::uint32_t path, std::uint32_t parent) {
  path = known_id(parents_, path);
  if (parent < path) parents_[path] = parent;
}

std::uint32_t SampleSharing::owner_at(std::uint32_t path, std::uint32_t name) {
  if (owners_.size() >= kMaxOwners) path = 0;  // those of all paths share a rate
  const auto [at, added] = owner_positions_.try_emplace(std::uint64_t{path} << 32 | name,
                                                        static_cast<std::uint32_t>(owners_.size()));
  if (added) {
    owners_.emplace_back().path = path;
    owners_.back().name = name;
  }
  return at->second;
}

OrderedWork SampleSharing::ordered(const GpuWork& work, std::uint32_t name) {
  const std::uint32_t path = known_id(paths_, work.path);
  return {streams_.begin_of(work), work.end_ns, path, owner_at(path, known_id(kernels_, name))};
}

void SampleSharing::add(const KernelRecord& kernel) {
  if (is_timed(kernel.work)) add_work(kernel.work, ordered(kernel.work, kernel.name));
}

void SampleSharing::add(const MemcpyRecord& copy) {
  truth_.add(copy);
  if (!is_timed(copy.work)) return;
  OrderedWork work = ordered(copy.work, 0);
  set_known_traffic(work, copy, l2_sizes_.of(copy.work.gpu));
  add_work(copy.work, work);
  // A peer copy moves bytes on both GPUs; its record is of one.
  const std::uint32_t other = copy.work.gpu == copy.source_gpu ? copy.destination_gpu : copy.source_gpu;
  if (copy.kind != CopyKind::PtoP || other == copy.work.gpu) return;
  order_.add(other, {copy.work.start_ns, copy.work.end_ns, work.path, work.kind});
}

void SampleSharing::add(const MemsetRecord& memset) {
  if (!is_timed(memset.work)) return;
  OrderedWork work = ordered(memset.work, 0);
  set_known_traffic(work, memset, l2_sizes_.of(memset.work.gpu));
  add_work(memset.work, work);
}

void SampleSharing::add(const GraphRecord& graph) {
  if (is_timed(graph.work)) add_work(graph.work, ordered(graph.work, 0));
}

void SampleSharing::add_work(const GpuWork& work, const OrderedWork& ordered) {
  const std::uint64_t ns = time_between(ordered.start_ns, ordered.end_ns);
  for (SampledBytes* const sum : {&paths_[ordered.path].sum, &kernels_[owners_[ordered.kind].name].sum}) {
    sum->work_ns += ns;
    ++sum->pieces;
  }
  if (!order_.add(work.gpu, ordered)) ++totals_.late_work;
  settle_if_crowded();
}

void SampleSharing::add(const SamplesRecord& samples) {
  any_ = true;
  totals_.idle_samples += samples.idle_samples;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const std::uint64_t idle = samples.idle_units[kSharedSampleColumns[c]] * kSampleUnitBytes;
    totals_.bytes[c] += idle;
    totals_.unattributed[c] += idle;
  }
  for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
    std::uint64_t units = samples.idle_units[c];
    for (const std::uint32_t value : samples.columns[c]) units += value;
    totals_.link_bytes[c] += units * kSampleUnitBytes;
  }
  order_.add(samples);
  settle_if_crowded();
}

void SampleSharing::settle_if_crowded() {
  if (const std::optional<TimeNs> until = order_.crowded_until()) advance(*until);
}

void SampleSharing::advance(TimeNs until_ns) {
  order_.advance(until_ns, [this](const SampleBatch& batch) { share(batch); });
  truth_.settle(until_ns);
}

void SampleSharing::finish() {
  advance(INT64_MAX);
}

SampleSharing::Units SampleSharing::take_known(const OrderedSample& sample, const SampleBatch& batch,
                                               std::span<const KnownShare> known) {
  Units left = sample.units;
  const auto is_other = [](const Piece& piece) { return !piece.work->is_known(); };
  if (std::none_of(pieces_.begin(), pieces_.end(), is_other)) return left;  // the sample says what they moved
  for (const KnownShare& share : known) {
    for (std::size_t c = 0; c < kKnownColumns; ++c) {
      const std::uint32_t units = std::min(share.units[c], left[c]);
      left[c] -= units;
      give(batch.work[share.work], c, units);
    }
  }
  return left;
}

void SampleSharing::weigh() {
  const bool learned = std::all_of(pieces_.begin(), pieces_.end(), [this](const Piece& piece) {
    return owners_[piece.work->kind].samples >= kLearnedSamples;
  });
  const bool any_other =
      std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return !piece.work->is_known(); });
  all_ = {};
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const bool known_have_theirs = any_other && c < kKnownColumns;
    const auto put_weights = [&](bool by_rate) {
      for (Piece& piece : pieces_) {
        const Owner& owner = owners_[piece.work->kind];
        const double rate = by_rate ? owner.rate[c] : 1;
        piece.weight[c] = known_have_theirs && piece.work->is_known() ? 0 : piece.ns * rate;
        all_[c] += piece.weight[c];
      }
    };
    put_weights(learned);
    if (all_[c] <= 0) put_weights(false);  // by what was learned, none of them moves bytes
  }
}

void SampleSharing::learn(const OrderedSample& sample, const Units& units) noexcept {
  double squares = 0, ns = 0;
  for (const Piece& piece : pieces_) {
    squares += static_cast<double>(piece.ns) * piece.ns;
    ns += piece.ns;
  }
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const auto takes_part = [c](const Piece& piece) { return c >= kKnownColumns || !piece.work->is_known(); };
    double predicted = 0;
    for (const Piece& piece : pieces_) {
      Owner& owner = owners_[piece.work->kind];
      if (owner.samples == 0) owner.rate[c] = units[c] / ns;
      if (takes_part(piece)) predicted += piece.ns * owner.rate[c];
    }
    const double step = kStep * (units[c] - predicted) / squares;
    for (const Piece& piece : pieces_) {
      double& rate = owners_[piece.work->kind].rate[c];
      if (takes_part(piece)) rate = std::max(0.0, rate + step * piece.ns);
    }
  }
  for (const Piece& piece : pieces_) {
    Owner& owner = owners_[piece.work->kind];
    owner.samples = std::min(owner.samples + 1, kLearnedSamples);
    // Other work may run at the same time if it moves next to nothing.
    if (part_of(piece) >= 0.9 && 2 * piece.ns >= static_cast<std::int64_t>(sample.length_ns))
      owner.apart = std::min(owner.apart + 1, kLearnedSamples);
  }
}

double SampleSharing::part_of(const Piece& piece) const noexcept {
  return all_[kSharedL2] > 0 ? piece.weight[kSharedL2] / all_[kSharedL2] : 1;
}

double SampleSharing::rate_error(const OrderedSample& sample) const noexcept {
  double ns = 0;
  for (const Piece& piece : pieces_) ns += piece.ns;
  if (!at_one_time(ns, sample)) return kRateError;
  // If two kernels always overlap, only their sum is known. If only one of them never ran alone, its bytes
  // are those that the others leave.
  const auto unknown = std::count_if(pieces_.begin(), pieces_.end(), [this](const Piece& piece) {
    return part_of(piece) >= 0.05 && owners_[piece.work->kind].apart < kLearnedSamples / 4;
  });
  return unknown > 1 ? kUnknownRateError : kRateError;
}

void SampleSharing::note_uncertainty(const Units& units, double rate_error) {
  const auto same_path = [&](const Piece& piece) { return piece.work->path == pieces_.front().work->path; };
  if (std::all_of(pieces_.begin(), pieces_.end(), same_path)) return;
  if (parts_.size() < paths_.size()) parts_.resize(paths_.size());
  touched_.clear();
  for (const Piece& piece : pieces_) {
    std::uint32_t path = piece.work->path;
    do {
      if (std::find(touched_.begin(), touched_.end(), path) == touched_.end()) {
        touched_.push_back(path);
        parts_[path] = {};
      }
      for (std::size_t c = 0; c < kSharedColumns; ++c) {
        if (all_[c] > 0) parts_[path][c] += piece.weight[c] / all_[c];
      }
      path = path < parents_.size() ? parents_[path] : 0;
    } while (path != 0);
  }
  for (const std::uint32_t path : touched_) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const double part = std::min(parts_[path][c], 1.0);
      paths_[path].sum.uncertain[c] +=
          rate_error * units[c] * static_cast<double>(kSampleUnitBytes) * part * (1 - part);
    }
  }
}

void SampleSharing::give(const OrderedWork& work, std::size_t column, std::uint64_t units) noexcept {
  paths_[work.path].sum.bytes[column] += units * kSampleUnitBytes;
  kernels_[owners_[work.kind].name].sum.bytes[column] += units * kSampleUnitBytes;
}

void SampleSharing::share(const SampleBatch& batch) {
  const std::vector<KnownShare>& known = known_.share(batch);
  auto from = known.begin();
  sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
    truth_.add_sample(batch, sample, overlaps);
    const auto number = static_cast<std::uint32_t>(&sample - batch.samples.data());
    auto to = from;
    while (to != known.end() && to->sample == number) ++to;
    share_sample(sample, overlaps, batch, {from, to});
    from = to;
  });
}

void SampleSharing::share_sample(const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps,
                                 const SampleBatch& batch, std::span<const KnownShare> known) {
  const std::uint64_t number = ++totals_.samples;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const std::uint64_t bytes = sample.units[c] * kSampleUnitBytes;
    totals_.bytes[c] += bytes;
    if (overlaps.empty()) totals_.unattributed[c] += bytes;
  }
  if (overlaps.empty()) return;
  pieces_.clear();
  for (const SampleOverlap& overlap : overlaps)
    pieces_.push_back({&batch.work[overlap.work], overlap.ns, {}});
  weigh();
  const Units left = take_known(sample, batch, known);
  std::array<UnitShares, kSharedColumns> shares{UnitShares(left[0]), UnitShares(left[1]),
                                                UnitShares(left[2])};
  std::array<double, kSharedColumns> reached{};
  for (const Piece& piece : pieces_) {
    const bool last = &piece == &pieces_.back();
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      reached[c] += piece.weight[c];
      give(*piece.work, c, shares[c].until(last ? 1.0 : std::min(reached[c] / all_[c], 1.0)));
    }
    for (Row* row : {&paths_[piece.work->path], &kernels_[owners_[piece.work->kind].name]}) {
      row->sum.overlap_ns += static_cast<std::uint64_t>(piece.ns);
      if (std::exchange(row->last_sample, number) != number) ++row->sum.samples;
    }
  }
  note_uncertainty(left, rate_error(sample));
  learn(sample, left);
}

std::vector<SampledBytes> SampleSharing::paths() const {
  return used_rows(paths_);
}

std::vector<SampledBytes> SampleSharing::kernels() const {
  return used_rows(kernels_);
}

}  // namespace rangefinder
