// SPDX-License-Identifier: Apache-2.0
//
// Sums of traces as metrics, for node_exporter's textfile collector or promtool.
//
// The heaviest modules, and optionally kernels, have rows (prometheus_families.h). Modules have the names and
// values of the report.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/derived.h"
#include "schema/key_names.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/export/export_format.h"
#include "tools/export/prometheus_families.h"
#include "tools/export/work_totals.h"

namespace rangefinder {
namespace {

std::string module_of(const WorkTotals& process, std::uint32_t path) {
  return path == 0 ? kOutsideModule : process.path_text(path);
}

using Weight = std::pair<std::uint64_t, std::uint64_t>;

/// The names with their own rows, and the number of names without.
struct KeptNames {
  std::set<std::string> names;
  std::size_t omitted = 0;

  /// The name itself, or kOtherRows.
  [[nodiscard]] std::string row_of(std::string name) const {
    return names.contains(name) ? std::move(name) : kOtherRows;
  }
};

KeptNames heaviest(std::unordered_map<std::string, Weight>&& weights, std::size_t limit) {
  std::vector<std::pair<Weight, std::string>> order;
  for (auto& [name, weight] : weights) order.emplace_back(weight, name);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  KeptNames out;
  if (order.size() > limit) {
    out.omitted = order.size() - limit;
    order.resize(limit);
  }
  for (auto& [weight, name] : order) out.names.insert(std::move(name));
  return out;
}

/// The heaviest modules over all traces: by GPU time, then by bytes.
KeptNames kept_modules(const std::deque<WorkTotals>& processes, std::size_t limit) {
  std::unordered_map<std::string, Weight> weights;
  for (const WorkTotals& process : processes) {
    for (const auto& [key, sum] : process.work) {
      const bool counts = key.kind == WorkKind::kernel || key.kind == WorkKind::graph;
      if (counts) weights[module_of(process, key.path)].first += sum.ns;
    }
    for (const auto& [key, sum] : process.exact) weights[module_of(process, key.path)].second += sum.l2_bytes;
    if (!process.sampled) continue;
    for (const SampledPath& path : process.sampled->paths) {
      weights[module_of(process, path.path)].second += path.exclusive[2].bytes;
    }
  }
  return heaviest(std::move(weights), limit);
}

KeptNames kept_kernels(const std::deque<WorkTotals>& processes, std::size_t limit) {
  std::unordered_map<std::string, Weight> weights;
  if (limit == 0) return {};
  for (const WorkTotals& process : processes) {
    for (const auto& [key, sum] : process.work) {
      if (key.kind == WorkKind::kernel) weights[process.kernel_name(key.name).demangled].first += sum.ns;
    }
  }
  return heaviest(std::move(weights), limit);
}

/// DRAM read, DRAM write and L2 bytes by path, without the paths below it. Modulo 2^64: estimates are
/// rounded, so that parts may exceed the whole by a byte.
using OwnBytes = std::map<std::uint32_t, std::array<std::uint64_t, 3>>;

/// Where metric sets take turns, the report completes the bytes of launches that were measured with another
/// set. Empty: the sets do not take turns.
OwnBytes completed_bytes(const WorkTotals& process) {
  OwnBytes out;
  if (process.metric_sets.size() < 2) return out;
  Trace rows(process.files, {TotalsFold::kColumns, {}, {}, Keep::if_sampled, {}});
  Selection all;
  const TraceTotals trace = load_totals(rows, all);
  for (const PathTotals& row : trace.totals.paths()) {
    const RowBytes bytes = exact_bytes(row, {});
    const std::array values{bytes.read, bytes.write, bytes.l2};
    const std::uint32_t parent = trace.parent_of(row.path);
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[row.path][i] += values[i];
      if (parent != 0) out[parent][i] -= values[i];
    }
  }
  return out;
}

std::uint64_t at_least_0(std::uint64_t difference) {
  return static_cast<std::int64_t>(difference) < 0 ? 0 : difference;
}

class Writer {
 public:
  Writer(const WorkTotals& process, const KeptNames& modules, const KeptNames& kernels,
         PrometheusFamilies& out)
      : process_(process), modules_(modules), kernels_(kernels), out_(out), rank_(process.header.rank) {}

  void add() {
    about();
    conditions();
    work();
    bytes();
  }

 private:
  [[nodiscard]] std::string uuid(std::uint32_t gpu) const {
    const GpuRecord* const record = process_.gpu(gpu);
    return record == nullptr ? std::string() : record->uuid;
  }
  [[nodiscard]] PrometheusLabels gpu_labels(std::uint32_t gpu) const {
    return {{"gpu", std::to_string(gpu)}, {"uuid", uuid(gpu)}, {"rank", rank_}};
  }
  [[nodiscard]] PrometheusLabels module_labels(std::uint32_t gpu, std::uint32_t path) const {
    PrometheusLabels out = gpu_labels(gpu);
    out.emplace_back("module", modules_.row_of(module_of(process_, path)));
    return out;
  }
  /// Of sums over all GPUs of the process: with several GPUs there is no GPU label.
  [[nodiscard]] PrometheusLabels module_labels(std::uint32_t path) const {
    const auto& gpus = process_.gpus;
    PrometheusLabels out = module_labels(gpus.empty() ? 0 : gpus.front().id, path);
    if (gpus.size() > 1) out.erase(out.begin(), out.begin() + 2);
    return out;
  }
  static PrometheusLabels with(PrometheusLabels labels, std::string_view name, std::string_view value) {
    labels.emplace_back(name, std::string(value));
    return labels;
  }

