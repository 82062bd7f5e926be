// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/rules.h"

#include <algorithm>
#include <stdexcept>

#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/queries/hints.h"

namespace rangefinder {
namespace {

/// The longest total first.
void find_in_kernels(const std::vector<KernelUse>& uses, FindInKernel* find, const FindingContext& context,
                     std::vector<Finding>& out) {
  std::size_t found = 0;
  for (const KernelUse& use : uses) {
    if (found == kMaxFindings) return;
    found += find(use, context, out) ? 1 : 0;
  }
}

template <FindInKernel* kFind>
void each_configuration(const FindingContext& context, std::vector<Finding>& out) {
  find_in_kernels(context.uses, kFind, context, out);
}

template <FindInKernel* kFind>
void each_name(const FindingContext& context, std::vector<Finding>& out) {
  find_in_kernels(context.name_uses, kFind, context, out);
}

bool any_row(const FindingContext& context, bool (*has)(const FindingContext&, const PathTotals&)) {
  return std::any_of(context.rows.begin(), context.rows.end(),
                     [&](const PathTotals& row) { return has(context, row); });
}

/// What the trace needs for `need`; "" if it has that.
std::string lacking(const FindingContext& context, Need need) {
  const auto has_bytes = [](const FindingContext& in, const PathTotals& row) {
    return in.input.values.bytes(row).has_parts();
  };
  const auto declares = [](const FindingContext&, const PathTotals& row) { return row.declared_bytes != 0; };
  const RecordedCounters recorded(context.input.trace);
  const auto metric = [&](std::string_view name, std::string_view set) {
    return context.kernels.any_measured(name) ? "" : metrics_option(recorded, set);
  };
  const GpuRecord* const gpu = context.gpu();
  switch (need) {
    case Need::none:
      return "";
    case Need::host_times:
      return context.host_times_valid ? "" : "a run without exact counters: --counters off or sampled";
    case Need::loop:
      return context.loop.found() ? "" : "a range that repeats at least three times, or --iteration-range";
    case Need::bytes: {
      if (any_row(context, has_bytes)) return "";
      const std::vector<PathTotals> all = context.input.trace.totals.paths();
      const bool any =
          std::any_of(all.begin(), all.end(), [&](const auto& row) { return has_bytes(context, row); });
      return any ? "ranges in the program: all bytes are of work outside of them" : bytes_option(recorded);
    }
    case Need::declared_bytes:
      return any_row(context, declares) ? "" : "bytes that ranges declare (NVTX category rangefinder.bytes)";
    case Need::loads:
      return metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "memory");
    case Need::stores:
      return metric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "memory");
    case Need::conflicts:
      return metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "memory");
    case Need::tensor:
      return metric("tensor_pipe", "pipes");
    case Need::stalls:
      return metric("stall_long_scoreboard", "stalls");
    case Need::threads:
      return metric("threads_per_instruction", "occupancy");
    case Need::limits:
      return gpu != nullptr && gpu->warps_per_sm != 0 ? "" : "the limits of the GPU (a newer recording)";
    case Need::peaks:
      return gpu != nullptr && !gpu->peak_flops.empty() ? "" : "the peaks of the GPU (a newer recording)";
  }
  return "";
}

}  // namespace

