// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/iteration_series.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/overview/idle_causes.h"
#include "tools/analysis/read/iterations.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/path_names.h"
#include "tools/analysis/read/trace_reader.h"
#include "tools/analysis/tables/iteration_log.h"
#include "tools/analysis/tables/median.h"
#include "tools/analysis/tables/row_values.h"
#include "tools/analysis/timeline/memory_use.h"

namespace rangefinder {
namespace {

/// The compared iterations, and the batch of each.
struct Batches {
  std::uint64_t first = 0, last = 0;  // [first, last) of all instances
  std::size_t count = 1;
  bool everything = true;  // no iterations: the whole trace is one batch

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
    return static_cast<std::size_t>((iteration - first) * count / (last - first));
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

class SeriesVisitor final : public TraceVisitor {
 public:
  SeriesVisitor(const Iterations& iterations, const Batches& batches)
      : iterations_(iterations), batches_(batches), outside_(iterations) {}

  void line(const Line& line, const LinePlace& place) override {
    beginning_.line(line, place);
    outside_.line(line);
    if (const auto* const alloc = std::get_if<AllocRecord>(&line)) return memory_.add(*alloc);
    if (const auto* const kernel = std::get_if<KernelRecord>(&line)) return take(*kernel);
    if (const auto* const exact = std::get_if<ExactRecord>(&line)) return take(*exact);
    if (std::holds_alternative<SamplesRecord>(line)) sampled_ = true;
    if (const auto* const path = std::get_if<PathRecord>(&line)) paths_.emplace(path->id, *path);
    if (const auto* const name = std::get_if<KernelNameRecord>(&line)) {
      names_.emplace(name->id, name->demangled);
    }
    if (const auto* const header = std::get_if<Header>(&line)) header_ = *header;
    if (const auto* const gpu = std::get_if<GpuRecord>(&line)) gpus_.insert(gpu->name);
  }
  void broken(std::string_view error, const LinePlace& place) override { beginning_.broken(error, place); }

  /// Adds the sums of children to their parents, and merges paths of the same text.
  void finish(IterationSeries& out) {
    out.calls = outside_.result([this](std::uint32_t path) { return text(path); });
    std::vector<std::uint32_t> ids;
    for (const auto& [id, path] : paths_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      const auto own = sums_.find(*id);
      if (own == sums_.end()) continue;
      if (const std::uint32_t up = path_parent(paths_, *id); up != 0) sums_[up] += BatchSums(own->second);
    }
    const std::vector<std::uint64_t> sizes = batches_.sizes();
    std::map<std::string, BatchSums> paths;
    for (const std::uint32_t id : ids) {
      const auto own = sums_.find(id);
      if (own == sums_.end() || outside_.is_outside(id)) continue;
      const auto [at, fresh] = out.paths.try_emplace(text(id));
      if (fresh) at->second = {paths_.at(id).name, path_depth(paths_, id), out.paths.size(), {}};
      paths[at->first] += own->second;
    }
    for (const auto& [path, sums] : paths) out.paths[path].spreads = sums.spreads(sizes);
    finish_kernels(out, sizes);
    memory_.finish();
    const auto memory = memory_.paths().find(0);
    if (batches_.everything || memory == memory_.paths().end() || memory->second.gpu.peak == 0) return;
    const auto peak = static_cast<double>(memory->second.gpu.peak);
    out.of_iterations[Quantity::memory_bytes] = {1, peak, peak, peak, {}};
  }

  [[nodiscard]] const Header& header() const noexcept { return header_; }
  [[nodiscard]] const std::set<std::string>& gpus() const noexcept { return gpus_; }
  [[nodiscard]] bool sampled() const noexcept { return sampled_; }

 private:
  struct OwnKernel {
    BatchSums sums;
    std::unordered_map<std::uint32_t, double> ns_by_path;
  };

