// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/row_values.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/trace.h"

namespace rangefinder {
namespace {

// `--split-by`: exact bytes of graph launches, split over the paths of the graphs' nodes.
//
//   exact trace ────▶ bytes of the path that holds the launches ─┐
//   sampled trace ──▶ proportions of the paths below it ─────────┴─▶ bytes of each path, with their bound
//
// Exact counters measure a graph launch as a whole. A sampled trace of the same program has bytes of every
// node. The two traces may have different numbers of iterations: only proportions come from the second.

/// Bytes of graph launches and of what was measured with them: exact, and by samples.
struct Pool {
  std::array<double, kSharedColumns> exact{}, sampled{};
  std::uint64_t measured = 0, missing = 0;  // launches

  void add(const CounterTotals& counters, std::uint64_t missing_launches, const SampledPath* path) {
    exact[kSharedDramRead] += static_cast<double>(counters.dram_read_bytes);
    exact[kSharedDramWrite] += static_cast<double>(counters.dram_write_bytes);
    exact[kSharedL2] += static_cast<double>(counters.l2_bytes);
    measured += counters.with_bytes;
    missing += missing_launches;
    if (path == nullptr) return;
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      sampled[c] += static_cast<double>(path->inclusive[c].bytes);
    }
  }

  /// The part of a path whose bytes are in this pool.
  [[nodiscard]] RowBytes part_of(const PathTotals& row, const SampledPath& path) const {
    std::array<double, kSharedColumns> bytes{}, error{};
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const double scale = sampled[c] > 0 ? exact[c] / sampled[c] : 0;
      bytes[c] = scale * static_cast<double>(path.inclusive[c].bytes);
      error[c] = scale * static_cast<double>(path.inclusive[c].error_bytes);
    }
    const auto whole = [&bytes](std::size_t c) { return static_cast<std::uint64_t>(bytes[c]); };
    RowBytes out =
        sampled_bytes(row, {whole(kSharedDramRead), whole(kSharedDramWrite), whole(kSharedL2)}, 0, 0, 0);
    out.read_error = error[kSharedDramRead];
    out.write_error = error[kSharedDramWrite];
    out.l2_error = error[kSharedL2];
    out.samples = path.samples;
    out.measured_launches = measured;
    out.missing_launches = missing;
    out.split = true;
    return out;
  }
};

bool is_part_of_graph(const PathTotals& row) noexcept {
  return row.nodes_without_bytes() != 0;
}

/// By path of `trace`: the paths whose bytes exact counters have only as part of a graph launch. Paths are
/// matched by their text; those without samples in `other` are omitted.
std::unordered_map<std::uint32_t, RowBytes> split_graph_bytes(const TraceTotals& trace,
                                                              const TraceTotals& other,
                                                              const SampledTotals& samples) {
  std::unordered_map<std::string, const SampledPath*> by_text;
  for (const SampledPath& path : samples.paths) by_text.emplace(other.path_text(path.path), &path);
  const auto sampled = [&](std::uint32_t path) -> const SampledPath* {
    const auto found = by_text.find(trace.path_text(path));
    return found == by_text.end() ? nullptr : found->second;
  };
  const std::vector<PathTotals> rows = trace.totals.paths();
  std::unordered_map<std::uint32_t, const PathTotals*> by_path;
  for (const PathTotals& row : rows) by_path.emplace(row.path, &row);

  // Graphs that were launched at another outermost path than that of their nodes.
  Pool elsewhere;
  for (const PathTotals& row : rows) {
    if (row.depth > 1 || row.nodes_launched_elsewhere == row.nodes_made_elsewhere) continue;
    elsewhere.add(row.counters, row.launches_without_bytes(), sampled(row.path));
  }
  std::unordered_map<std::uint32_t, RowBytes> out;
  for (const PathTotals& row : rows) {
    const SampledPath* const path = sampled(row.path);
    if (path == nullptr || !is_part_of_graph(row)) continue;
    const PathTotals* holder = nullptr;  // the nearest path above that has the bytes of all its graphs
    for (std::uint32_t up = trace.parent_of(row.path); up != 0 && holder == nullptr;
         up = trace.parent_of(up)) {
      const auto above = by_path.find(up);
      if (above != by_path.end() && !is_part_of_graph(*above->second)) holder = above->second;
    }
    Pool pool = elsewhere;
    if (holder != nullptr) {
      pool = {};
      pool.add(holder->counters, holder->launches_without_bytes(), sampled(holder->path));
    }
    if (pool.measured != 0) out.emplace(row.path, pool.part_of(row, *path));
  }
  return out;
}

