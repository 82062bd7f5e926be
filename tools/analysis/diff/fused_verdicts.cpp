// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/fused_verdicts.h"

#include <algorithm>
#include <string>

#include "tools/analysis/diff/fused_modules.h"

namespace rangefinder {
namespace {

/// Of an iteration. 0: the path has none.
double value_of(const IterationSeries& series, const std::string& path, Quantity quantity) {
  const auto samples = series.sampled.find(path);
  if (quantity != Quantity::gpu_ns && samples != series.sampled.end())
    return quantity == Quantity::dram_bytes ? samples->second.dram_bytes : samples->second.l2_bytes;
  const auto at = series.paths.find(path);
  if (at == series.paths.end()) return 0;
  const Moments& moments = at->second.spreads[static_cast<std::size_t>(quantity)];
  return moments.n() == 0 ? 0 : moments.mean();
}

/// Kernels that only this side fuses over several modules.
FusedModules only_here(const IterationSeries& here, const IterationSeries& there) {
  FusedModules out;
  for (const auto& [path, series] : here.paths)
    if (FusedModules::is_fused(path) && there.paths.count(path) == 0) out.add(path);
  return out;
}

/// Whether the verdict holds however much of the fused kernels is this module's.
bool holds_with(const Change& change, double fused_in_a, double fused_in_b, double least) {
  const double a = change.a.value_or(0), b = change.b.value_or(0);
  if (change.verdict == Verdict::better) return a - (b + fused_in_b) >= least * a;
  if (change.verdict == Verdict::worse) return b - (a + fused_in_a) >= least * a;
  return change.verdict == Verdict::untested || std::max(fused_in_a, fused_in_b) < least * a;
}

}  // namespace

void judge_fused(std::vector<Change>& modules, const IterationSeries& a, const IterationSeries& b,
                 double least) {
  const FusedModules in_a = only_here(a, b), in_b = only_here(b, a);
  if (in_a.empty() && in_b.empty()) return;
  const auto sum = [](const FusedModules& fused, const IterationSeries& series, const Change& change,
                      bool& any) {
    double out = 0;
    for (const std::string& path : fused.with_part_of(change.key)) {
      out += value_of(series, path, change.quantity);
      any = true;
    }
    return out;
  };
  for (Change& change : modules) {
    bool any = FusedModules::is_fused(change.key) && (!change.a || !change.b);
    const double of_a = sum(in_a, a, change, any), of_b = sum(in_b, b, change, any);
    if (any && !holds_with(change, of_a, of_b, least)) change.verdict = Verdict::fused;
  }
}

}  // namespace rangefinder