// clang-format off
const std::vector<Rule>& rule_table() {
  using enum Cause;
  using enum Need;
  using enum RuleTopic;
  static const std::vector<Rule> table{
      {"idle_in_range", find_idle_in_range, idle, 0, of_host,
       {"case_starved_one", "case_starved_pinned", "managed_memory"}, {host_times}},
      {"launch_bound", find_launch_bound, launches, 0, of_host,
       {"hf_rtdetr_trace", "hf_rtdetr_sampled"}, {host_times}},
      {"sync_each_iteration", find_sync_each_iteration, launches, 1, of_host, {}, {host_times, loop}},
      {"allocations_in_loop", find_allocations_in_loop, allocations, 0, of_host, {}, {loop}},
      {"allocator_growth", find_allocator_growth, kept_memory, 0, of_host, {}},
      {"compilation", find_compilation, summary, 1, of_host, {"jax_scopes"}},
      {"pageable_or_synchronous_copies", find_slow_copies, copies, 0, of_host,
       {"copy_storm", "case_starved_one"}},
      {"small_copies", find_small_copies, copies, 1, of_host, {}},
      {"exposed_stream_wait", find_exposed_wait, streams, 0, of_host, {}, {host_times}},
      {"slower_together", find_slower_together, streams, 1, of_kernels, {}},
      {"memory_bound", find_memory_bound, traffic, 9, of_bytes,
       {"known_bytes_exact", "case_overlap", "case_transpose"}, {bytes}},
      {"time_follows_bytes", find_time_follows_bytes, summary, 0, of_bytes,
       {"rtdetr_exact", "known_bytes_exact"}, {bytes}},
      {"amplification", find_amplification, traffic, 3, of_bytes, {}, {bytes, declared_bytes}},
      {"slower_than_bytes", find_slower_than_bytes, any_of_gpu, 0, of_bytes,
       {"rtdetr_exact", "rtdetr_unfused"}, {bytes}},
      {"slower_than_roofs", find_slower_than_roofs, any_of_gpu, 1, of_bytes, {"jax_scopes"}, {bytes}},
      {"unfused_chain", find_unfused_chain, traffic, 2, of_kernels,
       {"decoder_exact", "eval_rtdetr_exact", "hf_rtdetr_trace"}},
      {"attention_scores", find_attention_scores, traffic, 0, of_kernels, {"case_attention", "rtdetr_unfused"}},
      {"fp32_math", find_fp32_math, arithmetic, 0, of_kernels, {"case_gemm_fp32", "case_bert_fp32"}, {peaks}},
      {"low_tensor_use", each_name<low_tensor_use_of_kernel>, arithmetic, 1, of_kernels,
       {"rtdetr_rotated"}, {tensor}},
      {"uncoalesced_loads", find_uncoalesced_loads, traffic, 1, of_kernels, {}, {loads}},
      {"uncoalesced_stores", find_uncoalesced_stores, traffic, 1, of_kernels,
       {"case_transpose", "case_transpose_metrics"}, {stores}},
      {"bank_conflicts", each_configuration<bank_conflicts_of_kernel>, on_chip, 0, of_kernels,
       {"case_transpose_metrics"}, {conflicts}},
      {"divergence", each_name<divergence_of_kernel>, lanes, 0, of_kernels, {}, {threads}},
      {"stalls", each_name<stalls_of_kernel>, latency, 0, of_kernels, {"case_gemm_metrics"}, {stalls}},
      {"local_memory", each_configuration<local_memory_of_kernel>, on_chip, 1, of_kernels, {}},
      {"tail_wave", find_tail_wave, parallelism, 0, of_kernels, {"case_attention"}, {limits}},
      {"low_occupancy", each_configuration<low_occupancy_of_kernel>, parallelism, 1, of_kernels, {}, {limits}},
      {"grid_under_one_wave", find_grid_under_one_wave, parallelism, 2, of_kernels,
       {"case_gemm_small"}, {limits}},
      {"graph_below_peak", find_graph_below_peak, below_peak, 0, of_bytes, {"decoder_sampled"}, {bytes}},
      {"small_graph_kernels", find_small_graph_kernels, graphs, 0, of_kernels, {"decoder_sampled", "decoder_exact"}},
      {"unsafe_during_capture", find_unsafe_during_capture, capture, 0, of_host,
       {"decoder_exact", "decoder_sampled", "graph_broken"}},
      {"power_capped", find_power_capped, clocks, 0, of_host, {"gemm_power"}},
      {"throttled", find_throttled, clocks, 1, of_host, {}},
      {"cpu_limited", find_cpu_limited, processors, 0, of_host, {"cpu_limited"}},
      {"swapping", find_swapping, paging, 0, of_host, {}},
      {"shared_gpu", find_shared_gpu, sharing, 0, of_host, {}},
      {"capture_obstacles", find_capture_obstacles, launches, 2, of_host,
       {"hf_rtdetr_trace", "hf_rtdetr_sampled"}, {host_times, loop}},
  };
  return table;
}
// clang-format on

const Rule& rule_named(std::string_view id) {
  const auto& table = rule_table();
  const auto at = std::find_if(table.begin(), table.end(), [id](const Rule& rule) { return rule.id == id; });
  if (at == table.end()) throw std::logic_error("no rule " + std::string(id));
  return *at;
}

std::vector<CannotTell> rules_without_data(const FindingContext& context) {
  std::vector<CannotTell> out;
  for (const Rule& rule : rule_table()) {
    std::string needs;
    for (const Need need : rule.needs) {
      const std::string one = lacking(context, need);
      if (!one.empty()) needs += (needs.empty() ? "" : "; ") + one;
    }
    if (!needs.empty()) out.push_back({std::string(rule.id), std::move(needs)});
  }
  return out;
}

}  // namespace rangefinder
