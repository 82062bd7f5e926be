// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/derived.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

constexpr std::string_view kTensor = "sm__ops_path_tensor_";
// The L2's peak: bytes per second, or sectors of 32 bytes. In older traces only the share over the range's
// elapsed time, which includes the time before the kernel began.
constexpr std::string_view kL2Peak = "lts__t_bytes.sum.peak_sustained_elapsed.per_second";
constexpr std::string_view kL2SectorPeak = "lts__t_sectors.sum.peak_sustained_elapsed.per_second";
constexpr std::string_view kL2Share = "lts__t_bytes.sum.pct_of_peak_sustained_elapsed";
constexpr double kSectorBytes = 32;
constexpr double kStandardErrors = 2;  // error of an estimate, for 95 %
constexpr double kUnseen = 0.01;  // share of an estimate's unmeasured part that no measured launch revealed
constexpr double kMarkedCarryOver = 0.10;  // share of DRAM read plus written
constexpr double kSmallShare = 0.01;       // share of operations without a known peak that is ignored

// Thread instructions of a pipe. Two operations each; packed half instructions process two values.
struct Pipe {
  std::string_view metric;
  double operations;
  const char* peak;
};
constexpr std::array kPipes{
    Pipe{"smsp__thread_inst_executed_pipe_fma_pred_on.sum", 2, "fp32"},
    Pipe{"smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum", 2, "fp32"},  // also counted above
    Pipe{"smsp__thread_inst_executed_pipe_fp16_pred_on.sum", 4, "fp32"},
    Pipe{"smsp__thread_inst_executed_pipe_fp64_pred_on.sum", 2, "fp64"},
};

// A tensor metric's type as in GpuRecord::peak_flops; "" if no peak is known.
std::string_view tensor_peak(std::string_view metric) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypes{
      {{"src_fp16", "fp16_tensor"},
       {"src_bf16", "bf16_tensor"},
       {"src_tf32", "tf32_tensor"},
       {"src_fp8", "fp8_tensor"},
       {"src_fp4_fp6_fp8", "fp8_tensor"},
       {"src_int8", "int8_tensor"},
       {"src_fp64", "fp64_tensor"}}};
  for (const auto& [source, peak] : kTypes) {
    if (metric.find(source) != std::string_view::npos) return peak;
  }
  return {};
}

// "src_fp16": the source type of a tensor metric, whichever part of it the metric counts.
std::string_view tensor_type(std::string_view metric) noexcept {
  const std::size_t begin = metric.find("src_");
  if (begin == std::string_view::npos) return metric;
  const std::size_t end = std::min(metric.find("_dst_", begin), metric.find('.', begin));
  return metric.substr(begin, end == std::string_view::npos ? end : end - begin);
}

// Which part of its type a tensor metric counts: 0 all, 1 one instruction, 2 one result type.
int tensor_rank(std::string_view metric) noexcept {
  if (metric.find("_op_") != std::string_view::npos) return 1;
  return metric.find("_dst_") != std::string_view::npos ? 2 : 0;
}

class OperationSum {
 public:
  explicit OperationSum(const GpuPeaks& peaks) : peaks_(peaks) {}

  void add(double operations, double gpu_ns, std::string_view type) {
    any_ = true;
    total_ += operations;
    gpu_ns_ = std::max(gpu_ns_, gpu_ns);
    const auto peak = std::find_if(peaks_.flops.begin(), peaks_.flops.end(),
                                   [&](const auto& known) { return known.first == type; });
    if (peak == peaks_.flops.end() || peak->second <= 0) {
      unknown_ += operations;
    } else {
      peak_ns_ += operations / peak->second * 1e9;
    }
  }
  [[nodiscard]] std::optional<Operations> sum() const {
    if (!any_ || gpu_ns_ <= 0) return std::nullopt;
    Operations out{total_, gpu_ns_, std::nullopt};
    if (unknown_ <= kSmallShare * total_ && !peaks_.flops.empty()) out.peak_share = peak_ns_ / gpu_ns_;
    return out;
  }

 private:
  const GpuPeaks& peaks_;
  bool any_ = false;
  double total_ = 0, unknown_ = 0;
  double gpu_ns_ = 0, peak_ns_ = 0;  // measured time; time of the operations at their peaks
};

