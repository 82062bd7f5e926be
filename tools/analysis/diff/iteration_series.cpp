// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/iteration_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/idle_causes.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/memory_use.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {
namespace {

/// The compared iterations, and the batch of each.
struct Batches {
  std::uint64_t first = 0, last = 0;  // [first, last) of all instances
  std::size_t count = 1;
  bool everything = true;  // no iterations: the whole trace is one batch
  mutable std::pair<std::size_t, std::size_t> latest{Iterations::kNone, 0};  // iteration, batch

  Batches(const IterationLog& log, const HalfOpen<std::uint64_t>& wanted) {
    const std::uint64_t all = log.rows().size();
    if (all == 0) return;
    everything = false;
    first = std::min(all, wanted.first.value_or(log.warm_up()));
    last = std::min(all, wanted.last.value_or(all));
    if (first >= last)
      throw Missing("no iteration selected: " + log.iterations().path + " has " + count_text(all));
    count = static_cast<std::size_t>(std::min<std::uint64_t>(last - first, kMaxBatches));
  }

  /// `count`: the iteration is in no batch.
  [[nodiscard]] std::size_t of(std::size_t iteration) const noexcept {
    if (everything) return 0;
    if (iteration == Iterations::kNone || iteration < first || iteration >= last) return count;
    if (iteration != latest.first)  // a division for each kernel is slow
      latest = {iteration, static_cast<std::size_t>((iteration - first) * count / (last - first))};
    return latest.second;
  }

  /// Iterations in each batch.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> out(count, everything ? 1 : 0);
    for (std::uint64_t i = first; i < last; ++i) ++out[of(i)];
    return out;
  }
};

/// Sums by batch of one path or kernel.
struct BatchSums {
  std::array<std::vector<double>, kQuantities> sums;  // by Quantity, then batch; empty: never measured
  bool partial_bytes = false;                         // some launches have no bytes

  void add(Quantity quantity, std::size_t batch, std::size_t batches, double value) {
    auto& own = sums[static_cast<std::size_t>(quantity)];
    if (own.empty()) own.resize(batches);
    own[batch] += value;
  }

  [[nodiscard]] bool empty() const noexcept {
    return !partial_bytes &&
           std::all_of(sums.begin(), sums.end(), [](const auto& own) { return own.empty(); });
  }

  BatchSums& operator+=(const BatchSums& other) {
    for (std::size_t q = 0; q < kQuantities; ++q) {
      if (sums[q].size() < other.sums[q].size()) sums[q].resize(other.sums[q].size());
      for (std::size_t i = 0; i < other.sums[q].size(); ++i) sums[q][i] += other.sums[q][i];
    }
    partial_bytes = partial_bytes || other.partial_bytes;
    return *this;
  }

  [[nodiscard]] Spreads spreads(const std::vector<std::uint64_t>& batch_sizes) const {
    Spreads out;
    for (std::size_t q = 0; q < kQuantities; ++q) {
      if (partial_bytes && static_cast<Quantity>(q) != Quantity::gpu_ns) continue;
      std::vector<double> per_iteration;
      for (std::size_t i = 0; i < sums[q].size(); ++i) {
        per_iteration.push_back(sums[q][i] / static_cast<double>(batch_sizes[i]));
      }
      out[q] = trimmed_moments(std::move(per_iteration));
    }
    return out;
  }
};

/// Sums by path, kernel and batch.
class SeriesSums {
 public:
  SeriesSums(const TraceNames& names, const Iterations& iterations, const Batches& batches)
      : names_(names), iterations_(iterations), batches_(batches), outside_(iterations) {}

