// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_sets.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "profiler/counters/metrics/metric_config.h"

namespace rangefinder {
namespace {

constexpr const char* kMemory[] = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum",
    // For the hit rate: lts__t_sector_hit_rate takes two passes, as do hits and misses of sectors.
    "lts__t_tag_requests_hit.sum",
    "lts__t_tag_requests_miss.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__t_sectors_aperture_sysmem_op_read.sum",
    "lts__t_sectors_aperture_sysmem_op_write.sum",
    "lts__t_sectors_aperture_peer_op_read.sum",
    "lts__t_sectors_aperture_peer_op_write.sum",
    "l1tex__t_sectors.sum",
    "l1tex__t_sectors_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
};

constexpr const char* kCompute[] = {
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__issue_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
};

// GH100 needs two passes for the sum and one for each part.
constexpr const char* kTensorFp16 = "sm__ops_path_tensor_src_fp16.sum";
constexpr const char* kTensorFp16Parts[] = {
    "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum",
};

constexpr const char* kRoofline[] = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_bytes.sum.pct_of_peak_sustained_elapsed",
    // Tensor core operations; a multiply-add counts as two. Names differ by chip.
    kTensorFp16,
    "sm__ops_path_tensor_src_fp16_dst_fp16.sum",
    "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp8.sum",
    "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum",
    "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp4_dst_fp32.sum",
    "sm__ops_path_tensor_src_int8.sum",
    "sm__ops_path_tensor_src_fp64.sum",
    // Thread instructions by pipe, not by operation: metrics such as
    // smsp__sass_thread_inst_executed_op_ffma_pred_on need patched code and a pass of their own on every
    // chip, without the time. The FMA pipe also runs integer multiplications.
    "smsp__thread_inst_executed_pipe_fma_pred_on.sum",
    "smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum",
    "smsp__thread_inst_executed_pipe_fp16_pred_on.sum",
    "smsp__thread_inst_executed_pipe_fp64_pred_on.sum",
};

// Warps stalled for this reason, summed over cycles and schedulers. Shares of their sum are equivalent to
// the ratios per issued instruction. They add up over launches, and take 6 groups instead of 9 on GH100.
// `selected` counts the issued instructions.
#define STALLED(reason) "smsp__warps_issue_stalled_" #reason ".sum"
constexpr const char* kStalls[] = {
    STALLED(long_scoreboard),
    STALLED(gmma),
    STALLED(drain),
    STALLED(imc_miss),
    STALLED(short_scoreboard),
    STALLED(wait),
    STALLED(selected),
    STALLED(not_selected),
    STALLED(barrier),
    STALLED(math_pipe_throttle),
    STALLED(lg_throttle),
    STALLED(mio_throttle),
    STALLED(membar),
    STALLED(no_instruction),
    STALLED(branch_resolving),
    STALLED(dispatch_stall),
    STALLED(sleeping),
    STALLED(tex_throttle),
    STALLED(misc),
};
#undef STALLED

// Requests, by the instructions that make them. l1tex__t_requests_pipe_lsu_mem_global_op_ld equals the sum
// of global and generic loads (checked on an H200 for coalesced, strided, 16-byte and generic accesses).
// But such metrics take a pass each, while these share one with the sectors.
constexpr const char* kCoalescing[] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_generic_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__inst_executed_op_generic_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
};

constexpr std::array kSets{
    MetricSet{"bytes", "bytes of DRAM and L2", kExactMetricNames},
    MetricSet{"memory", "where bytes go: DRAM, L2, L1, spills, host memory, other GPUs", kMemory},
    MetricSet{"compute", "how busy the multiprocessors are", kCompute},
    MetricSet{"roofline", "operations for each byte, and how near the peaks are", kRoofline},
    MetricSet{"stalls", "what warps wait for", kStalls},
    MetricSet{"coalescing", "how well threads share sectors and banks", kCoalescing},
};

}  // namespace

std::span<const MetricSet> metric_sets() noexcept {
  return kSets;
}

const MetricSet* find_metric_set(std::string_view name) noexcept {
  const auto found =
      std::find_if(kSets.begin(), kSets.end(), [&](const auto& set) { return name == set.name; });
  return found == kSets.end() ? nullptr : found;
}

bool in_a_metric_set(std::string_view metric) noexcept {
  return std::any_of(kSets.begin(), kSets.end(), [&](const MetricSet& set) {
    return std::find(set.metrics.begin(), set.metrics.end(), metric) != set.metrics.end();
  });
}

bool adds_up(std::string_view metric) noexcept {
  return metric.ends_with(".sum");
}

bool counts_every_multiprocessor(std::string_view metric) noexcept {
  // Measured: sm, smsp, l1tex and SM_B are expensive, TPC is not. SM_A and SM_C are assumed to be like SM_B.
  constexpr std::string_view kUnits[] = {"sm__", "smsp__", "l1tex__", "SM_A.", "SM_B.", "SM_C."};
  return std::any_of(std::begin(kUnits), std::end(kUnits),
                     [&](std::string_view unit) { return metric.starts_with(unit); });
}

std::span<const char* const> metric_parts(std::string_view metric) noexcept {
  if (metric == kTensorFp16) return kTensorFp16Parts;
  return {};
}

std::string metric_set_names() {
  std::string names;
  for (const MetricSet& set : kSets) names += (names.empty() ? "" : ", ") + std::string(set.name);
  return names;
}

}  // namespace rangefinder