void add_tensor_operations(const MetricsByName& metrics, OperationSum& sum) {
  for (const auto& [name, value] : metrics.all()) {
    if (!name.starts_with(kTensor) || !metric_adds_up(name)) continue;
    // Metrics of one type count the same operations: use only the lowest rank that is present.
    const auto covers = [&type_of = name](const auto& other) {
      return other.first.starts_with(kTensor) && metric_adds_up(other.first) &&
             tensor_type(other.first) == tensor_type(type_of) &&
             tensor_rank(other.first) < tensor_rank(type_of);
    };
    if (std::any_of(metrics.all().begin(), metrics.all().end(), covers)) continue;
    sum.add(value.value, value.gpu_ns, tensor_peak(name));
  }
}

std::optional<double> l2_share(std::optional<double> bytes_per_s, const MetricsByName& metrics) {
  const MetricValue* const peak = metrics.find(kL2Peak);
  const MetricValue* const sectors = metrics.find(kL2SectorPeak);
  const double bytes = peak != nullptr ? peak->value : sectors != nullptr ? kSectorBytes * sectors->value : 0;
  if (bytes_per_s && bytes > 0) return *bytes_per_s / bytes;
  const MetricValue* const share = metrics.find(kL2Share);
  return share == nullptr ? std::nullopt : std::optional(share->value / 100);
}

std::optional<Limiter> limiter_of(const Derived& derived) {
  const std::array<std::pair<Limiter, std::optional<double>>, 3> roofs{
      {{Limiter::dram, derived.dram_peak_share},
       {Limiter::l2, derived.l2_peak_share},
       {Limiter::compute, derived.compute_peak_share}}};
  std::optional<Limiter> highest;
  double share = kRoofShare;
  bool all_known = true;
  for (const auto& [limiter, of_roof] : roofs) {
    all_known &= of_roof.has_value();
    if (!of_roof || *of_roof < share) continue;
    highest = limiter;
    share = *of_roof;
  }
  if (highest || !all_known) return highest;
  return Limiter::latency;
}

/// True: the rate was above the peak, and is gone.
bool drop_above_peak(std::optional<double>& rate, std::optional<double>& share) {
  if (share.value_or(0) <= 1) return false;
  rate.reset();
  share.reset();
  return true;
}

std::uint64_t rounded(double value) noexcept {
  return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0)));
}

double estimate_error(const PathTotals& row, double bytes, double variance) noexcept {
  const auto missing = static_cast<double>(row.launches_without_bytes());
  const double unmeasured = missing / (missing + static_cast<double>(row.counters.with_bytes));
  return kStandardErrors * std::sqrt(variance) + kUnseen * unmeasured * bytes;
}

// Bytes that L2 may have carried over the path's boundaries, into it and out of it (schema/README.md).
std::uint64_t carried_bytes(const PathTotals& row, const RowBytes& bytes, const GpuPeaks& peaks) {
  const std::uint64_t borders =
      row.calls == 0 ? bytes.measured_launches : std::min(row.calls, bytes.measured_launches);
  // Not multiplied: the product may exceed 64 bits.
  return borders > bytes.write / peaks.l2_bytes ? bytes.write : borders * peaks.l2_bytes;
}

// Time in which the kernels' bytes moved. Kernel records are most precise, if each of these kernels has one
// and all have bytes. Where kernels overlap, as they may in a shared range, time counts once.
double exact_rate_ns(const PathTotals& row) noexcept {
  const CounterTotals& counters = row.counters;
  if (counters.timed_kernels != counters.kernels || counters.recorded_kernels != counters.kernels) {
    return static_cast<double>(counters.timed_ns);
  }
  std::uint64_t ns = counters.recorded_ns;
  if (row.nodes_made_elsewhere <= row.nodes_launched_elsewhere) ns = std::min(ns, row.gpu_busy_ns);
  return static_cast<double>(ns);
}

/// Busy time covers kernels only. If copies move bytes too, durations are summed.
double rate_time_ns(const PathTotals& row, std::uint64_t work_ns) {
  const bool copies = std::any_of(row.memcpy_bytes.begin(), row.memcpy_bytes.end(),
                                  [](std::uint64_t copied) { return copied != 0; });
  return static_cast<double>(copies ? work_ns : row.run_ns());
}

}  // namespace