/// Paths that may get bytes: with at least 1 % of the time of all work, or with calls of 100 ms. The samples
/// are too coarse for the others, which would only take memory.
std::unordered_set<std::uint32_t> paths_with_gpm(const TraceTotals& totals, Trace& trace) {
  constexpr double kMinShare = 0.01;
  constexpr std::uint64_t kLongCallNs = 100'000'000;
  std::unordered_map<std::uint32_t, std::uint64_t> own_ns, ns;
  std::uint64_t all_ns = 0;
  trace.each_chunk([&](const Chunk& chunk) {
    chunk.work(Column::work_times | Column::work_path, [&](const auto& record) {
      if (is_timed(record.work))
        own_ns[record.work.path] += duration_ns(record.work.start_ns, record.work.end_ns);
    });
  });
  for (const auto& [path, of_path] : own_ns) {
    all_ns += of_path;
    std::uint32_t at = path;  // the path and those above it
    do {
      ns[at] += of_path;
      at = totals.parent_of(at);
    } while (at != 0);
  }
  std::unordered_set<std::uint32_t> out;
  for (const PathTotals& row : totals.totals.paths()) {
    const bool is_large = static_cast<double>(ns[row.path]) >= kMinShare * static_cast<double>(all_ns);
    if (is_large || ns[row.path] >= kLongCallNs * std::max<std::uint64_t>(row.calls, 1)) out.insert(row.path);
  }
  return out;
}

/// By path of `totals`, of what `selection` selects; empty: the trace has no bytes of GPM.
std::unordered_map<std::uint32_t, DramShare> gpm_shares(const TraceTotals& totals, Trace& trace,
                                                        const Selection& selection) {
  if (!totals.has_gpm) return {};
  const std::unordered_set<std::uint32_t> shown = paths_with_gpm(totals, trace);
  const auto owner_of = [&](std::uint32_t path) {
    const bool is_outside = path == 0;
    while (path != 0 && shown.count(path) == 0) path = totals.parent_of(path);
    return path != 0 || (is_outside && shown.count(0) != 0) ? path : DramSplit::kNoOwner;
  };
  const SampleWindow window = selection.window();
  DramSplit split;
  trace.each_chunk([&](const Chunk& chunk) {
    for (const Chunk::OtherLine& other : chunk.others) {
      if (const auto* const condition = std::get_if<ConditionRecord>(&other.line)) split.add(*condition);
      if (const auto* const gpu = std::get_if<GpuRecord>(&other.line)) split.add(*gpu);
    }
    chunk.work(SampledTrace::kColumns, [&](const auto& record) {
      std::uint32_t name = 0;
      if constexpr (requires { record.name; }) name = record.name;
      GpuWork work = record.work;
      if (!is_timed(work)) return;
      if (!selection.everything() && !selection.counts(work, name))
        return split.add_work(work, DramSplit::kNoOwner);
      const std::uint32_t owner = owner_of(work.path);
      GpuWork before = work, after = work;
      before.end_ns = std::min(work.end_ns, window.from_ns);
      after.start_ns = std::max(work.start_ns, window.to_ns);
      work.start_ns = std::max(work.start_ns, window.from_ns);
      work.end_ns = std::min(work.end_ns, window.to_ns);
      split.add_work(before, DramSplit::kNoOwner);
      split.add_work(work, owner);
      split.add_work(after, DramSplit::kNoOwner);
    });
  });
  return split.shares([&](std::uint32_t path) {
    const std::uint32_t parent = path == 0 ? 0 : totals.parent_of(path);
    return parent == 0 ? DramSplit::kNoOwner : owner_of(parent);
  });
}

}  // namespace

RowValues::RowValues(const TraceTotals& trace, std::optional<SampledTotals> sampled)
    : context_(trace.gpus, trace.totals), sampled_(std::move(sampled)), exact_truth_(trace.totals.truth()) {}

RowBytes RowValues::bytes(const PathTotals& row) const {
  RowBytes out = exact_bytes(row, context_.peaks);
  if (out.source != RowBytes::Source::none) return out;
  if (const auto part = split_.find(row.path); part != split_.end()) return part->second;
  if (const auto share = gpm_.find(row.path); !sampled_ && share != gpm_.end()) {
    const DramShare& of = share->second;
    // Without a number there is no row: its work is always beside that of others.
    if (of.error <= of.bytes) return gpm_bytes(row, of.bytes, of.error, of.work_ns, of.counted_ns);
  }
  if (!sampled_) return out;
  const SampledPath* const path = sampled_->find(row.path);
  if (path == nullptr) return out;
  const auto& [read, write, l2] = path->inclusive;
  out = sampled_bytes(row, {read.bytes, write.bytes, l2.bytes}, path->inclusive_work_ns,
                      path->inclusive_overlap_ns, path->inclusive_estimated_ns);
  out.read_error = static_cast<double>(read.error_bytes);
  out.write_error = static_cast<double>(write.error_bytes);
  out.l2_error = static_cast<double>(l2.error_bytes);
  out.samples = path->samples;
  out.inseparable = path->inseparable;
  return out;
}

