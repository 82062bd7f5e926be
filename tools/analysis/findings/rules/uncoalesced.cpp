// SPDX-License-Identifier: Apache-2.0
//
// Rule: uncoalesced access: the threads of a warp load or store words that are far apart.
//
// Counts sectors of 32 bytes per request (`--metrics memory`). A warp of neighbouring 4-byte words needs
// 4, one of 16-byte words 16. No coalesced access needs more than 16. GPUs from compute capability 10 on have
// 32-byte accesses, which exceed 16 too: the rule does not apply to them.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMaxOfNeighbours = 16;
constexpr double kOfWords = 4;               // neighbouring words of 4 bytes
constexpr std::uint32_t kWideAccesses = 10;  // compute capability

struct Access {
  const char *named, *sectors, *global, *generic, *id, *does;
};
constexpr Access kLoads{"load_sectors_per_request",
                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                        "smsp__inst_executed_op_global_ld.sum",
                        "smsp__inst_executed_op_generic_ld.sum",
                        "uncoalesced_loads",
                        "loads"};
constexpr Access kStores{"store_sectors_per_request",
                         "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "smsp__inst_executed_op_global_st.sum",
                         "smsp__inst_executed_op_generic_st.sum",
                         "uncoalesced_stores",
                         "stores"};

/// Traces of earlier versions have instructions instead of requests, which are as many.
std::optional<double> sectors_per_request(const MeasuredKernel& measured, const Access& access) {
  if (const auto value = measured.values.value(access.named)) return value;
  const auto sectors = measured.mean(access.sectors);
  const double instructions =
      measured.mean(access.global).value_or(0) + measured.mean(access.generic).value_or(0);
  return sectors && instructions > 0 ? std::optional(*sectors / instructions) : std::nullopt;
}

class Uncoalesced final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (context.gpu() == nullptr || context.gpu()->compute_major >= kWideAccesses) return;
    for (const KernelUse& use : context.uses) {
      find(context, use, kLoads, out);
      find(context, use, kStores, out);
    }
  }

 private:
  static constexpr double kMinOfTime = 0.01;
  static void find(const FindingContext& context, const KernelUse& use, const Access& access,
                   std::vector<Finding>& out) {
    const MeasuredKernel& measured = context.kernels.measured(use.name);
    const auto measured_each = sectors_per_request(measured, access);
    if (!measured_each || *measured_each <= kMaxOfNeighbours || context.of_gpu(use.total_ns) < kMinOfTime)
      return;
    const double each = *measured_each;
    Finding finding;
    finding.id = access.id;
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    finding.effect = (finding.where.empty() ? "`" + finding.kernel + "` " : "") + access.does +
                     " words that are far apart, " + factor_text(each / kOfWords) +
                     " the sectors of neighbours";
    finding.of_ns = context.of_analysed(module_ns);
    finding.saving_ns =
        static_cast<std::uint64_t>(static_cast<double>(finding.of_ns) * (1 - kOfWords / each));
    finding.why = three_digits(each) +
                  " sectors of 32 bytes a warp, where neighbouring words of 4 bytes need " +
                  three_digits(kOfWords) + ": with such words its " + access.does + " use " +
                  percent_text(kOfWords / each) + " of the bytes that they move. `" + finding.kernel +
                  "` takes " + context.each_text(finding.of_ns) + " of GPU time" + context.per() +
                  ", of which the excess sectors have their share.";
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
        "shared "
        "memory";
    finding.code = "__shared__ float tile[32][33];  // 33: no bank conflicts";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_uncoalesced_rule() {
  return std::make_unique<Uncoalesced>();
}

}  // namespace rangefinder