std::optional<double> RowBytes::dram_error() const noexcept {
  if (source == Source::gpm) return both_error;
  if (!read_error || !write_error) return std::nullopt;
  return *read_error + *write_error;
}

std::optional<double> RowBytes::error_pct() const noexcept {
  const std::optional<double> error = dram_error();
  if (!is_bounded() || dram() == 0 || !error) return std::nullopt;
  return 100 * *error / static_cast<double>(dram());
}

bool RowBytes::comparable_with(std::uint64_t declared) const noexcept {
  return !carry_over || *carry_over <= declared;
}

bool RowBytes::shows_dram() const noexcept {
  return !is_bounded() || dram_error().value_or(0) <= static_cast<double>(dram());
}

bool RowBytes::shows_l2() const noexcept {
  if (!has_parts()) return false;
  return source != Source::sampled || l2_error.value_or(0) <= static_cast<double>(l2);
}

RowBytes& RowBytes::operator+=(const RowBytes& other) noexcept {
  if (other.source == Source::none) return *this;
  if (source == Source::none) return *this = other;
  const auto add = [](auto& sum, const auto& part) {
    if (sum && part)
      *sum += *part;
    else
      sum.reset();
  };
  const auto weight = static_cast<double>(dram()), added = static_cast<double>(other.dram());
  if (weight + added > 0)
    sampled_share = (sampled_share * weight + other.sampled_share * added) / (weight + added);
  read += other.read;
  write += other.write;
  l2 += other.l2;
  both += other.both;
  add(both_error, other.both_error);
  add(read_error, other.read_error);
  add(write_error, other.write_error);
  add(l2_error, other.l2_error);
  add(carry_over, other.carry_over);
  measured_launches += other.measured_launches;
  missing_launches += other.missing_launches;
  estimated = estimated || other.estimated;
  rate_bytes += other.rate_bytes;
  rate_l2 += other.rate_l2;
  rate_ns += other.rate_ns;
  counter_ns += other.counter_ns;
  samples += other.samples;
  in_graph = in_graph || other.in_graph;
  split = split || other.split;
  return *this;
}

bool marks_carry_over(std::optional<std::uint64_t> carry_over, std::uint64_t dram) noexcept {
  return carry_over && static_cast<double>(*carry_over) > kMarkedCarryOver * static_cast<double>(dram);
}

BoundedText bounded_text(std::uint64_t bytes, std::optional<double> bound, const char* reason) {
  if (!bound || *bound <= 0) return {bytes_text(bytes), ""};
  if (*bound > static_cast<double>(bytes)) return {kNoNumber, reason};
  return {bytes_text(bytes), error_text(100 * *bound / static_cast<double>(bytes))};
}

GpuPeaks common_peaks(const std::vector<GpuRecord>& gpus) {
  GpuPeaks out;
  if (gpus.empty()) return out;
  out.dram_bytes_per_s = gpus.front().peak_dram_bytes_per_s;
  out.flops = gpus.front().peak_flops;
  for (const GpuRecord& gpu : gpus) {
    out.l2_bytes = std::max(out.l2_bytes, gpu.l2_bytes);
    if (gpu.peak_dram_bytes_per_s != out.dram_bytes_per_s) out.dram_bytes_per_s = 0;
    if (gpu.peak_flops != out.flops) out.flops.clear();
  }
  return out;
}

PathTotals kernel_as_path(const KernelTotals& kernel) {
  PathTotals row;
  row.kernels = kernel.count;
  row.timed_kernels = kernel.timed;
  row.gpu_ns = row.gpu_ns_exclusive = row.gpu_busy_ns = kernel.total_ns;
  row.counters = kernel.counters;
  if (kernel.count > kernel.counters.launches)
    row.records_without_exact = kernel.count - kernel.counters.launches;
  row.has_estimate = kernel.estimate.has_value();
  row.estimate = kernel.estimate.value_or(BytesEstimate());
  return row;
}

