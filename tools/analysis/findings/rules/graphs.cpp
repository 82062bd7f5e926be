// SPDX-License-Identifier: Apache-2.0
//
// Rules about replayed CUDA graphs.
#include <map>
#include <unordered_set>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"

namespace rangefinder {
namespace {

struct ReplayedModule {
  std::uint64_t run_ns = 0, modules = 0;
  RowBytes bytes;  // of all
};

void add_graph_below_peak(const FindingContext& context, const std::string& module,
                          const ReplayedModule& replayed, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.05, kMinOfPeak = 0.20, kReachable = 0.90, kMaxReuse = 4;
  const auto peak = static_cast<double>(context.input.values.context().peaks.dram_bytes_per_s);
  if (peak <= 0 || replayed.run_ns == 0 || !replayed.bytes.shows_dram() ||
      context.of_gpu(replayed.run_ns) < kMinOfTime)
    return;
  const double rate =
      static_cast<double>(replayed.bytes.dram()) / (static_cast<double>(replayed.run_ns) * 1e-9);
  const double share = rate / peak;
  if (share < kMinOfPeak || share >= kRoofShare) return;
  // Products of large matrices: the DRAM's peak is not what limits them.
  if (static_cast<double>(replayed.bytes.l2) >= kMaxReuse * static_cast<double>(replayed.bytes.dram()))
    return;
  Finding finding{"graph_below_peak", module, context.of_analysed(replayed.run_ns)};
  finding.effect = "replays at " + percent_text(share) + " of the DRAM peak";
  finding.saving_ns =
      static_cast<std::uint64_t>(static_cast<double>(finding.of_ns) * (1 - share / kReachable));
  finding.why = rate_text(rate) + " is " + percent_text(share) + " of the peak; a long read reaches " +
                percent_text(kReachable) + ". " + context.each_text(finding.of_ns) + context.per() +
                " pass in " + counted_text(replayed.modules, "such module", "such modules") +
                ", and the host launches nothing in between.";
  finding.evidence = {evidence_share("dram_peak_share", "share of the DRAM peak", share),
                      evidence_rate("dram_bytes_per_s", "DRAM bandwidth", rate),
                      evidence_bytes("dram_bytes", "DRAM bytes", replayed.bytes.dram()),
                      evidence_ns("gpu_busy_ns", "GPU busy", replayed.run_ns),
                      evidence_count("modules", "modules", replayed.modules)};
  finding.next_step =
      "find the kernels of one layer that move little for their time, and fuse them with their neighbours";
  finding.code = "rangefinder report DIR --section kernels --range '" + module + "'";
  out.push_back(std::move(finding));
}

}  // namespace

// The layers of a replayed graph read memory below 60 % of the DRAM's peak.
//
// Replays have no gaps of the host, so a layer that is bound by its weights should run near the peak.
// Reported from 20 % on, and below four bytes through L2 for each of DRAM: else something else than memory
// limits the layer. The saving is the time beyond
// that at 90 % of the peak, which long reads reach (known_bytes: 88 %).
void find_graph_below_peak(const FindingContext& context, std::vector<Finding>& out) {
  std::unordered_set<std::uint32_t> in_graphs;
  for (const KernelPlace& place : context.places) {
    if (place.graph != 0) in_graphs.insert(place.path);
  }
  std::map<std::string, ReplayedModule> modules;
  for (const PathTotals& row : context.rows) {
    if (in_graphs.count(row.path) == 0 || !does_half_itself(row)) continue;
    const RowBytes bytes = context.input.values.bytes(row);
    if (!bytes.has_parts() || bytes.partial()) continue;
    ReplayedModule& module = modules[context.module_text(row.path)];
    module.run_ns += row.run_ns();
    module.bytes += bytes;
    ++module.modules;
  }
  for (const auto& [name, module] : heaviest(modules, [](const ReplayedModule& one) { return one.run_ns; }))
    add_graph_below_peak(context, name, module, out);
}

}  // namespace rangefinder