  static constexpr Columns kColumns = kWorkOfIteration | Column::work_path | Column::work_name |
                                      Column::exact | Column::range_times | Column::range_thread |
                                      Column::range_path | Column::range_id | Column::allocs;
  void add(const SelectedRows& rows) {
    rows.each<AllocRecord>(kColumns, [this](const AllocRecord& alloc, bool) { memory_.add(alloc); });
    rows.ranges(kColumns, [this](const RangeRecord& range, bool) { outside_.add(range); });
    rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) { measured_.add(set); });
    rows.exact([this](const ExactRecord& exact, bool) { put(exact); });
    rows.work(kColumns, [this](const auto& record, bool) {
      if constexpr (is_kernel_record<decltype(record)>) {
        outside_.add(record);
        put(record);
      }
    });
  }

  [[nodiscard]] const MeasuredKernels& measured() const noexcept { return measured_; }

  /// Adds the sums of children to their parents, and merges paths of the same text.
  void finish(IterationSeries& out) {
    out.calls = outside_.result([this](std::uint32_t path) { return text(path); },
                                [this](std::uint32_t path) { return names_.parent_of(path); });
    std::vector<std::uint32_t> ids;
    for (const auto& [id, path] : names_.paths) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      const std::uint32_t up = names_.parent_of(*id);
      if (up != 0 && !sums_of(*id).empty()) sums_of(up) += sums_of(*id);
    }
    const std::vector<std::uint64_t> sizes = batches_.sizes();
    std::map<std::string, BatchSums> paths;
    for (const std::uint32_t id : ids) {
      const BatchSums& own = sums_of(id);
      if (own.empty() || outside_.is_outside(id)) continue;
      const auto [at, fresh] = out.paths.try_emplace(text(id));
      if (fresh) at->second = {names_.paths.at(id).name, path_depth(names_.paths, id), out.paths.size(), {}};
      paths[at->first] += own;
    }
    for (const auto& [path, sums] : paths) out.paths[path].spreads = sums.spreads(sizes);
    finish_kernels(out, sizes);
    memory_.finish();
    const auto memory = memory_.paths().find(0);
    if (batches_.everything || memory == memory_.paths().end() || memory->second.gpu.peak == 0) return;
    const auto peak = static_cast<double>(memory->second.gpu.peak);
    out.of_iterations[Quantity::memory_bytes] = {1, peak, peak, peak, {}};
  }

 private:
  struct OwnKernel {
    std::uint32_t name = 0;
    BatchSums sums;
    std::unordered_map<std::uint32_t, double> ns_by_path;
    /// Elements of ns_by_path, by the lower bits of the path: most launches repeat one of a few.
    std::array<std::pair<std::uint32_t, double*>, 64> latest{};
  };

  /// Merges kernels of the same name.
  void finish_kernels(IterationSeries& out, const std::vector<std::uint64_t>& sizes) const {
    std::map<std::string, OwnKernel> kernels;
    for (const OwnKernel& own : kernels_) {
      const auto name = names_.kernel_names.find(own.name);
      OwnKernel& kernel = kernels[name == names_.kernel_names.end() ? "(unknown)" : name->second.demangled];
      kernel.sums += own.sums;
      for (const auto& [path, ns] : own.ns_by_path) kernel.ns_by_path[path] += ns;
    }
    for (const auto& [name, kernel] : kernels) {
      std::map<std::string, double> by_text;
      for (const auto& [path, ns] : kernel.ns_by_path) by_text[text(path)] += ns;
      const auto most = std::max_element(by_text.begin(), by_text.end(),
                                         [](const auto& x, const auto& y) { return x.second < y.second; });
      out.kernels[name] = {kernel.sums.spreads(sizes), most == by_text.end() ? "" : most->first};
    }
  }

  void put(const KernelRecord& kernel) {
    const std::size_t batch = batches_.of(iterations_.last_before(kernel.work));
    if (batch >= batches_.count || kernel.work.start_ns == kNoTime) return;
    const auto ns = static_cast<double>(kernel.work.end_ns - kernel.work.start_ns);
    sums_of(kernel.work.path).add(Quantity::gpu_ns, batch, batches_.count, ns);
    OwnKernel& of_name = kernel_of(kernel.name);
    of_name.sums.add(Quantity::gpu_ns, batch, batches_.count, ns);
    auto& [path, sum_ns] = of_name.latest[kernel.work.path % of_name.latest.size()];
    if (sum_ns == nullptr || path != kernel.work.path) {
      path = kernel.work.path;
      sum_ns = &of_name.ns_by_path[path];
    }
    *sum_ns += ns;
  }

  /// Ids of shown paths are dense.
  BatchSums& sums_of(std::uint32_t path) {
    if (path >= sums_.size()) sums_.resize(path + std::size_t{1} + sums_.size() / 2);
    return sums_[path];
  }
  OwnKernel& kernel_of(std::uint32_t name) {
    if (positions_.find(name) == DenseIds::kNone) {
      positions_.set(name, static_cast<std::uint32_t>(kernels_.size()));
      kernels_.emplace_back().name = name;
    }
    return kernels_[positions_.find(name)];
  }

  void put(const ExactRecord& exact) {
    const std::size_t batch = batches_.of(iterations_.last_before(exact.launch.host.start_ns));
    if (batch < batches_.count) measured_.add(exact);
    if (batch >= batches_.count || shares_counter_range(exact)) return;
    if (!exact.measured || !exact.has_bytes) {
      sums_of(values_path(exact)).partial_bytes = true;
      kernel_of(exact.name).sums.partial_bytes = true;
      return;
    }
    const auto dram = static_cast<double>(exact.dram_read_bytes + exact.dram_write_bytes);
    for (BatchSums* const sums : {&sums_of(values_path(exact)), &kernel_of(exact.name).sums}) {
      sums->add(Quantity::dram_bytes, batch, batches_.count, dram);
      sums->add(Quantity::l2_bytes, batch, batches_.count, static_cast<double>(exact.l2_bytes));
    }
  }

  std::string text(std::uint32_t path) const {
    return path == 0 ? "(outside of any range)" : names_.path_text(path);
  }

  const TraceNames& names_;
  const Iterations& iterations_;
  const Batches& batches_;
  OutsideCalls outside_;
  MemoryUse memory_;
  MeasuredKernels measured_;
  std::vector<BatchSums> sums_;  // by path
  DenseIds positions_;           // in kernels_, by name
  std::deque<OwnKernel> kernels_;
};