RowBytes exact_bytes(const PathTotals& row, const GpuPeaks& peaks) {
  const CounterTotals& counters = row.counters;
  RowBytes out;
  out.in_graph = row.nodes_without_bytes() != 0;
  if (counters.with_bytes == 0 || out.in_graph) return out;
  out.source = RowBytes::Source::exact;
  out.read = counters.dram_read_bytes;
  out.write = counters.dram_write_bytes;
  out.l2 = counters.l2_bytes;
  out.measured_launches = counters.with_bytes;
  out.missing_launches = row.launches_without_bytes();
  // Rates cover kernels only, like gpu_ns: copies have bytes here, but are not in the rate.
  out.rate_bytes = static_cast<double>(counters.timed_dram_bytes);
  out.rate_l2 = static_cast<double>(counters.timed_l2_bytes);
  out.rate_ns = exact_rate_ns(row);
  out.counter_ns = static_cast<double>(counters.timed_ns);
  if (row.has_estimate) {
    out.read = rounded(row.estimate.read);
    out.write = rounded(row.estimate.write);
    out.l2 = rounded(row.estimate.l2);
  }
  if (row.has_estimate && row.estimate.complete) {
    out.estimated = true;
    out.read_error = estimate_error(row, row.estimate.read, row.estimate.read_variance);
    out.write_error = estimate_error(row, row.estimate.write, row.estimate.write_variance);
    out.l2_error = estimate_error(row, row.estimate.l2, row.estimate.l2_variance);
  }
  if (peaks.l2_bytes != 0) out.carry_over = carried_bytes(row, out, peaks);
  return out;
}

RowBytes sampled_bytes(const PathTotals& row, const std::array<std::uint64_t, 3>& bytes,
                       std::uint64_t work_ns, std::uint64_t overlap_ns, std::uint64_t estimated_ns) {
  RowBytes out;
  out.source = RowBytes::Source::sampled;
  double covered = 1;  // share of the work's time that the bytes cover
  std::tie(out.read, out.write, out.l2) = std::tuple_cat(bytes);
  if (work_ns != 0) {
    const auto work = static_cast<double>(work_ns);
    out.sampled_share = std::min(1.0, static_cast<double>(overlap_ns) / work);
    covered = std::min(1.0, static_cast<double>(overlap_ns + estimated_ns) / work);
  }
  out.estimated = out.has_gaps() && estimated_ns != 0;
  out.rate_bytes = static_cast<double>(out.dram());
  out.rate_l2 = static_cast<double>(out.l2);
  out.rate_ns = rate_time_ns(row, work_ns) * covered;
  return out;
}

RowBytes gpm_bytes(const PathTotals& row, double bytes, double error, double work_ns, double counted_ns) {
  RowBytes out;
  out.source = RowBytes::Source::gpm;
  out.both = static_cast<std::uint64_t>(bytes);
  out.both_error = error;
  if (work_ns > 0) out.sampled_share = std::min(1.0, counted_ns / work_ns);
  // The rest of the work is assumed to move bytes at the same rate, if it is the smaller part.
  constexpr double kMinSampledShare = 0.5, kEstimatedPart = 0.25;
  if (out.has_gaps() && out.sampled_share >= kMinSampledShare) {
    const double more = bytes * (1 / out.sampled_share - 1);
    out.both = static_cast<std::uint64_t>(bytes + more);
    out.both_error = error + kEstimatedPart * more;
    out.estimated = true;
  }
  out.rate_bytes = bytes;
  out.rate_ns = rate_time_ns(row, static_cast<std::uint64_t>(work_ns)) * out.sampled_share;
  return out;
}

MetricsByName::MetricsByName(const std::vector<MetricValue>& values, const MetricGroups& groups)
    : groups_(&groups) {
  for (const MetricValue& value : values) values_.emplace_back(groups.metric_name(value), value);
  std::stable_sort(values_.begin(), values_.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.launches.n > b.second.launches.n;
  });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  values_.erase(std::unique(values_.begin(), values_.end(), same), values_.end());
}

const MetricValue* MetricsByName::find(std::string_view name) const {
  const auto at = std::lower_bound(values_.begin(), values_.end(), name,
                                   [](const auto& value, std::string_view key) { return value.first < key; });
  return at == values_.end() || at->first != name ? nullptr : &at->second;
}

