// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_split.h"

#include <algorithm>
#include <cmath>

#include "tools/analysis/sampling/unmix_draw.h"

namespace rangefinder {
namespace {

// Offset between the clocks of a GPU's records and samples, constant over a trace: its deviation.
constexpr double kClockDeviationNs = 150;
constexpr TimeNs kReachNs = 1'500;
constexpr double kUnit = static_cast<double>(kSampleUnitBytes);

double part_inside(TimeNs start, TimeNs end, const SampleWindow& window) noexcept {
  if (start >= window.from_ns && end <= window.to_ns) return 1;
  const TimeNs ns = std::min(end, window.to_ns) - std::max(start, window.from_ns);
  return ns <= 0 || end <= start ? 0 : static_cast<double>(ns) / static_cast<double>(end - start);
}

}  // namespace

SharedSum& SharedSum::operator+=(const SharedSum& other) noexcept {
  bytes += other.bytes;
  time_shared += other.time_shared;
  for (std::size_t k = 0; k < kReplicas; ++k) replicas[k] += other.replicas[k];
  return *this;
}

SampleSplit::SampleSplit(const UnmixedRates& rates, const WorkGroups& groups, const SampleWindow& window,
                         const SampleWindow& unattributed)
    : rates_(rates),
      groups_(groups),
      window_(window),
      unattributed_window_(unattributed),
      paths_(groups.paths().size()),
      last_samples_(groups.paths().size()),
      last_inclusive_samples_(groups.paths().size()),
      owners_(groups.owners().size()) {}

void SampleSplit::add(const SampleBlock& block) {
  if (block.samples.empty()) return;
  count(block);
  for (std::size_t c = 0; c < kSharedColumns; ++c) split(c, block);
}

void SampleSplit::add_unattributed(std::size_t column, const OrderedSample& sample, std::uint64_t units) {
  const double inside = part_inside(sample.start_ns, sample.end_ns(), unattributed_window_);
  const auto bytes =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(units) * inside)) * kSampleUnitBytes;
  totals_.bytes[column] += bytes;
  totals_.unattributed[column] += bytes;
}

void SampleSplit::count(const SampleBlock& block) {
  const SampleBatch batch = block.batch();
  sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
    if (part_inside(sample.start_ns, sample.end_ns(), window_) > 0) ++totals_.samples;
    ++seen_;
    for (const SampleOverlap& overlap : overlaps) {
      const OrderedWork& work = batch.work[overlap.work];
      const WorkGroups::Owner& owner = groups_.owners()[work.path];
      const TimeNs start = std::max(work.start_ns, sample.start_ns);
      const double inside = owner.selected ? part_inside(start, start + overlap.ns, window_) : 0;
      const auto ns = static_cast<std::uint64_t>(std::llround(overlap.ns * inside));
      for (Owner* const of : {&owners_[work.path], static_cast<Owner*>(&paths_[owner.path])}) {
        of->overlap_ns += ns;
        of->whole.overlap_ns += static_cast<std::uint64_t>(overlap.ns);
      }
      if (inside > 0) count_sample(owner.path);
    }
  });
}

void SampleSplit::count_sample(std::uint32_t path) {
  if (std::exchange(last_samples_[path], seen_) != seen_) ++paths_[path].samples;
  for (; std::exchange(last_inclusive_samples_[path], seen_) != seen_; path = groups_.parents()[path]) {
    ++paths_[path].inclusive_samples;
    if (groups_.parents()[path] == 0) return;
  }
}

void SampleSplit::give(std::size_t column, const Piece& piece, std::uint64_t units) {
  const auto inside =
      piece.inside >= 1 ? units
                        : static_cast<std::uint64_t>(std::llround(static_cast<double>(units) * piece.inside));
  for (Owner* const of : {&owners_[piece.owner], static_cast<Owner*>(&paths_[piece.path])}) {
    of->bytes[column] += inside * kSampleUnitBytes;
    of->whole.bytes[column] += units * kSampleUnitBytes;
  }
  totals_.bytes[column] += inside * kSampleUnitBytes;
}