/// The iterations, and their idle time by cause; empty: unknown.
struct IterationTimes {
  IterationLog log;
  std::vector<IdleTime> idle;
};

IterationTimes iteration_times(Trace& trace, Iterations found) {
  IterationTimes out;
  out.log.begin(std::move(found));
  IdleCauses causes(out.log.iterations());
  if (!out.log.rows().empty()) {
    Selection all;
    trace.each_chunk([&](const Chunk& chunk) {
      const SelectedRows rows(chunk, trace.names(), all, true);
      out.log.add(rows);
      causes.add(rows);
    });
  }
  out.log.finish();
  causes.finish();
  if (causes.known()) out.idle = causes.by_iteration();
  return out;
}

std::optional<double> value_of(const IterationTotals& row, Quantity quantity) {
  std::optional<std::uint64_t> out;
  if (quantity == Quantity::wall_ns) out = row.wall_ns;
  if (quantity == Quantity::busy_ns) out = row.busy_ns;
  if (quantity == Quantity::idle_ns) out = row.idle_ns();
  if (quantity == Quantity::host_ns) out = row.host_ns;
  if (quantity == Quantity::launches) out = row.launches;
  if (quantity == Quantity::kernels) out = row.kernels;
  return out ? std::optional(static_cast<double>(*out)) : std::nullopt;
}

std::optional<double> idle_of(const IterationTimes& times, std::size_t iteration, Quantity quantity) {
  if (times.idle.empty() || !times.log.rows()[iteration].wall_ns) return {};
  const auto cause = static_cast<std::size_t>(quantity) - static_cast<std::size_t>(Quantity::idle_copies_ns);
  return static_cast<double>(times.idle[iteration][cause]);
}

void add_iterations(IterationSeries& out, const IterationTimes& times, const Batches& batches) {
  for (auto quantity = Quantity::wall_ns; quantity < Quantity::memory_bytes;
       quantity = static_cast<Quantity>(static_cast<int>(quantity) + 1)) {
    std::vector<std::vector<double>> by_batch(batches.count);
    for (std::uint64_t i = batches.first; i < batches.last; ++i) {
      const IterationTotals& row = times.log.rows()[i];
      const std::optional<double> value =
          is_idle_cause(quantity) ? idle_of(times, i, quantity) : value_of(row, quantity);
      if (!row.seen || row.gap_ns != 0 || !value) continue;
      by_batch[batches.of(i)].push_back(*value);
    }
    if (const std::optional<IterationValues> all = iteration_values(by_batch))
      out.of_iterations[quantity] = *all;
  }
}

/// `launches`: those that sums in `values` are of.
MetricValues metric_values(const NamedValues& values, std::uint64_t launches) {
  MetricValues out;
  for (const NamedValue& value : values.all()) {
    const bool sums = value.metric->form == MetricForm::sum;
    out[value.metric->name] =
        value.value / static_cast<double>(sums ? std::max<std::uint64_t>(launches, 1) : 1);
  }
  return out;
}

void add_sampled(IterationSeries& out, const TraceTotals& totals, const RowValues& values) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(out.iterations, 1));
  for (const PathTotals& row : totals.totals.paths()) {
    const RowBytes bytes = values.bytes(row);
    if (row.path == 0 || bytes.source != RowBytes::Source::sampled) continue;
    SampledSeries& series = out.sampled[totals.path_text(row.path)];
    series.dram_bytes += static_cast<double>(bytes.dram()) / n;
    series.dram_error += root_sum_square(bytes.read_error.value_or(0), bytes.write_error.value_or(0)) / n;
    series.l2_bytes += static_cast<double>(bytes.l2) / n;
    series.l2_error += bytes.l2_error.value_or(0) / n;
  }
}

void add_metrics(IterationSeries& out, const TraceTotals& totals, const RowValues& values,
                 const MeasuredKernels& measured) {
  for (const PathTotals& row : totals.totals.paths()) {
    const auto path = row.path == 0 ? out.paths.end() : out.paths.find(totals.path_text(row.path));
    if (path == out.paths.end()) continue;
    const NamedValues named(values.context().metrics_of(row.path), values.derived(row), row.missing_sets);
    path->second.metrics = metric_values(named, row.kernels);
  }
  for (const auto& [name, kernel] : measured.all(totals.selected().kernels(), values.context().peaks)) {
    const auto known = totals.kernel_names.find(name);
    if (known == totals.kernel_names.end()) continue;
    const auto row = out.kernels.find(known->second.demangled);
    if (row != out.kernels.end()) row->second.metrics = metric_values(kernel.values, kernel.launches);
  }
}

