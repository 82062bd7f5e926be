// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_sets.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/metrics/metric_formula.h"

namespace rangefinder {
namespace {

// Where bytes go, besides the named metrics: operations of the L2, host memory, other GPUs.
constexpr const char* kTraffic[] = {
    "lts__t_bytes.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__t_sectors_aperture_sysmem_op_read.sum",
    "lts__t_sectors_aperture_sysmem_op_write.sum",
    "lts__t_sectors_aperture_peer_op_read.sum",
    "lts__t_sectors_aperture_peer_op_write.sum",
};

// GH100 needs two passes for the sum and one for each part.
constexpr const char* kTensorFp16 = "sm__ops_path_tensor_src_fp16.sum";
constexpr const char* kTensorFp16Parts[] = {
    "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum",
};

constexpr const char* kL2Peak = "lts__t_bytes.sum.peak_sustained_elapsed.per_second";

class SetMetrics {
 public:
  SetMetrics& add(std::span<const char* const> metrics) {
    for (const char* const metric : metrics) take(metric);
    return *this;
  }
  /// Inputs of the named metrics of a topic, in the order of the table.
  SetMetrics& add(MetricTopic topic) {
    for (const NamedMetric& metric : named_metrics()) {
      if (metric.topic != topic) continue;
      for (std::string& input : collected_for(metric)) take(std::move(input));
    }
    return *this;
  }
  [[nodiscard]] std::vector<std::string> take_all() { return std::move(metrics_); }

 private:
  void take(std::string metric) {
    if (std::find(metrics_.begin(), metrics_.end(), metric) == metrics_.end())
      metrics_.push_back(std::move(metric));
  }

  std::vector<std::string> metrics_;
};

std::span<const char* const> exact_bytes() {
  return std::span(kExactMetricNames).subspan(kDramRead);
}

std::vector<MetricSet> all_sets() {
  using enum MetricTopic;
  std::vector<MetricSet> sets{
      {"bytes", "bytes of DRAM and L2", SetMetrics().add(kExactMetricNames).take_all()},
      {topic_name(speed_of_light), "how near compute, L1, L2 and DRAM are to their peaks",
       SetMetrics().add(exact_bytes()).add(speed_of_light).take_all()},
      {topic_name(memory), "hit rates, coalescing, bank conflicts, spills, and where bytes go",
       SetMetrics().add(exact_bytes()).add(kTraffic).add(memory).take_all()},
      {topic_name(occupancy), "resident warps, issued instructions, divergence",
       SetMetrics().add(occupancy).take_all()},
      {topic_name(stalls), "what warps wait for", SetMetrics().add(stalls).take_all()},
      {topic_name(pipes), "tensor cores and the other arithmetic pipes", SetMetrics().add(pipes).take_all()},
      {topic_name(roofline), "operations for each byte, and how near the peaks are",
       SetMetrics().add(exact_bytes()).add(std::span(&kL2Peak, 1)).add(roofline).take_all()},
  };
  SetMetrics all;
  for (const MetricSet& set : sets) {
    for (const std::string& metric : set.metrics) all.add(std::array{metric.c_str()});
  }
  sets.push_back({"all", "all of the above", all.take_all()});
  sets.push_back({"compute", "", {}, {"occupancy", "pipes"}});
  sets.push_back({"coalescing", "", {}, {"memory"}});
  return sets;
}

}  // namespace

const std::vector<MetricSet>& metric_sets() {
  static const std::vector<MetricSet> kSets = all_sets();
  return kSets;
}

const MetricSet* find_metric_set(std::string_view name) {
  const auto& sets = metric_sets();
  const auto found =
      std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return name == set.name; });
  return found == sets.end() ? nullptr : &*found;
}

bool in_a_metric_set(std::string_view metric) {
  return std::any_of(metric_sets().begin(), metric_sets().end(), [&](const MetricSet& set) {
    return std::find(set.metrics.begin(), set.metrics.end(), metric) != set.metrics.end();
  });
}

bool counts_every_multiprocessor(std::string_view metric) noexcept {
  // Measured: sm, smsp, l1tex, idc and SM_B are expensive, TPC is not. SM_A and SM_C are assumed to be like
  // SM_B.
  constexpr std::string_view kUnits[] = {"sm__", "smsp__", "l1tex__", "idc__", "SM_A.", "SM_B.", "SM_C."};
  return std::any_of(std::begin(kUnits), std::end(kUnits),
                     [&](std::string_view unit) { return metric.starts_with(unit); });
}

std::span<const char* const> metric_parts(std::string_view metric) noexcept {
  if (metric == kTensorFp16) return kTensorFp16Parts;
  return {};
}

std::string metric_set_names() {
  std::string names;
  for (const MetricSet& set : metric_sets()) {
    if (set.alias_of.empty()) names += (names.empty() ? "" : ", ") + std::string(set.name);
  }
  return names;
}

}  // namespace rangefinder