RowBytes RowValues::bytes(const KernelTotals& kernel) const {
  const PathTotals row = kernel_as_path(kernel);
  RowBytes out = exact_bytes(row, context_.peaks);
  const SampledKernel* const of = sampled_kernel(kernel.name);
  if (out.source != RowBytes::Source::none || of == nullptr) return out;
  return sampled_bytes(row, of->bytes, of->work_ns, of->overlap_ns, of->estimated_ns);
}

bool RowValues::split_by(const TraceTotals& trace, const TraceTotals& other, const SampledTotals& samples) {
  split_ = split_graph_bytes(trace, other, samples);
  return !split_.empty();
}

Derived RowValues::derived(const PathTotals& row) const {
  return derive(row, bytes(row), context_.peaks, context_.metrics_of(row.path));
}

Derived RowValues::shown(const PathTotals& row) const {
  return shown_values(row, bytes(row), derived(row));
}

const SampledKernel* RowValues::sampled_kernel(std::uint32_t name) const noexcept {
  if (!sampled_ || name == 0) return nullptr;
  const auto& kernels = sampled_->kernels;
  const auto at =
      std::lower_bound(kernels.begin(), kernels.end(), name,
                       [](const SampledKernel& kernel, std::uint32_t id) { return kernel.name < id; });
  return at == kernels.end() || at->name != name ? nullptr : &*at;
}

const CopyTruth& RowValues::truth() const noexcept {
  return exact_truth_.copies != 0 || !sampled_ ? exact_truth_ : sampled_->truth;
}

void EstimateRemark::add(std::uint64_t gpu_ns, const RowBytes& bytes) {
  if (!bytes.estimated || bytes.source != RowBytes::Source::exact) return;
  if (heaviest_ && gpu_ns <= heaviest_ns_) return;
  heaviest_ = bytes;
  heaviest_ns_ = gpu_ns;
}

std::string EstimateRemark::text(const char* row) const {
  if (!heaviest_) return "";
  const double error = heaviest_->dram_error().value_or(0);
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(1, heaviest_->dram()));
  std::string out = "Metric sets alternate: bytes of all launches are estimated from the measured ones. ";
  out += std::string("DRAM bytes of the heaviest ") + row + " may be wrong by " +
         error_text(100 * error / bytes) +
         ", so an estimate for fewer iterations may exceed that for more.\n";
  return out;
}

RowValues load_row_values(const TraceTotals& totals, Trace& trace, const Selection& selection) {
  std::optional<SampledTrace> samples;
  if (totals.samples_lines != 0) samples = SampledTrace::load(trace, &selection);
  RowValues out(totals, samples ? std::optional(samples->totals()) : std::nullopt);
  if (!samples) out.set_gpm(gpm_shares(totals, trace, selection));
  return out;
}

std::unique_ptr<TracePart> part_from(std::size_t first, Iterations iterations, Trace& trace,
                                     const TraceTotals& whole, std::optional<RowValues>& values,
                                     const SeeSamples& see) {
  Selection later({.iterations = {first, {}}, .between = true}, std::move(iterations));
  auto out = std::make_unique<TracePart>();
  TotalsFold totals(out->trace, &later);
  trace.each_chunk([&totals](const Chunk& chunk) { totals.add(chunk); });
  totals.finish();
  static_cast<TraceNames&>(out->trace) = trace.names();
  std::optional<SampledTrace> samples;
  if (whole.samples_lines != 0) samples = SampledTrace::load(trace, &later);
  values.emplace(whole, samples ? std::optional(samples->whole()) : std::nullopt);
  out->values.emplace(out->trace, samples ? std::optional(samples->totals()) : std::nullopt);
  if (samples && see) see(out->trace, *samples);
  if (!samples) {
    values->set_gpm(gpm_shares(whole, trace, Selection()));
    out->values->set_gpm(gpm_shares(out->trace, trace, later));
  }
  return out;
}

}  // namespace rangefinder