  void about() {
    const WorkTotals& trace = process_;
    out_.build.set({{"version", trace.header.tool_version}}, 1);
    for (const GpuRecord& gpu : trace.gpus) {
      out_.gpus.set(with(gpu_labels(gpu.id), "name", gpu.name), 1);
      if (gpu.peak_dram_bytes_per_s > 0) out_.peak.set(gpu_labels(gpu.id), gpu.peak_dram_bytes_per_s);
    }
    out_.span.add({{"rank", rank_}}, static_cast<std::uint64_t>(std::max<TimeNs>(trace.last_ns, 0)));
    for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
      // Zeros are written too: rate() would miss the first count of a series that appears later. No program
      // that is traced by this version counts unknown causes.
      if (trace.loss[i] == 0 && i == static_cast<std::size_t>(Loss::unknown_cause)) continue;
      out_.lost.add({{"rank", rank_}, {"cause", kLossCauses[i].name}}, trace.loss[i]);
    }
    if (!trace.end) return;
    const OwnCost& cost = trace.end->own_cost;
    out_.overhead.add({{"rank", rank_}, {"what", "drain_cpu"}}, cost.drain_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "sampler_cpu"}}, cost.sampler_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "conditions_cpu"}}, cost.conditions_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "stacks_cpu"}}, cost.stacks_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "exact"}}, cost.exact_ns);
  }

  void conditions() {
    for (const auto& [subject, values] : process_.conditions.subjects()) {
      if (subject.of == ConditionOf::thread) continue;
      const PrometheusLabels labels =
          subject.of == ConditionOf::gpu ? gpu_labels(subject.id) : PrometheusLabels{{"rank", rank_}};
      for (std::size_t i = 0; i < kConditionCount; ++i) {
        if (!values[i].empty())
          out_.conditions.set(with(labels, "condition", kConditions[i].key), values[i].last());
      }
    }
  }

  void work() {
    for (const auto& [key, sum] : process_.work) {
      if (key.kind == WorkKind::kernel) {
        const PrometheusLabels labels = module_labels(key.gpu, key.path);
        out_.kernels.add(labels, sum.count);
        out_.kernel_time.add(labels, sum.ns);
        if (!kernels_.names.empty()) kernel(key, sum);
      } else if (key.kind == WorkKind::graph) {
        const PrometheusLabels labels = module_labels(key.gpu, key.path);
        out_.graphs.add(labels, sum.count);
        out_.kernel_time.add(labels, sum.ns);
      } else if (key.kind == WorkKind::memcpy) {
        const PrometheusLabels labels =
            with(gpu_labels(key.gpu), "direction", to_text(static_cast<CopyKind>(key.name)));
        out_.copies.add(labels, sum.bytes);
        out_.copy_time.add(labels, sum.ns);
      }
    }
  }

  void kernel(const WorkKey& key, const WorkSum& sum) {
    std::string name = kernels_.row_of(process_.kernel_name(key.name).demangled);
    const PrometheusLabels labels = with(gpu_labels(key.gpu), "kernel", name);
    out_.kernel_names.add(labels, sum.count);
    out_.kernel_name_time.add(labels, sum.ns);
  }

  void dram(const PrometheusLabels& labels, std::string_view source, std::uint64_t read, std::uint64_t write,
            std::uint64_t l2) {
    out_.dram.add(with(with(labels, "op", "read"), "source", source), read);
    out_.dram.add(with(with(labels, "op", "write"), "source", source), write);
    out_.l2.add(with(labels, "source", source), l2);
  }

  void bytes() {
    const OwnBytes completed = completed_bytes(process_);
    for (const auto& [key, sum] : process_.exact) {
      const PrometheusLabels labels = module_labels(key.gpu, key.path);
      out_.measured.add(labels, sum.measured);
      if (completed.empty()) dram(labels, "exact", sum.dram_read_bytes, sum.dram_write_bytes, sum.l2_bytes);
    }
    for (const auto& [path, own] : completed) {
      const auto [read, write, l2] = own;
      if ((read | write | l2) != 0)
        dram(module_labels(path), "exact", at_least_0(read), at_least_0(write), at_least_0(l2));
    }
    if (!process_.sampled) return;
    for (const SampledPath& path : process_.sampled->paths) {
      const BoundedColumns& own = path.exclusive;
      dram(module_labels(path.path), "sampled", own[0].bytes, own[1].bytes, own[2].bytes);
    }
  }

  const WorkTotals& process_;
  const KeptNames &modules_, &kernels_;
  PrometheusFamilies& out_;
  std::string rank_;
};

}  // namespace

PrometheusFamilies trace_families(const std::vector<TraceFolder>& traces, const PrometheusLimits& limits,
                                  std::vector<std::string>* notes) {
  ExportResult result;
  std::deque<WorkTotals> processes;
  for (const TraceFolder& trace : traces) note_trace(processes.emplace_back(load_work(trace)), result);
  const KeptNames modules = kept_modules(processes, limits.modules);
  const KeptNames kernels = kept_kernels(processes, limits.kernels);
  PrometheusFamilies out;
  for (const WorkTotals& process : processes) Writer(process, modules, kernels, out).add();
  out.modules_omitted.set({}, modules.omitted);
  if (limits.kernels != 0) out.kernels_omitted.set({}, kernels.omitted);
  if (notes != nullptr) *notes = std::move(result.notes);
  return out;
}

ExportResult export_prometheus(const ExportRequest& request) {
  OutputFile file(request.out, request.overwrite);
  ExportResult result;
  PrometheusLimits limits;
  limits.modules = request.max_modules;
  trace_families(request.traces, limits, &result.notes).append(file.text());
  file.commit();
  result.files.push_back(request.out);
  return result;
}

}  // namespace rangefinder