bool MetricsByName::planned(std::string_view name) const {
  if (groups_ == nullptr) return false;
  return std::any_of(groups_->sets().begin(), groups_->sets().end(), [name](const MetricSetRecord& set) {
    return std::find(set.metrics.begin(), set.metrics.end(), name) != set.metrics.end();
  });
}

std::optional<Operations> operations_of(const MetricsByName& metrics, const GpuPeaks& peaks,
                                        std::uint64_t missing_sets) {
  OperationSum sum(peaks);
  for (const auto& [name, value] : metrics.all()) {
    const bool is_pipe =
        std::any_of(kPipes.begin(), kPipes.end(), [&name](const Pipe& pipe) { return pipe.metric == name; });
    if ((is_pipe || name.starts_with(kTensor)) && (missing_sets >> value.set & 1) != 0) return std::nullopt;
  }
  for (const Pipe& pipe : kPipes) {
    const MetricValue* const value = metrics.find(pipe.metric);
    if (value != nullptr) sum.add(value->value * pipe.operations, value->gpu_ns, pipe.peak);
  }
  add_tensor_operations(metrics, sum);
  return sum.sum();
}

std::string_view limiter_name(Limiter limiter) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"dram", "l2", "compute", "latency"};
  return kNames[static_cast<std::size_t>(limiter)];
}

Derived derive(const PathTotals& row, const RowBytes& bytes, const GpuPeaks& peaks,
               const MetricsByName& metrics) {
  Derived out;
  if (bytes.source == RowBytes::Source::none) return out;
  if (bytes.rate_ns > 0) {
    out.dram_bytes_per_s = bytes.rate_bytes / bytes.rate_ns * 1e9;
    if (bytes.has_parts()) out.l2_bytes_per_s = bytes.rate_l2 / bytes.rate_ns * 1e9;
    if (peaks.dram_bytes_per_s != 0) {
      out.dram_peak_share = *out.dram_bytes_per_s / static_cast<double>(peaks.dram_bytes_per_s);
    }
  }
  out.l2_peak_share = l2_share(out.l2_bytes_per_s, metrics);
  if (bytes.dram() == 0 && bytes.dram_error().value_or(0) > 0) out.dram_bytes_per_s.reset();
  if (bytes.l2 == 0 && bytes.l2_error.value_or(0) > 0) out.l2_bytes_per_s.reset();
  if (!out.dram_bytes_per_s) out.dram_peak_share.reset();
  // Bytes or time of such a row are partly those of other work.
  out.above_peak = drop_above_peak(out.dram_bytes_per_s, out.dram_peak_share);
  out.above_peak |= drop_above_peak(out.l2_bytes_per_s, out.l2_peak_share);
  if (const auto operations = operations_of(metrics, peaks, row.missing_sets)) {
    out.compute_peak_share = operations->peak_share;
    out.flop_per_s = operations->total / operations->gpu_ns * 1e9;
    if (bytes.counter_ns > 0 && bytes.rate_bytes > 0) {
      // Two rates by the same clock: bytes and operations may be from different launches.
      out.flop_per_dram_byte = operations->total / operations->gpu_ns / (bytes.rate_bytes / bytes.counter_ns);
    }
  }
  if (row.declared_bytes != 0) {
    out.dram_amplification = static_cast<double>(bytes.dram()) / static_cast<double>(row.declared_bytes);
    if (bytes.has_parts())
      out.l2_amplification = static_cast<double>(bytes.l2) / static_cast<double>(row.declared_bytes);
  }
  out.limiter = limiter_of(out);
  return out;
}

Derived shown_values(const PathTotals& row, const RowBytes& bytes, Derived derived) noexcept {
  if (!bytes.shows_dram()) {
    if (derived.limiter == Limiter::dram) derived.limiter.reset();
    derived.dram_bytes_per_s.reset();
    derived.dram_peak_share.reset();
    derived.flop_per_dram_byte.reset();
  }
  if (!bytes.shows_dram() || !bytes.comparable_with(row.declared_bytes)) derived.dram_amplification.reset();
  if (!bytes.shows_l2()) {
    if (derived.limiter == Limiter::l2) derived.limiter.reset();
    derived.l2_bytes_per_s.reset();
    derived.l2_peak_share.reset();
    derived.l2_amplification.reset();
  }
  return derived;
}

}  // namespace rangefinder
