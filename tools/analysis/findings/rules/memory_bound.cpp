// SPDX-License-Identifier: Apache-2.0
//
// Rule: a module reaches 60 % or more of the DRAM or L2 peak bandwidth, so only fewer bytes make it faster.
//
// Checks modules that do at least half of their work themselves, so that a parent does not repeat the finding
// of its child.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kPossible = 1.05;  // a larger share is a measurement error

struct Bound {
  std::uint64_t gpu_ns = 0, modules = 0;
  std::uint64_t heaviest_ns = 0;
  double dram_share = 0, l2_share = 0, dram_rate = 0, l2_rate = 0;  // of the heaviest
  std::uint64_t dram_bytes = 0, l2_bytes = 0;                       // of all
};

class MemoryBound final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::map<std::string, Bound> places;
    for (const PathTotals& row : context.rows) {
      if (row.gpu_ns_exclusive * 2 >= row.gpu_ns && row.gpu_ns != 0) add(context, row, places);
    }
    for (const auto& [place, bound] : heaviest(places, [](const Bound& one) { return one.gpu_ns; }))
      report(context, place, bound, out);
  }

 private:
  static constexpr double kMinOfTime = 0.02;  // of the GPU time of all kernels
  static void add(const FindingContext& context, const PathTotals& row,
                  std::map<std::string, Bound>& places) {
    const Derived derived = context.input.values.derived(row);
    const double dram = derived.dram_peak_share.value_or(0), l2 = derived.l2_peak_share.value_or(0);
    const double highest = std::max(dram, l2);
    if (highest < kRoofShare || highest > kPossible) return;
    const RowBytes bytes = context.input.values.bytes(row);
    Bound& bound = places[numbers_folded(context.path_text(row.path))];
    ++bound.modules;
    bound.gpu_ns += row.gpu_ns;
    bound.dram_bytes += bytes.dram();
    bound.l2_bytes += bytes.l2;
    if (row.gpu_ns <= bound.heaviest_ns) return;
    bound.heaviest_ns = row.gpu_ns;
    bound.dram_share = dram;
    bound.l2_share = l2;
    bound.dram_rate = derived.dram_bytes_per_s.value_or(0);
    bound.l2_rate = derived.l2_bytes_per_s.value_or(0);
  }

  static void report(const FindingContext& context, const std::string& place, const Bound& bound,
                     std::vector<Finding>& out) {
    const double of_time = context.of_gpu(bound.gpu_ns);
    if (of_time < kMinOfTime) return;
    const bool dram = bound.dram_share >= bound.l2_share;
    Finding finding;
    finding.id = "memory_bound";
    const std::string level = dram ? "DRAM" : "L2";
    finding.effect = "is bound by " + level + " bandwidth";
    finding.where = place;
    finding.of_ns = context.of_analysed(bound.gpu_ns);
    finding.why = "It reaches " + percent_text(dram ? bound.dram_share : bound.l2_share) + " of the " +
                  level + " peak, " + rate_text(dram ? bound.dram_rate : bound.l2_rate) +
                  ". Only fewer bytes make it faster; " + "it moves " +
                  bytes_text(dram ? bound.dram_bytes : bound.l2_bytes) + " in all.";
    if (dram) {
      finding.evidence = {evidence_share("dram_peak_share", "share of the DRAM peak", bound.dram_share),
                          evidence_rate("dram_bytes_per_s", "DRAM bandwidth", bound.dram_rate),
                          evidence_bytes("dram_bytes", "DRAM bytes", bound.dram_bytes)};
    } else {
      finding.evidence = {evidence_share("l2_peak_share", "share of the L2 peak", bound.l2_share),
                          evidence_rate("l2_bytes_per_s", "L2 bandwidth", bound.l2_rate),
                          evidence_bytes("l2_bytes", "L2 bytes", bound.l2_bytes)};
    }
    finding.evidence.push_back(evidence_ns("gpu_ns", "GPU time", bound.gpu_ns));
    finding.evidence.push_back(evidence_share("share_of_gpu_time", "share of all kernel time", of_time));
    finding.evidence.push_back(evidence_count("modules", "modules", bound.modules));
    finding.next_step =
        dram ? "move fewer bytes: fuse it with the module before or after, use a narrower type, or "
               "process the data in parts that fit in the L2"
             : "reuse data in shared memory or registers: larger tiles, or fuse it with its "
               "neighbours";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_memory_bound_rule() {
  return std::make_unique<MemoryBound>();
}

}  // namespace rangefinder
