// SPDX-License-Identifier: Apache-2.0
//
// Sums of traces as metrics: for node_exporter's textfile collector, or promtool.
//
// A module's rows are of the module itself, without those below it, so that sum() over modules is the
// whole. At most --modules of them have rows; the lightest are summed as (other). Kernel names are no
// labels: their number has no bound.
#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/key_names.h"
#include "tools/analysis/sampled_bytes.h"
#include "tools/export/export_format.h"
#include "tools/export/prometheus_text.h"
#include "tools/export/work_totals.h"

namespace rangefinder {
namespace {

constexpr const char* kOutside = "(outside of any range)";
constexpr const char* kOther = "(other)";

struct Families {
  using Unit = PrometheusUnit;
  PrometheusFamily build{"rangefinder_build_info", "Version of the profiler that recorded the trace.",
                         "gauge", Unit::one};
  PrometheusFamily gpus{"rangefinder_gpu_info", "GPUs of the trace.", "gauge", Unit::one};
  PrometheusFamily span{"rangefinder_trace_seconds_total", "Time from the first to the last event recorded.",
                        "counter", Unit::nanosecond};
  PrometheusFamily kernels{"rangefinder_kernel_launches_total", "Kernels that ran, by the module itself.",
                           "counter", Unit::one};
  PrometheusFamily kernel_time{"rangefinder_kernel_seconds_total",
                               "Sum of kernel durations, by the module itself.", "counter", Unit::nanosecond};
  PrometheusFamily dram{"rangefinder_dram_bytes_total",
                        "DRAM bytes; exact: of measured launches; sampled: shares of hardware samples.",
                        "counter", Unit::one};
  PrometheusFamily l2{"rangefinder_l2_bytes_total",
                      "L2 bytes; exact: of measured launches; sampled: shares of hardware samples.",
                      "counter", Unit::one};
  PrometheusFamily measured{"rangefinder_measured_launches_total",
                            "Launches and counter ranges whose exact bytes are in the sums.", "counter",
                            Unit::one};
  PrometheusFamily copies{"rangefinder_memcpy_bytes_total", "Bytes that copies were asked for.", "counter",
                          Unit::one};
  PrometheusFamily copy_time{"rangefinder_memcpy_seconds_total", "Sum of the durations of copies.", "counter",
                             Unit::nanosecond};
  PrometheusFamily lost{"rangefinder_records_lost_total", "What happened and is not in the trace, by cause.",
                        "counter", Unit::one};
  PrometheusFamily overhead{"rangefinder_overhead_seconds_total", "Time that recording took.", "counter",
                            Unit::nanosecond};

  void write(OutputFile& file) const {
    for (const PrometheusFamily* family : {&build, &gpus, &span, &kernels, &kernel_time, &dram, &l2,
                                           &measured, &copies, &copy_time, &lost, &overhead}) {
      family->write(file);
    }
  }
};

/// One trace with its sums; small beside its events.
struct Process {
  explicit Process(const TraceFolder& folder) : outline(read_outline(folder)), totals(collect_work(outline)) {
    if (totals.exact.empty() && outline.has_samples) {
      if (const auto loaded = SampledTrace::load(folder)) sampled = loaded->totals();
    }
  }
  TraceOutline outline;
  WorkTotals totals;
  std::optional<SampledTotals> sampled;

  [[nodiscard]] std::string module(std::uint32_t path) const {
    return path == 0 ? kOutside : outline.path_text(path);
  }
};

/// The heaviest modules over all traces: by GPU time, then by bytes.
std::set<std::string> kept_modules(const std::deque<Process>& processes, std::size_t most) {
  std::unordered_map<std::string, std::pair<std::uint64_t, std::uint64_t>> weights;
  for (const Process& process : processes) {
    for (const auto& [key, sum] : process.totals.work) {
      if (key.kind == WorkKind::kernel) weights[process.module(key.path)].first += sum.ns;
    }
    for (const auto& [key, sum] : process.totals.exact)
      weights[process.module(key.path)].second += sum.l2_bytes;
    if (!process.sampled) continue;
    for (const SampledPath& path : process.sampled->paths) {
      weights[process.module(path.path)].second += path.exclusive[2].bytes;
    }
  }
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::string>> order;
  for (auto& [module, weight] : weights) order.emplace_back(weight, module);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (order.size() > most) order.resize(most);
  std::set<std::string> out;
  for (auto& [weight, module] : order) out.insert(std::move(module));
  return out;
}

class Writer {
 public:
  Writer(const Process& process, const std::set<std::string>& kept, Families& out)
      : process_(process), kept_(kept), out_(out), rank_(process.outline.header.rank) {}

