// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/totals_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "schema/key_names.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

double to_decimals(double value, double scale) {
  return std::round(value * scale) / scale;
}

std::optional<double> error_percent(std::optional<double> error, std::uint64_t bytes) {
  if (!error || *error <= 0 || bytes == 0) return std::nullopt;
  return to_decimals(100 * *error / static_cast<double>(bytes), 100);
}

/// Samples whose share is 0 with an error did not measure 0.
bool is_known(std::uint64_t bytes, std::optional<double> error) {
  return bytes != 0 || error.value_or(0) <= 0;
}

/// "l2_error_pct"; of 0 bytes "l2_error_bytes".
void add_error(OrderedJson& out, const std::string& name, std::optional<double> error, std::uint64_t bytes) {
  if (const auto percent = error_percent(error, bytes)) out[name + "_error_pct"] = *percent;
  if (!is_known(bytes, error)) out[name + "_error_bytes"] = static_cast<std::uint64_t>(std::ceil(*error));
}

// Absent unless something was measured: an empty sum is not 0.
void add_bytes(OrderedJson& out, const RowBytes& bytes) {
  if (bytes.source == RowBytes::Source::none) {
    if (bytes.in_graph) out["bytes_reason"] = "graph";
    return;
  }
  if (!bytes.has_parts()) {
    out["dram_bytes"] = bytes.dram();
    out["bytes_source"] = "gpm";
    if (const auto error = bytes.error_pct()) out["bytes_error_pct"] = to_decimals(*error, 100);
    if (bytes.has_gaps()) out["sampled_share"] = to_decimals(bytes.sampled_share, 1e4);
    if (bytes.estimated) out["bytes_estimated"] = true;
    return;
  }
  out["dram_read_bytes"] = bytes.read;
  out["dram_write_bytes"] = bytes.write;
  out["l2_bytes"] = bytes.l2;
  const bool exact = bytes.source == RowBytes::Source::exact;
  out["bytes_source"] = exact ? "exact" : bytes.split ? "split" : "sampled";
  if (const auto error = bytes.error_pct()) out["bytes_error_pct"] = to_decimals(*error, 100);
  add_error(out, "dram_read", bytes.read_error, bytes.read);
  add_error(out, "dram_write", bytes.write_error, bytes.write);
  add_error(out, "l2", bytes.l2_error, bytes.l2);
  if (bytes.carry_over) out["carry_over_bytes"] = *bytes.carry_over;
  if (exact) {
    out["measured_launches"] = bytes.measured_launches;
    if (bytes.missing_launches != 0) out["launches"] = bytes.measured_launches + bytes.missing_launches;
  } else {
    if (bytes.samples != 0) out["samples"] = bytes.samples;
    if (bytes.has_gaps()) out["sampled_share"] = to_decimals(bytes.sampled_share, 1e4);
  }
  if (bytes.estimated) out["bytes_estimated"] = true;
  if (bytes.inseparable != 0) out["inseparable"] = bytes.inseparable;
}

void add_rate(OrderedJson& out, const char* key, std::optional<double> per_s) {
  if (per_s) out[key] = static_cast<std::uint64_t>(std::llround(*per_s));
}

std::optional<double> ratio(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return to_decimals(*value, 1e4);
}

void add_ratio(OrderedJson& out, const char* key, std::optional<double> value) {
  if (const auto rounded = ratio(value)) out[key] = *rounded;
}

void add_derived(OrderedJson& out, const Derived& derived) {
  add_rate(out, "dram_bytes_per_s", derived.dram_bytes_per_s);
  add_ratio(out, "dram_peak_share", derived.dram_peak_share);
  add_rate(out, "l2_bytes_per_s", derived.l2_bytes_per_s);
  add_ratio(out, "l2_peak_share", derived.l2_peak_share);
  add_ratio(out, "compute_peak_share", derived.compute_peak_share);
  add_ratio(out, "flop_per_dram_byte", derived.flop_per_dram_byte);
  if (derived.limiter) out["limiter"] = limiter_name(*derived.limiter);
  add_ratio(out, "dram_amplification", derived.dram_amplification);
  add_ratio(out, "l2_amplification", derived.l2_amplification);
}

