// SPDX-License-Identifier: Apache-2.0
//
// Rule: uncoalesced access: the threads of a warp load or store words that are far apart.
//
// Counts sectors of 32 bytes per request (`--metrics coalescing`). A warp of neighbouring 4-byte words needs
// 4, one of 16-byte words 16. No coalesced access needs more than 16. GPUs from compute capability 10 on have
// 32-byte accesses, which exceed 16 too: the rule does not apply to them.
#include <algorithm>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMaxOfNeighbours = 16;
constexpr double kOfWords = 4;               // neighbouring words of 4 bytes
constexpr std::uint32_t kWideAccesses = 10;  // compute capability

struct Access {
  const char *sectors, *global, *generic, *id, *title, *does;
};
constexpr Access kLoads{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                        "smsp__inst_executed_op_global_ld.sum",
                        "smsp__inst_executed_op_generic_ld.sum",
                        "uncoalesced_loads",
                        "Uncoalesced loads in ",
                        "loads"};
constexpr Access kStores{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "smsp__inst_executed_op_global_st.sum",
                         "smsp__inst_executed_op_generic_st.sum",
                         "uncoalesced_stores",
                         "Uncoalesced stores in ",
                         "stores"};

class Uncoalesced final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (context.gpu() == nullptr || context.gpu()->compute_major >= kWideAccesses) return;
    for (const KernelTotals& kernel : context.input.trace.selected().kernels()) {
      find(context, kernel, kLoads, out);
      find(context, kernel, kStores, out);
    }
  }

 private:
  static constexpr double kMinOfTime = 0.01;
  static void find(const FindingContext& context, const KernelTotals& kernel, const Access& access,
                   std::vector<Finding>& out) {
    const auto sectors = context.kernels.metric(kernel.name, access.sectors);
    const auto requests = context.kernels.metric_sum(kernel.name, {access.global, access.generic});
    const auto all_ns = static_cast<double>(std::max<std::uint64_t>(1, context.kernels.total_ns()));
    if (!sectors || !requests || *requests <= 0 || static_cast<double>(kernel.total_ns) < kMinOfTime * all_ns)
      return;
    const double each = *sectors / *requests;
    if (each <= kMaxOfNeighbours) return;
    Finding finding;
    finding.id = access.id;
    finding.where = context.kernel_text(kernel.name);
    finding.title = access.title + finding.where;
    finding.saving_ns =
        static_cast<std::uint64_t>(static_cast<double>(kernel.total_ns) * (1 - kOfWords / each));
    finding.severity = severity_of(*finding.saving_ns, context.span_ns);
    finding.evidence = {
        evidence_number("sectors_per_request", "sectors per request of a warp", each),
        evidence_number("sectors_of_neighbours", "neighbouring 4-byte words need", kOfWords),
        evidence_number("requests_per_launch", std::string("warp ") + access.does + " per launch", *requests),
        evidence_ns("gpu_ns", "GPU time (potential saving: the share of the excess sectors)",
                    kernel.total_ns),
        evidence_count("launches", "launches", kernel.count)};
    finding.next_step =
        "let neighbouring threads access neighbouring addresses: swap the loops or the layout, or go through "
        "shared memory in tiles (32 x 33 words, which avoids bank conflicts)";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_uncoalesced_rule() {
  return std::make_unique<Uncoalesced>();
}

}  // namespace rangefinder