  void add() {
    about();
    work();
    bytes();
  }

 private:
  [[nodiscard]] std::string uuid(std::uint32_t gpu) const {
    const GpuRecord* const known = process_.outline.gpu(gpu);
    return known == nullptr ? std::string() : known->uuid;
  }
  [[nodiscard]] PrometheusLabels gpu_labels(std::uint32_t gpu) const {
    return {{"gpu", std::to_string(gpu)}, {"uuid", uuid(gpu)}, {"rank", rank_}};
  }
  [[nodiscard]] PrometheusLabels module_labels(std::uint32_t gpu, std::uint32_t path) const {
    PrometheusLabels out = gpu_labels(gpu);
    std::string module = process_.module(path);
    out.emplace_back("module", kept_.contains(module) ? std::move(module) : kOther);
    return out;
  }
  static PrometheusLabels with(PrometheusLabels labels, std::string_view name, std::string_view value) {
    labels.emplace_back(name, std::string(value));
    return labels;
  }

  void about() {
    const TraceOutline& trace = process_.outline;
    out_.build.set({{"version", trace.header.tool_version}}, 1);
    for (const GpuRecord& gpu : trace.gpus) {
      out_.gpus.set(with(gpu_labels(gpu.id), "name", gpu.name), 1);
    }
    out_.span.add({{"rank", rank_}},
                  static_cast<std::uint64_t>(trace.last_ns) - static_cast<std::uint64_t>(trace.first_ns));
    for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
      // Zero is measured here, and a rate over a series that appears late would miss its first count.
      out_.lost.add({{"rank", rank_}, {"cause", kLossCauses[i].name}}, trace.loss[i]);
    }
    if (!trace.end) return;
    const OwnCost& cost = trace.end->own_cost;
    out_.overhead.add({{"rank", rank_}, {"what", "drain_cpu"}}, cost.drain_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "sampler_cpu"}}, cost.sampler_cpu_ns);
    out_.overhead.add({{"rank", rank_}, {"what", "exact"}}, cost.exact_ns);
  }

  void work() {
    for (const auto& [key, sum] : process_.totals.work) {
      if (key.kind == WorkKind::kernel) {
        const PrometheusLabels labels = module_labels(key.gpu, key.path);
        out_.kernels.add(labels, sum.count);
        out_.kernel_time.add(labels, sum.ns);
      } else if (key.kind == WorkKind::memcpy) {
        const PrometheusLabels labels =
            with(gpu_labels(key.gpu), "direction", to_text(static_cast<CopyKind>(key.name)));
        out_.copies.add(labels, sum.bytes);
        out_.copy_time.add(labels, sum.ns);
      }
    }
  }

  void dram(const PrometheusLabels& labels, std::string_view source, std::uint64_t read, std::uint64_t write,
            std::uint64_t l2) {
    out_.dram.add(with(with(labels, "op", "read"), "source", source), read);
    out_.dram.add(with(with(labels, "op", "write"), "source", source), write);
    out_.l2.add(with(labels, "source", source), l2);
  }

  void bytes() {
    for (const auto& [key, sum] : process_.totals.exact) {
      const PrometheusLabels labels = module_labels(key.gpu, key.path);
      dram(labels, "exact", sum.dram_read_bytes, sum.dram_write_bytes, sum.l2_bytes);
      out_.measured.add(labels, sum.measured);
    }
    if (!process_.sampled) return;
    // Samples are shared over all GPUs of a process at once: with several, no label can say which.
    const auto& gpus = process_.outline.gpus;
    for (const SampledPath& path : process_.sampled->paths) {
      PrometheusLabels labels = module_labels(gpus.empty() ? 0 : gpus.front().id, path.path);
      if (gpus.size() > 1) labels.erase(labels.begin(), labels.begin() + 2);
      const BoundedColumns& own = path.exclusive;
      dram(labels, "sampled", own[0].bytes, own[1].bytes, own[2].bytes);
    }
  }

  const Process& process_;
  const std::set<std::string>& kept_;
  Families& out_;
  std::string rank_;
};

}  // namespace

ExportResult export_prometheus(const ExportRequest& request) {
  OutputFile file(request.out, request.overwrite);
  ExportResult result;
  std::deque<Process> processes;
  for (const TraceFolder& trace : request.traces) {
    note_trace(processes.emplace_back(trace).outline, result);
  }
  const std::set<std::string> kept = kept_modules(processes, request.most_modules);
  Families families;
  for (const Process& process : processes) Writer(process, kept, families).add();
  families.write(file);
  file.commit();
  result.files.push_back(request.out);
  return result;
}

}  // namespace rangefinder