void add_rotation(OrderedJson& out, const PathTotals& row, const MetricGroups& groups) {
  if (row.unstable) out["unstable"] = true;
  for (std::size_t i = 0; i < groups.sets().size(); ++i) {
    if ((row.missing_sets >> i & 1) != 0) out["missing_sets"].push_back(groups.sets()[i].name);
  }
}

void add_metrics(OrderedJson& out, const MetricsByName& metrics) {
  for (const auto& [name, value] : metrics.all()) {
    OrderedJson& metric = out["metrics"][name];
    metric["value"] = value.value;
    metric["n"] = value.launches.n;
    metric["mean"] = value.launches.mean;
    metric["stddev"] = value.launches.deviation();
  }
}

constexpr auto kThrottle = static_cast<std::size_t>(Condition::throttle);

void add_condition(OrderedJson& out, std::size_t condition, const HeldValues& values) {
  const std::string key(kConditions[condition].key);
  if (condition == kThrottle) {
    OrderedJson& times = out["throttle_ms"] = OrderedJson::object();
    for (const auto& [reason, ns] : throttle_times_ns(values)) times[std::string(reason)] = ns / kNsPerMs;
  } else if (kConditions[condition].counts) {
    out[key] = values.growth();
  } else {
    out[key] = {{"min", values.min()}, {"median", values.median()}, {"max", values.max()}};
  }
}

OrderedJson subject_object(const char* key, std::uint32_t id, const ConditionTotals::Values& values) {
  OrderedJson out = OrderedJson::object();
  if (key != nullptr) out[key] = id;
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (!values[i].empty()) add_condition(out, i, values[i]);
  }
  return out;
}

}  // namespace

MetricsByName RowContext::metrics_of(std::uint32_t path) const {
  const auto at = metrics.find(path);
  return at == metrics.end() ? MetricsByName() : MetricsByName(at->second, *groups);
}

void add_totals(OrderedJson& out, const PathTotals& row, const RowBytes& bytes, const RowContext& context) {
  out["kernels"] = row.kernels;
  if (row.graphs != 0) out["graphs"] = row.graphs;
  const bool timed = row.timed_kernels != 0 || row.timed_graphs != 0 || row.gpu_ns != 0;
  // Kernels without times have an unknown duration, not 0.
  if (row.has_gpu_time()) {
    out["gpu_ns"] = row.gpu_ns;
    out["gpu_ns_exclusive"] = row.gpu_ns_exclusive;
  }
  if (timed) out["gpu_busy_ns"] = row.gpu_busy_ns;
  out["host_ns"] = row.host_ns;
  if (timed) out["time_source"] = "activity";
  const MetricsByName metrics = context.metrics_of(row.path);
  add_bytes(out, bytes);
  if (row.counters.unmeasured != 0) out["unmeasured_launches"] = row.counters.unmeasured;
  if (row.counters.not_exclusive != 0) out["not_exclusive_ranges"] = row.counters.not_exclusive;
  if (row.declared_bytes != 0) out["declared_bytes"] = row.declared_bytes;
  for (std::size_t kind = 0; kind < kCopyKinds; ++kind) {
    if (row.memcpy_bytes[kind] == 0) continue;
    out["memcpy_bytes"][std::string(kCopyKindNames[kind])] = row.memcpy_bytes[kind];
  }
  const Derived derived = derive(row, bytes, context.peaks, metrics);
  add_derived(out, derived);
  add_named(out, NamedValues(metrics, derived, row.missing_sets));
  add_rotation(out, row, *context.groups);
  add_metrics(out, metrics);
}

void add_named(OrderedJson& out, const NamedValues& values) {
  for (const NamedValue& value : values.all()) {
    out["named"][value.metric->name] = to_decimals(value.value, std::abs(value.value) < 1000 ? 1e4 : 1);
    if (value.part != nullptr) out["named"][value.metric->name + std::string("_part")] = value.part->title;
  }
}

