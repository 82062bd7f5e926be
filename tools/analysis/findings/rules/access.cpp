// SPDX-License-Identifier: Apache-2.0
//
// Rules about how kernels access memory: coalescing, shared memory, local memory.
#include <algorithm>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"

namespace rangefinder {
namespace {

struct AccessKind {
  const char *named, *sectors, *global, *generic, *id, *does;
};
constexpr AccessKind kLoads{"load_sectors_per_request",
                            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                            "smsp__inst_executed_op_global_ld.sum",
                            "smsp__inst_executed_op_generic_ld.sum",
                            "uncoalesced_loads",
                            "loads"};
constexpr AccessKind kStores{"store_sectors_per_request",
                             "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                             "smsp__inst_executed_op_global_st.sum",
                             "smsp__inst_executed_op_generic_st.sum",
                             "uncoalesced_stores",
                             "stores"};

/// Traces of earlier versions have instructions instead of requests, which are as many.
std::optional<double> sectors_per_request(const MeasuredKernel& measured, const AccessKind& access) {
  if (const auto value = measured.values.value(access.named)) return value;
  const auto sectors = measured.mean(access.sectors);
  const double instructions =
      measured.mean(access.global).value_or(0) + measured.mean(access.generic).value_or(0);
  return sectors && instructions > 0 ? std::optional(*sectors / instructions) : std::nullopt;
}

/// A bound of its part of the kernel's time: twice its part of the sectors of loads and stores. Scattered
/// accesses take longer than their part: they are 78 % of the sectors of a transpose, and 87 % of its time
/// (docs/internals/savings.md).
double part_of_time(const MeasuredKernel& measured, const AccessKind& access) {
  const double all = measured.mean(kLoads.sectors).value_or(0) + measured.mean(kStores.sectors).value_or(0);
  return all > 0 ? std::min(1.0, 2 * measured.mean(access.sectors).value_or(0) / all) : 1;
}

void add_uncoalesced(const FindingContext& context, const KernelUse& use, const AccessKind& access,
                     std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.01, kMaxOfNeighbours = 16;
  constexpr double kOfWords = 4;  // neighbouring words of 4 bytes
  const MeasuredKernel& measured = context.kernels.measured(use.name);
  const auto measured_each = sectors_per_request(measured, access);
  if (!measured_each || *measured_each <= kMaxOfNeighbours || context.of_gpu(use.total_ns) < kMinOfTime)
    return;
  const double each = *measured_each;
  Finding finding = finding_of_kernel(access.id, use, context);
  finding.effect = kernel_subject(finding) + access.does + " words that are far apart, " +
                   factor_text(each / kOfWords) + " the sectors of neighbours";
  const double saved = part_of_time(measured, access) * (1 - kOfWords / each);
  finding.saving_ns = static_cast<std::uint64_t>(static_cast<double>(finding.of_ns) * saved);
  finding.why = three_digits(each) +
                " sectors of 32 bytes a warp, where neighbouring words of 4 bytes need " +
                three_digits(kOfWords) + ": with such words its " + access.does + " use " +
                percent_text(kOfWords / each) + " of the bytes that they move. `" + finding.kernel +
                "` takes " + context.each_text(finding.of_ns) + " of GPU time" + context.per() + ", up to " +
                percent_text(saved) + " of it for the excess sectors.";
  finding.evidence = {
      evidence_number("sectors_per_request", "sectors per request of a warp", each),
      evidence_number("sectors_of_neighbours", "neighbouring 4-byte words need", kOfWords),
      evidence_share("bytes_used", "bytes used of those moved, with 4-byte words", kOfWords / each),
      evidence_number("requests_per_launch", std::string("warp ") + access.does + " per launch",
                      measured.mean(access.sectors).value_or(0) / each),
      evidence_ns("gpu_ns", "GPU time (potential saving: the share of the excess sectors)", use.total_ns),
      evidence_count("launches", "launches", use.count)};
  finding.next_step =
      "let neighbouring threads access neighbouring addresses: swap the loops, or go through a tile in "
      "shared memory";
  finding.code = "__shared__ float tile[32][33];  // 33: no bank conflicts";
  out.push_back(std::move(finding));
}

void find_uncoalesced(const FindingContext& context, const AccessKind& access, std::vector<Finding>& out) {
  constexpr std::uint32_t kWideAccesses = 10;  // compute capability
  if (context.gpu() == nullptr || context.gpu()->compute_major >= kWideAccesses) return;
  for (const KernelUse& use : context.uses) add_uncoalesced(context, use, access, out);
}

}  // namespace

// Uncoalesced access: the threads of a warp load words that are far apart.
//
// Counts sectors of 32 bytes per request (`--metrics memory`). A warp of neighbouring 4-byte words needs
// 4, one of 16-byte words 16. No coalesced access needs more than 16. GPUs from compute capability 10 on have
// 32-byte accesses, which exceed 16 too: the rule does not apply to them.
void find_uncoalesced_loads(const FindingContext& context, std::vector<Finding>& out) {
  find_uncoalesced(context, kLoads, out);
}

// The same of stores.
void find_uncoalesced_stores(const FindingContext& context, std::vector<Finding>& out) {
  find_uncoalesced(context, kStores, out);
}

// Bank conflicts in shared memory, which serialise the threads of a warp.
//
// Each conflict costs one more cycle of a multiprocessor's shared memory (`--metrics memory`). Their time
// is conflicts per launch / (multiprocessors * highest clock). Reported from 10 % of the kernel's time on.
bool bank_conflicts_of_kernel(const KernelUse& use, const FindingContext& context,
                              std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.01, kMinOfKernel = 0.10;
  const GpuRecord* const gpu = context.gpu();
  if (gpu == nullptr || gpu->sm_count == 0 || gpu->sm_clock_khz == 0) return false;
  const MeasuredKernel& measured = context.kernels.measured(use.name);
  const auto loads = measured.mean("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
             stores = measured.mean("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum");
  if (!loads && !stores) return false;
  const double conflicts = loads.value_or(0) + stores.value_or(0);
  if (use.total_ns == 0 || context.of_gpu(use.total_ns) < kMinOfTime) return false;
  const double cycles_per_ns = static_cast<double>(gpu->sm_clock_khz) * 1e-6;
  const double conflict_ns = conflicts / gpu->sm_count / cycles_per_ns;
  const double kernel_ns = static_cast<double>(use.total_ns) / static_cast<double>(use.count);
  const double share = conflict_ns / kernel_ns;
  if (share < kMinOfKernel) return false;
  Finding finding = finding_of_kernel("bank_conflicts", use, context);
  finding.effect = finding.where.empty()
                       ? "Bank conflicts serialise shared memory in `" + finding.kernel + "`"
                       : "serialises its access to shared memory by bank conflicts";
  finding.saving_ns = static_cast<std::uint64_t>(std::min(1.0, share) * static_cast<double>(finding.of_ns));
  finding.why = "Conflicts take " + percent_text(share) + " of the time of `" + finding.kernel + "`, " +
                count_text(static_cast<std::uint64_t>(conflicts)) +
                " in each launch. Each costs one more cycle of a multiprocessor.";
  finding.evidence = {
      evidence_number("conflicts_per_launch", "bank conflicts per launch", conflicts),
      evidence_share("share_of_kernel", "conflict cycles per multiprocessor, as a share of the kernel time",
                     share),
      evidence_ns("mean_kernel_ns", "mean kernel time", static_cast<std::uint64_t>(kernel_ns)),
      evidence_ns("gpu_ns", "GPU time", use.total_ns), evidence_count("launches", "launches", use.count)};
  if (const auto each = measured.values.value("shared_conflicts_per_request"))
    finding.evidence.push_back(evidence_number("conflicts_per_request", "bank conflicts per access", *each));
  finding.next_step =
      "pad the rows of the tile by one word, or swizzle the columns, so that a column spans different banks";
  finding.code = "__shared__ float tile[32][33];";
  out.push_back(std::move(finding));
  return true;
}

// A kernel uses local memory, for spilled registers or for arrays indexed at run time.
//
// Uses the launch configuration, and the bytes of local memory (`--metrics memory`) if they were measured.
// Skips a kernel that reserves local memory and never touches it. With all 255 registers of a thread in use,
// registers were spilled.
bool local_memory_of_kernel(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  constexpr std::uint32_t kMaxRegisters = 255;
  const LaunchConfigRecord* const config = context.kernels.config(use.config);
  if (config == nullptr || config->local_bytes_per_thread == 0) return false;
  if (context.of_gpu(use.total_ns) < kMinOfTime) return false;
  const auto moved = context.kernels.measured(use.name).per_launch("local_bytes");
  if (moved && *moved == 0) return false;
  const bool full = config->registers >= kMaxRegisters;
  Finding finding = finding_of_kernel("local_memory", use, context);
  const std::string bytes = bytes_text(config->local_bytes_per_thread) + " a thread in local memory";
  finding.effect = full && !finding.where.empty() ? "spills registers: it keeps " + bytes
                                                  : kernel_subject(finding) + "keeps " + bytes;
  finding.why = "`" + finding.kernel + "` has " + count_text(config->registers) +
                " registers a thread, and " + bytes + ". ";
  finding.why +=
      moved ? "A launch moves " + bytes_text(static_cast<std::uint64_t>(*moved)) + " of it through the L1."
            : "Whether it uses them was not measured.";
  finding.evidence = {
      evidence_bytes("local_bytes_per_thread", "local memory per thread", config->local_bytes_per_thread),
      evidence_count("registers", "registers per thread", config->registers),
      evidence_ns("gpu_ns", "GPU time", use.total_ns), evidence_of_gpu(context, use.total_ns),
      evidence_count("launches", "launches", use.count)};
  if (moved) {
    finding.evidence.push_back(evidence_bytes("local_traffic_bytes", "local memory traffic per launch",
                                              static_cast<std::uint64_t>(*moved)));
  }
  finding.next_step = moved ? "raise the register limit, make tiles smaller, and index arrays with constants "
                              "(unroll the loops)"
                            : "measure the local memory traffic; -Xptxas -v distinguishes spills from arrays";
  finding.code = moved ? "__global__ void __launch_bounds__(128) kernel(…)"
                       : "rangefinder run --counters exact --metrics memory -- PROGRAM";
  out.push_back(std::move(finding));
  return true;
}

}  // namespace rangefinder