  /// Merges kernels of the same name.
  void finish_kernels(IterationSeries& out, const std::vector<std::uint64_t>& sizes) const {
    std::map<std::string, OwnKernel> kernels;
    for (const auto& [id, own] : kernels_) {
      const auto name = names_.find(id);
      OwnKernel& kernel = kernels[name == names_.end() ? "(unknown)" : name->second];
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

  void take(const KernelRecord& kernel) {
    const std::size_t batch = batches_.of(iterations_.last_before(kernel.work));
    if (batch >= batches_.count || kernel.work.start_ns == kNoTime) return;
    const auto ns = static_cast<double>(kernel.work.end_ns - kernel.work.start_ns);
    sums_[kernel.work.path].add(Quantity::gpu_ns, batch, batches_.count, ns);
    OwnKernel& of_name = kernels_[kernel.name];
    of_name.sums.add(Quantity::gpu_ns, batch, batches_.count, ns);
    of_name.ns_by_path[kernel.work.path] += ns;
  }

  void take(const ExactRecord& exact) {
    const std::size_t batch = batches_.of(iterations_.last_before(exact.launch.host.start_ns));
    if (batch >= batches_.count || shares_counter_range(exact)) return;
    if (!exact.measured || !exact.has_bytes) {
      sums_[values_path(exact)].partial_bytes = true;
      kernels_[exact.name].sums.partial_bytes = true;
      return;
    }
    const auto dram = static_cast<double>(exact.dram_read_bytes + exact.dram_write_bytes);
    for (BatchSums* const sums : {&sums_[values_path(exact)], &kernels_[exact.name].sums}) {
      sums->add(Quantity::dram_bytes, batch, batches_.count, dram);
      sums->add(Quantity::l2_bytes, batch, batches_.count, static_cast<double>(exact.l2_bytes));
    }
  }

  std::string text(std::uint32_t path) const {
    return path == 0 ? "(outside of any range)" : path_text(paths_, path);
  }

  const Iterations& iterations_;
  const Batches& batches_;
  OutsideCalls outside_;
  MemoryUse memory_;
  std::unordered_map<std::uint32_t, PathRecord> paths_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::unordered_map<std::uint32_t, BatchSums> sums_;
  std::unordered_map<std::uint32_t, OwnKernel> kernels_;
  Header header_;
  std::set<std::string> gpus_;
  TraceBeginning beginning_;
  bool sampled_ = false;
};

/// The iterations, and their idle time by cause; empty: unknown.
struct IterationTimes {
  IterationLog log;
  std::vector<IdleTime> idle;
};

IterationTimes read_iterations(const TraceFolder& trace, const std::string& glob) {
  struct Visitor final : TraceVisitor {
    explicit Visitor(IterationLog& to) : log(to), causes(to.iterations()) {}
    void line(const Line& line, const LinePlace&) override {
      log.line(line);
      causes.line(line);
      joined.line(line);
    }
    void broken(std::string_view, const LinePlace&) override {}
    IterationLog& log;
    IdleCauses causes;
    JoinedWork joined{[this](const WorkEvent& event) { causes.work(event); }};
  };
  IterationTimes out;
  out.log.begin(find_iterations(trace, glob));
  Visitor visitor(out.log);
  LineReader reader;
  if (!out.log.rows().empty()) static_cast<void>(read_trace(trace, reader, visitor));
  out.log.finish();
  visitor.joined.finish();
  if (visitor.causes.known()) out.idle = visitor.causes.by_iteration();
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
    std::vector<double> values;
    std::vector<std::vector<double>> by_batch(batches.count);
    for (std::uint64_t i = batches.first; i < batches.last; ++i) {
      const IterationTotals& row = times.log.rows()[i];
      const std::optional<double> value =
          is_idle_cause(quantity) ? idle_of(times, i, quantity) : value_of(row, quantity);
      if (!row.seen || row.gap_ns != 0 || !value) continue;
      values.push_back(*value);
      by_batch[batches.of(i)].push_back(*value);
    }
    if (values.empty()) continue;
    std::vector<double> medians;
    for (const std::vector<double>& batch : by_batch) {
      if (!batch.empty()) medians.push_back(median_of(batch));
    }
    out.of_iterations[quantity] = {values.size(), median_of(values), p95_of(values),
                                   *std::max_element(values.begin(), values.end()), trimmed_moments(medians)};
  }
}

void add_sampled(IterationSeries& out, const TraceFolder& files, const Iterations& iterations,
                 const Batches& batches) {
  SelectionOptions compared;
  if (!batches.everything) {
    compared.window.first = iterations.instances[batches.first].start_ns;
    if (batches.last < iterations.instances.size())
      compared.window.last = iterations.instances[batches.last].start_ns;
  }
  Selection selection(compared, iterations);
  const TraceTotals trace = load_trace(files, &selection);
  const RowValues values = load_row_values(trace, &selection);
  const auto n = static_cast<double>(std::max<std::uint64_t>(out.iterations, 1));
  for (const PathTotals& row : trace.totals.paths()) {
    const RowBytes bytes = values.bytes(row);
    if (row.path == 0 || bytes.source != RowBytes::Source::sampled) continue;
    SampledSeries& series = out.sampled[trace.path_text(row.path)];
    series.dram_bytes += static_cast<double>(bytes.dram()) / n;
    series.dram_error += root_sum_square(bytes.read_error.value_or(0), bytes.write_error.value_or(0)) / n;
    series.l2_bytes += static_cast<double>(bytes.l2) / n;
    series.l2_error += bytes.l2_error.value_or(0) / n;
  }
}

}  // namespace

IterationSeries IterationSeries::load(const TraceFolder& trace, const std::string& iteration_range,
                                      const HalfOpen<std::uint64_t>& wanted) {
  if (trace.segments.empty()) {
    throw Missing(trace.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                  "  A comparison needs the trace: copy its files next to the summary.");
  }
  IterationSeries out;
  const IterationTimes times = read_iterations(trace, iteration_range);
  const IterationLog& log = times.log;
  const Iterations& iterations = log.iterations();
  const Batches batches(log, wanted);
  out.iteration_path = iterations.path;
  out.iterations = batches.everything ? 1 : batches.last - batches.first;
  out.batches = batches.count;
  LineReader reader;
  SeriesVisitor visitor(iterations, batches);
  TraceBeginning::end(trace, read_trace(trace, reader, visitor));
  visitor.finish(out);
  add_iterations(out, times, batches);
  out.title = trace.folder.string() + "   " + printable(visitor.header().executable);
  out.header = visitor.header();
  out.gpus = visitor.gpus();
  out.counters = visitor.header().counters;
  const bool exact = std::any_of(out.paths.begin(), out.paths.end(), [](const auto& entry) {
    return entry.second.spreads[static_cast<std::size_t>(Quantity::dram_bytes)].n() != 0;
  });
  if (!exact && visitor.sampled()) add_sampled(out, trace, iterations, batches);
  return out;
}

}  // namespace rangefinder