void SampleSplit::split(std::size_t column, const SampleBlock& block) {
  const SampleBatch batch = block.batch();
  const double background = rates_.background.of(block.gpu)[column];
  auto share = block.known_shares.begin();
  sweep_.run(batch, rates_.columns[column].lag_ns, kReachNs,
             [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
               const auto number = static_cast<std::uint32_t>(&sample - block.samples.data());
               while (share != block.known_shares.end() && share->sample < number) ++share;
               auto end = share;
               while (end != block.known_shares.end() && end->sample == number) ++end;
               gather(column, batch, sample, overlaps, {share, end});
               split_sample(column, sample, background * sample.length_ns);
             });
}

void SampleSplit::gather(std::size_t column, const SampleBatch& batch, const OrderedSample& sample,
                         const std::vector<SampleOverlap>& overlaps,
                         std::span<const KnownShare> known_shares) {
  const ColumnRates& rates = rates_.columns[column];
  const Pace pace = rates_.pace(column);
  pieces_.clear();
  for (const SampleOverlap& overlap : overlaps) {
    const OrderedWork& work = batch.work[overlap.work];
    Piece piece;
    piece.owner = work.path;
    piece.path = groups_.owners()[work.path].path;
    piece.group = work.kind;
    piece.start_ns = work.start_ns;
    piece.end_ns = work.end_ns;
    piece.ns = overlap.ns;
    piece.pace = pace.of(work.kind, static_cast<double>(work.end_ns - work.start_ns));
    const TimeNs start = std::max(work.start_ns, sample.start_ns + rates.lag_ns);
    piece.weight = weight_of(piece, rates.rates, start, start + overlap.ns);
    const bool selected = groups_.owners()[work.path].selected;
    piece.inside = selected ? part_inside(start, start + std::max(0, overlap.ns), window_) : 0;
    piece.bytes_known = column < kKnownColumns && work.is_known();
    if (work.at_most && column < kKnownColumns) {
      const std::uint32_t bound = column == kSharedDramRead ? work.read_units : work.written_units;
      piece.max_units = bound * std::max(0.0, piece.ns) / static_cast<double>(work.end_ns - work.start_ns);
    }
    for (const KnownShare& share : known_shares) {
      if (piece.bytes_known && share.work == overlap.work) piece.known_units = share.units[column];
    }
    pieces_.push_back(piece);
  }
}

std::uint32_t SampleSplit::subtract_known(std::size_t column, const OrderedSample& sample) {
  std::uint32_t left = sample.units[column];
  if (column >= kKnownColumns) return left;
  const auto is_other = [](const Piece& piece) { return !piece.bytes_known && piece.ns > 0; };
  if (std::none_of(pieces_.begin(), pieces_.end(), is_other)) {
    // Nothing else ran: the sample itself says what the copies moved.
    for (Piece& piece : pieces_) {
      if (piece.bytes_known) piece.weight = piece.known_units;
    }
    return left;
  }
  for (const Piece& piece : pieces_) {
    if (!piece.bytes_known) continue;
    const std::uint32_t units = std::min(piece.known_units, left);
    left -= units;
    const double bytes = units * kUnit * piece.inside;
    give(column, piece, units);
    SharedSum& sum = paths_[piece.path].sums[column];
    sum.bytes += bytes;
    sum.time_shared += bytes;
    for (double& replica : sum.replicas) replica += bytes;
  }
  std::erase_if(pieces_, [](const Piece& piece) { return piece.bytes_known; });
  return left;
}

void SampleSplit::limit_weights(std::uint32_t units) {
  double others = 0;
  bool any = false;
  for (const Piece& piece : pieces_) {
    any |= piece.max_units.has_value();
    if (!piece.max_units) others += piece.weight;
  }
  if (!any || others <= 0) return;
  for (Piece& piece : pieces_) {
    if (!piece.max_units || *piece.max_units >= units) continue;
    // Its share of the sample is then `max_units`, beside the others alone.
    piece.weight = std::min(piece.weight, others * *piece.max_units / (units - *piece.max_units));
  }
}

void SampleSplit::split_sample(std::size_t column, const OrderedSample& sample, double background_units) {
  const std::uint32_t units = subtract_known(column, sample);
  limit_weights(units);
  double all = 0, all_ns = 0;
  for (const Piece& piece : pieces_) {
    all += piece.weight;
    all_ns += std::max(0.0, piece.ns);
  }
  if (all_ns <= 0) {
    add_unattributed(column, sample, units);
    return;
  }
  // All rates are 0: share by time.
  if (all <= 0) {
    for (Piece& piece : pieces_) piece.weight = std::max(0.0, piece.ns);
    all = all_ns;
  }
  // Unmixed weights are in units. Time-shared weights are in ns, where a background in units means nothing.
  const double background = rates_.columns[column].unmixed ? background_units : 0;
  add_bytes(column, sample, units, background, all + background);
  add_replicas(column, sample, units, background, all + background);
}