/// What needs the totals of the compared time: sampled bytes, and metrics.
void add_values(IterationSeries& out, Trace& trace, const Iterations& iterations, const Batches& batches,
                const MeasuredKernels& measured) {
  SelectionOptions compared;
  if (!batches.everything) {
    compared.iterations = {batches.first, batches.last};
    compared.between = true;
  }
  Selection selection(compared, iterations);
  const TraceTotals totals = load_totals(trace, selection);
  const RowValues values = load_row_values(totals, trace, selection);
  add_sampled(out, totals, values);
  add_metrics(out, totals, values, measured);
}

/// From the start of the first compared iteration to the end of the last one's GPU work; without iterations
/// until `end_ns`.
std::pair<TimeNs, TimeNs> compared_span(const IterationLog& log, const Batches& batches, TimeNs end_ns) {
  if (batches.everything) return {0, end_ns};
  const TimeNs first_ns = log.iterations().instances[batches.first].start_ns;
  return {first_ns, std::max(first_ns, log.rows()[batches.last - 1].last_gpu_ns)};
}

std::string clock_text(const GpuRecord& gpu) {
  constexpr std::uint64_t kKhzPerMhz = 1000;
  if (gpu.sm_clock_khz == 0 || gpu.memory_clock_khz == 0) return "";
  return "SM " + std::to_string(gpu.sm_clock_khz / kKhzPerMhz) + " MHz, memory " +
         std::to_string(gpu.memory_clock_khz / kKhzPerMhz) + " MHz";
}

constexpr Columns kSeriesColumns = IterationLog::kColumns | IdleCauses::kColumns | SeriesSums::kColumns;

}  // namespace

std::optional<IterationValues> iteration_values(const std::vector<std::vector<double>>& by_batch) {
  std::vector<double> values, medians;
  for (const std::vector<double>& batch : by_batch) {
    if (batch.empty()) continue;
    values.insert(values.end(), batch.begin(), batch.end());
    medians.push_back(median_of(batch));
  }
  if (values.empty()) return {};
  return IterationValues{values.size(), median_of(values), p95_of(values),
                         *std::max_element(values.begin(), values.end()), trimmed_moments(medians)};
}

const Columns IterationSeries::kColumns = kSeriesColumns | TotalsFold::kColumns;

IterationSeries IterationSeries::load(const TraceFolder& trace, const std::string& iteration_range,
                                      const HalfOpen<std::uint64_t>& wanted, const ReadLimits& limits) {
  if (trace.segments.empty()) {
    throw Missing(trace.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                  "  A comparison needs the trace: copy its files next to the summary.");
  }
  Trace rows(trace, {kColumns, SampledTrace::kColumns, kIterationColumns, Keep::yes, limits});
  Iterations found = find_iterations(rows, iteration_range);
  return of(rows, std::move(found), wanted);
}

IterationSeries IterationSeries::of(Trace& rows, Iterations found, const HalfOpen<std::uint64_t>& wanted) {
  IterationSeries out;
  const IterationTimes times = iteration_times(rows, std::move(found));
  const IterationLog& log = times.log;
  const Iterations& iterations = log.iterations();
  const Batches batches(log, wanted);
  out.iteration_path = iterations.path;
  out.iterations = batches.everything ? 1 : batches.last - batches.first;
  out.batches = batches.count;
  const TraceNames& names = rows.names();
  SeriesSums sums(names, iterations, batches);
  Selection all;
  bool sampled = false;
  ConditionLog conditions;
  rows.each_chunk([&](const Chunk& chunk) {
    const SelectedRows selected(chunk, names, all, true);
    sums.add(selected);
    selected.lines<ConditionRecord>([&](const ConditionRecord& record) { conditions.add(record); });
    sampled = sampled || chunk.counts.samples != 0;
  });
  sums.finish(out);
  add_iterations(out, times, batches);
  const auto [first_ns, last_ns] = compared_span(log, batches, conditions.last_ns());
  out.conditions = run_conditions(conditions, first_ns, last_ns);
  out.title = names.files.folder.string() + "   " + printable(names.header.executable);
  out.header = names.header;
  for (const GpuRecord& gpu : names.gpus) {
    out.gpus.insert(gpu.name);
    if (std::string clocks = clock_text(gpu); !clocks.empty()) out.clocks.insert(std::move(clocks));
  }
  out.counters = names.header.counters;
  if (sampled || out.counters == "exact") add_values(out, rows, iterations, batches, sums.measured());
  return out;
}

}  // namespace rangefinder