LayerRow layer_row(const PathTotals& row, const RowBytes& bytes, const RowContext& context) {
  LayerRow out;
  out.depth = row.depth;
  out.calls = row.calls;
  out.kernels = row.kernels;
  if (row.has_gpu_time()) out.gpu_ns = row.gpu_ns;
  const Derived derived = derive(row, bytes, context.peaks, context.metrics_of(row.path));
  out.dram_peak_share = ratio(derived.dram_peak_share);
  if (derived.limiter) out.limiter = limiter_name(*derived.limiter);
  out.partial = row.counters.unmeasured != 0;
  if (!bytes.has_parts()) return out;
  if (is_known(bytes.read, bytes.read_error)) out.dram_read_bytes = bytes.read;
  if (is_known(bytes.write, bytes.write_error)) out.dram_write_bytes = bytes.write;
  if (is_known(bytes.l2, bytes.l2_error)) out.l2_bytes = bytes.l2;
  out.carry_over_bytes = bytes.carry_over;
  if (bytes.source == RowBytes::Source::sampled) {
    if (const auto error = bytes.error_pct()) out.bytes_error_pct = to_decimals(*error, 100);
    out.read_error_pct = error_percent(bytes.read_error, bytes.read);
    out.write_error_pct = error_percent(bytes.write_error, bytes.write);
    out.l2_error_pct = error_percent(bytes.l2_error, bytes.l2);
  }
  const bool gaps = bytes.source == RowBytes::Source::exact ? bytes.missing_launches != 0 : bytes.has_gaps();
  out.partial = !bytes.estimated && (out.partial || gaps);
  return out;
}

void add_kernel_bytes(OrderedJson& out, const KernelTotals& kernel, const RowBytes& bytes) {
  if (bytes.source != RowBytes::Source::none) {
    out["dram_read_bytes"] = bytes.read;
    out["dram_write_bytes"] = bytes.write;
    out["l2_bytes"] = bytes.l2;
    const bool exact = bytes.source == RowBytes::Source::exact;
    out["bytes_source"] = exact ? "exact" : "sampled";
    if (exact) out["measured_launches"] = bytes.measured_launches;
    if (exact && bytes.estimated) out["bytes_estimated"] = true;
  }
  if (kernel.counters.unmeasured != 0) out["unmeasured_launches"] = kernel.counters.unmeasured;
}

OrderedJson truth_object(const CopyTruth& truth) {
  if (truth.copies == 0) return nullptr;
  OrderedJson out;
  for (const auto& [key, member] : kTruthKeys) out[std::string(key)] = truth.*member;
  return out;
}

OrderedJson monitor_row(const MonitorRow& row) {
  return {{"depth", row.depth},
          {"launches", row.launches},
          {"ranges", row.ranges},
          {"range_ns", row.range_ns},
          {"kernels", row.kernels},
          {"copies", row.copies},
          {"gpu_ns", row.gpu_ns},
          {"gpu_ns_per_s", row.gpu_ns_per_s},
          {"gpu_ns_per_s_sd", row.gpu_ns_per_s_sd}};
}

OrderedJson monitor_object(const MonitorRates& rates) {
  return {
      {"windows", rates.windows()}, {"window_ns", rates.window_ns()}, {"observed_ns", rates.observed_ns()}};
}

OrderedJson conditions_object(const ConditionTotals& conditions) {
  constexpr std::size_t kMaxThreads = 32;
  OrderedJson out;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> threads;  // CPU time and id
  for (const auto& [subject, values] : conditions.subjects()) {
    if (subject.of == ConditionOf::gpu) out["gpus"].push_back(subject_object("gpu", subject.id, values));
    if (subject.of == ConditionOf::process) out["process"] = subject_object(nullptr, 0, values);
    if (subject.of == ConditionOf::thread)
      threads.emplace_back(values[static_cast<std::size_t>(Condition::cpu_ms)].growth(), subject.id);
  }
  std::sort(threads.rbegin(), threads.rend());
  threads.resize(std::min(threads.size(), kMaxThreads));
  for (const auto& [cpu_ms, id] : threads) out["threads"].push_back({{"thread", id}, {"cpu_ms", cpu_ms}});
  return out;
}

OrderedJson metric_sets_array(const MetricGroups& groups) {
  OrderedJson out = OrderedJson::array();
  for (const MetricSetRecord& set : groups.sets()) {
    if (!set.metrics.empty()) out.push_back({{"id", set.id}, {"name", set.name}, {"metrics", set.metrics}});
  }
  return out;
}

}  // namespace rangefinder