void SampleSplit::add_bytes(std::size_t column, const OrderedSample& sample, std::uint32_t units,
                            double background, double all) {
  UnitShares shares(units);
  double reached = 0;
  std::size_t left = pieces_.size();
  for (const Piece& piece : pieces_) {
    reached += piece.weight;
    const bool last = --left == 0 && background <= 0;
    const std::uint64_t share = shares.until(last ? 1.0 : std::min(reached / all, 1.0));
    give(column, piece, share);
  }
  add_unattributed(column, sample, shares.until(1.0));
}

bool SampleSplit::one_path() const noexcept {
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.path == pieces_.front().path; });
}

/// Weight of the part of the piece's work in [from, to).
double SampleSplit::weight_of(const Piece& piece, const std::vector<double>& rates, TimeNs from,
                              TimeNs to) noexcept {
  if (to <= from) return 0;
  const auto length = static_cast<double>(piece.end_ns - piece.start_ns);
  const double centre = 0.5 * static_cast<double>(from - piece.start_ns + to - piece.start_ns) / length;
  return static_cast<double>(to - from) * piece.pace *
         (rates[head_of(piece.group)] * (1 - centre) + rates[tail_of(piece.group)] * centre);
}

// Computes the weights of the pieces for one replica.
void SampleSplit::perturb(const ColumnRates& rates, std::size_t replica, const OrderedSample& sample) {
  perturbed_.clear();
  const bool drawn = replica != kJitterReplica;
  const std::uint64_t key = drawn_bits(static_cast<std::uint64_t>(sample.start_ns) * kReplicas + replica);
  const double clock_ns = drawn ? kClockDeviationNs * drawn_normal(drawn_bits(replica + 1)) : 0;
  const double edge_ns = drawn ? rates.noise.edge_ns : 0, spread = drawn ? rates.noise.spread : 0;
  const TimeNs lag_ns = rates.lag_ns + std::llround(clock_ns);
  const TimeNs start = sample.start_ns + lag_ns + std::llround(edge_ns * drawn_normal(key));
  const TimeNs end = sample.end_ns() + lag_ns + std::llround(edge_ns * drawn_normal(drawn_bits(key)));
  for (const Piece& piece : pieces_) {
    const double weight = weight_of(piece, rates.replicas[replica], std::max(piece.start_ns, start),
                                    std::min(piece.end_ns, end));
    perturbed_.push_back(
        weight *
        std::max(0.05, 1 + spread * drawn_normal(drawn_bits(key ^ groups_.owners()[piece.owner].number))));
  }
}

void SampleSplit::add_replicas(std::size_t column, const OrderedSample& sample, std::uint32_t units,
                               double background, double all) {
  const ColumnRates& rates = rates_.columns[column];
  const double bytes = units * kUnit;
  if (bytes <= 0) return;
  double all_ns = 0;
  for (const Piece& piece : pieces_) all_ns += std::max(0.0, piece.ns);
  for (const Piece& piece : pieces_) {
    SharedSum& sum = paths_[piece.path].sums[column];
    sum.bytes += bytes * piece.inside * piece.weight / all;
    sum.time_shared += bytes * piece.inside * std::max(0.0, piece.ns) / all_ns;
  }
  const bool settled = background <= 0 && one_path();
  for (std::size_t k = 0; k < kReplicas; ++k) {
    if (settled) {
      for (const Piece& piece : pieces_) {
        paths_[piece.path].sums[column].replicas[k] += bytes * piece.inside * piece.weight / all;
      }
      continue;
    }
    double perturbed_all = background;
    perturb(rates, k, sample);
    for (const double weight : perturbed_) perturbed_all += weight;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const double part = perturbed_all > 0 ? perturbed_[i] / perturbed_all : pieces_[i].weight / all;
      paths_[pieces_[i].path].sums[column].replicas[k] += bytes * pieces_[i].inside * part;
    }
  }
}

}  // namespace rangefinder
