// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/rule_table.h"

#include <algorithm>
#include <stdexcept>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr bool kRecorded = true, kExperimental = false;
constexpr bool kHost = true, kGpu = false;

bool any_row(const FindingContext& context, bool (*has)(const FindingContext&, const PathTotals&)) {
  return std::any_of(context.rows.begin(), context.rows.end(),
                     [&](const PathTotals& row) { return has(context, row); });
}

/// What the trace needs for `need`; "" if it has that.
std::string_view lacking(const FindingContext& context, Need need) {
  const auto has_bytes = [](const FindingContext& in, const PathTotals& row) {
    return in.input.values.bytes(row).source != RowBytes::Source::none;
  };
  const auto declares = [](const FindingContext&, const PathTotals& row) { return row.declared_bytes != 0; };
  const GpuRecord* const gpu = context.gpu();
  constexpr std::string_view kMemory = "--counters exact --metrics memory";
  switch (need) {
    case Need::none:
      return "";
    case Need::host_times:
      return context.host_times_hold ? "" : "a run without exact counters: --counters off or sampled";
    case Need::loop:
      return context.loop.found() ? "" : "a range that repeats at least three times, or --iteration-range";
    case Need::bytes:
      return any_row(context, has_bytes) ? "" : "--counters sampled or exact";
    case Need::declared_bytes:
      return any_row(context, declares) ? "" : "bytes that ranges declare (NVTX category rangefinder.bytes)";
    case Need::loads:
      return context.kernels.any_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") ? "" : kMemory;
    case Need::stores:
      return context.kernels.any_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") ? "" : kMemory;
    case Need::conflicts:
      return context.kernels.any_metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") ? ""
                                                                                                    : kMemory;
    case Need::tensor:
      return context.kernels.any_value("tensor_pipe") ? "" : "--counters exact --metrics pipes";
    case Need::stalls:
      return context.kernels.any_value("stall_long_scoreboard") ? "" : "--counters exact --metrics stalls";
    case Need::threads:
      return context.kernels.any_value("threads_per_instruction") ? ""
                                                                  : "--counters exact --metrics occupancy";
    case Need::limits:
      return gpu != nullptr && gpu->warps_per_sm != 0 ? "" : "the limits of the GPU (a newer recording)";
    case Need::peaks:
      return gpu != nullptr && !gpu->peak_flops.empty() ? "" : "the peaks of the GPU (a newer recording)";
  }
  return "";
}

}  // namespace

const std::vector<RuleFacts>& rule_table() {
  using enum Cause;
  using enum Need;
  static const std::vector<RuleFacts> table{
      {"idle_in_range", idle, 0, kRecorded, kHost, {host_times}},
      {"launch_bound", launches, 0, kRecorded, kHost, {host_times}},
      {"sync_each_iteration", launches, 1, kExperimental, kHost, {host_times, loop}},
      {"allocations_in_loop", allocations, 0, kExperimental, kHost, {loop}},
      {"pageable_or_synchronous_copies", copies, 0, kRecorded, kHost},
      {"small_copies", copies, 1, kExperimental, kHost},
      {"exposed_stream_wait", streams, 0, kExperimental, kHost, {host_times}},
      {"slower_together", streams, 1, kExperimental, kGpu},
      {"memory_bound", traffic, 9, kRecorded, kGpu, {bytes}},
      {"time_follows_bytes", summary, 0, kRecorded, kGpu, {bytes}},
      {"amplification", traffic, 3, kRecorded, kGpu, {bytes, declared_bytes}},
      {"slower_than_bytes", any_of_gpu, 0, kRecorded, kGpu, {bytes}},
      {"slower_than_roofs", any_of_gpu, 1, kExperimental, kGpu, {bytes}},
      {"unfused_chain", traffic, 2, kRecorded, kGpu},
      {"attention_scores", traffic, 0, kRecorded, kGpu},
      {"fp32_math", arithmetic, 0, kRecorded, kGpu, {peaks}},
      {"low_tensor_use", arithmetic, 1, kRecorded, kGpu, {tensor}},
      {"uncoalesced_loads", traffic, 1, kExperimental, kGpu, {loads}},
      {"uncoalesced_stores", traffic, 1, kRecorded, kGpu, {stores}},
      {"bank_conflicts", on_chip, 0, kRecorded, kGpu, {conflicts}},
      {"local_memory", on_chip, 1, kExperimental, kGpu},
      {"divergence", lanes, 0, kExperimental, kGpu, {threads}},
      {"stalls", latency, 0, kExperimental, kGpu, {stalls}},
      {"tail_wave", parallelism, 0, kRecorded, kGpu, {limits}},
      {"low_occupancy", parallelism, 1, kExperimental, kGpu, {limits}},
      {"grid_under_one_wave", parallelism, 2, kRecorded, kGpu, {limits}},
      {"graph_below_peak", below_peak, 0, kRecorded, kGpu, {bytes}},
      {"small_graph_kernels", graphs, 0, kRecorded, kGpu},
      {"unsafe_during_capture", capture, 0, kRecorded, kHost},
      {"capture_obstacles", launches, 2, kRecorded, kHost, {host_times, loop}},
  };
  return table;
}

const RuleFacts& rule_facts(std::string_view id) {
  const auto& table = rule_table();
  const auto at = std::find_if(table.begin(), table.end(), [id](const RuleFacts& f) { return f.id == id; });
  if (at == table.end()) throw std::logic_error("no rule " + std::string(id));
  return *at;
}

std::vector<CannotTell> rules_without_data(const FindingContext& context) {
  std::vector<CannotTell> out;
  for (const RuleFacts& rule : rule_table()) {
    std::string needs;
    for (const Need need : rule.needs) {
      const std::string_view one = lacking(context, need);
      if (!one.empty()) needs += (needs.empty() ? "" : "; ") + std::string(one);
    }
    if (!needs.empty()) out.push_back({std::string(rule.id), std::move(needs)});
  }
  return out;
}

}  // namespace rangefinder
