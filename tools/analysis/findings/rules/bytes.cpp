// SPDX-License-Identifier: Apache-2.0
//
// Rules about the bytes that modules move, and about the time that these bytes explain.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/queries/byte_fit.h"
#include "tools/analysis/queries/kernel_kinds.h"

namespace rangefinder {
namespace {

struct BoundModules {
  std::uint64_t run_ns = 0, modules = 0;
  std::uint64_t heaviest_ns = 0;
  double dram_share = 0, l2_share = 0, dram_rate = 0, l2_rate = 0;  // of the heaviest
  std::uint64_t dram_bytes = 0, l2_bytes = 0;                       // of all
  void add(const PathTotals& row, const RowBytes& bytes, const Derived& derived) {
    ++modules;
    run_ns += row.run_ns();
    dram_bytes += bytes.dram();
    l2_bytes += bytes.l2;
    if (row.run_ns() <= heaviest_ns) return;
    heaviest_ns = row.run_ns();
    dram_share = derived.dram_peak_share.value_or(0);
    l2_share = derived.l2_peak_share.value_or(0);
    dram_rate = derived.dram_bytes_per_s.value_or(0);
    l2_rate = derived.l2_bytes_per_s.value_or(0);
  }
};

void add_memory_bound(const FindingContext& context, const std::string& module, const BoundModules& bound,
                      std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  if (context.of_gpu(bound.run_ns) < kMinOfTime) return;
  const bool dram = bound.dram_share >= bound.l2_share;
  Finding finding{"memory_bound", module, context.of_analysed(bound.run_ns)};
  const std::string level = dram ? "DRAM" : "L2";
  finding.effect = "is bound by " + level + " bandwidth";
  finding.why = "It reaches " + percent_text(dram ? bound.dram_share : bound.l2_share) + " of the " + level +
                " peak, " + rate_text(dram ? bound.dram_rate : bound.l2_rate) +
                ". Only fewer bytes make it faster; it moves " +
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
  finding.evidence.push_back(evidence_ns("gpu_busy_ns", "GPU busy", bound.run_ns));
  finding.evidence.push_back(evidence_of_gpu(context, bound.run_ns));
  finding.evidence.push_back(evidence_count("modules", "modules", bound.modules));
  finding.next_step =
      dram ? "move fewer bytes: fuse it with the module before or after, use a narrower type, or process the "
             "data in parts that fit in the L2"
           : "reuse data in shared memory or registers: larger tiles, or fuse it with its neighbours";
  out.push_back(std::move(finding));
}

}  // namespace

// A module reaches 60 % or more of the DRAM or L2 peak bandwidth, so only fewer bytes make it faster.
//
// Checks modules that do at least half of their work themselves, so that a parent does not repeat the finding
// of its child. A share beyond 105 % is an error of measurement.
void find_memory_bound(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kPossible = 1.05;
  std::map<std::string, BoundModules> modules;
  for (const PathTotals& row : context.rows) {
    if (!does_half_itself(row) || row.run_ns() == 0) continue;
    const Derived derived = context.input.values.shown(row);
    const double highest = std::max(derived.dram_peak_share.value_or(0), derived.l2_peak_share.value_or(0));
    if (highest < kRoofShare || highest > kPossible) continue;
    modules[context.module_text(row.path)].add(row, context.input.values.bytes(row), derived);
  }
  for (const auto& [module, bound] : heaviest(modules, [](const BoundModules& one) { return one.run_ns; }))
    add_memory_bound(context, module, bound, out);
}

namespace {

/// Of the lines over all depths and both levels, the one that explains most of the spread.
struct BestFit {
  std::vector<DepthFit> fits;
  std::size_t depth = 0;  ///< in `fits`
  DepthFit::Level level = DepthFit::dram;
  bool found = false;

  [[nodiscard]] const DepthFit& modules() const { return fits[depth]; }
  [[nodiscard]] const FittedLine& line() const { return fits[depth].lines[level]; }
  [[nodiscard]] const char* level_text() const { return level == DepthFit::dram ? "DRAM" : "L2"; }
  /// By its bytes; 0 where the line is below zero.
  [[nodiscard]] double ns_of(const FitModule& module) const {
    return std::max(0.0, line().at(module.bytes[level]));
  }
};

/// Below r = 0.90 a line explains less than four fifths of the spread.
BestFit best_byte_fit(const FindingContext& context) {
  constexpr double kMinR = 0.90;
  constexpr std::size_t kMinModules = 8;
  BestFit best;
  if (context.outside) return best;
  best.fits = byte_fits(context.input.trace, context.input.values, &context.paths);
  double explained = 0;
  for (std::size_t depth = 0; depth < best.fits.size(); ++depth) {
    const DepthFit& fit = best.fits[depth];
    if (fit.modules.size() < kMinModules) continue;
    for (const auto level : {DepthFit::dram, DepthFit::l2}) {
      const FittedLine& line = fit.lines[level];
      if (line.r < kMinR || line.slope <= 0 || line.explained(fit.modules.size()) <= explained) continue;
      explained = line.explained(fit.modules.size());
      best.depth = depth;
      best.level = level;
      best.found = true;
    }
  }
  return best;
}

/// The modules furthest above the line: "a/b: 12 us, by its bytes 3 us".
std::string outliers_text(const FindingContext& context, const BestFit& best) {
  std::string out;
  std::size_t reported = 0;
  for (const std::size_t i : best.line().outliers) {
    const FitModule& module = best.modules().modules[i];
    const double by_bytes = best.ns_of(module);
    if (module.ns < by_bytes || reported == kMaxFindings) continue;
    ++reported;
    out += (out.empty() ? "" : "; ") + context.path_text(module.path) + ": " +
           duration_text(static_cast<std::uint64_t>(module.ns)) + ", by its bytes " +
           duration_text(static_cast<std::uint64_t>(by_bytes));
  }
  return out;
}

}  // namespace

// Over the modules of a program, GPU time follows the bytes that they move.
//
// Least squares of GPU time per call over DRAM bytes per call, and over L2 bytes, at each depth (byte_fit.h).
// The inverse slope is the bandwidth that the program achieves.
void find_time_follows_bytes(const FindingContext& context, std::vector<Finding>& out) {
  const BestFit best = best_byte_fit(context);
  if (!best.found) return;
  const DepthFit& fit = best.modules();
  const FittedLine& line = best.line();
  const std::string level = best.level_text();
  Finding finding{"time_follows_bytes", context.loop.path};
  finding.effect = (finding.where.empty() ? "The time of modules" : "has modules whose time") +
                   (" follows the bytes that they move through " + level);
  finding.why = "r = " + three_digits(line.r) + " over " + count_text(fit.modules.size()) +
                " modules of depth " + count_text(fit.depth) + ", at " + rate_text(1e9 / line.slope) + ". ";
  const std::string above = outliers_text(context, best);
  finding.why += above.empty() ? "No module takes far longer than its bytes explain."
                               : "Longer than their bytes explain: " + above + ".";
  finding.evidence = {evidence_number("r", "correlation r =", line.r),
                      evidence_text("level", "with bytes of", level),
                      evidence_rate("effective_bytes_per_s", "bandwidth from the slope", 1e9 / line.slope),
                      evidence_ns("time_without_bytes_ns", "time of a module that moves no bytes",
                                  static_cast<std::uint64_t>(std::max(0.0, line.intercept))),
                      evidence_count("modules", "modules", fit.modules.size()),
                      evidence_count("depth", "depth of these modules", fit.depth)};
  if (!above.empty())
    finding.evidence.push_back(evidence_text("outliers", "longer than their bytes explain:", above));
  finding.next_step =
      "move fewer bytes in the modules that move most, and check the outliers for other causes";
  finding.code = "rangefinder report DIR --section modules --fit --sort " +
                 std::string(best.level == DepthFit::dram ? "dram" : "l2");
  out.push_back(std::move(finding));
}

namespace {

struct ModulesAbove {
  std::uint64_t run_ns = 0;
  double by_bytes_ns = 0;
};

void add_slower_than_bytes(const FindingContext& context, const std::string& module,
                           const ModulesAbove& above, const BestFit& best, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.01;
  const auto by_bytes_ns = static_cast<std::uint64_t>(above.by_bytes_ns);
  if (by_bytes_ns == 0 || context.of_gpu(above.run_ns - by_bytes_ns) < kMinOfTime) return;
  const std::string level = best.level_text();
  const double factor = static_cast<double>(above.run_ns) / above.by_bytes_ns;
  Finding finding{"slower_than_bytes", module, context.of_analysed(above.run_ns),
                  context.of_analysed(above.run_ns - by_bytes_ns)};
  finding.effect = "takes " + factor_text(factor) + " the time that its " + level + " bytes explain";
  finding.why = context.each_text(finding.of_ns) + context.per() +
                " pass there; by the rate of the other modules it would be " +
                context.each_text(finding.of_ns - *finding.saving_ns) +
                ". The time of these follows their bytes with r = " + three_digits(best.line().r) +
                ", so something else slows this one.";
  finding.evidence = {evidence_factor("slower", "time over that of its bytes", factor),
                      evidence_ns("gpu_busy_ns", "GPU busy", above.run_ns),
                      evidence_ns("by_bytes_ns", "by its bytes", by_bytes_ns),
                      evidence_text("level", "with bytes of", level),
                      evidence_number("r", "correlation r =", best.line().r)};
  finding.next_step = "look at its kernels: many short ones, small grids, or accesses that are far apart";
  finding.code = "rangefinder report DIR --section kernels --range '" + module + "'";
  out.push_back(std::move(finding));
}

}  // namespace

// Modules far above that line (FittedLine::outliers) take longer than their bytes explain.
//
// The saving is the time above the line: the other modules of the program show which rate its GPU reaches.
void find_slower_than_bytes(const FindingContext& context, std::vector<Finding>& out) {
  const BestFit best = best_byte_fit(context);
  if (!best.found) return;
  std::unordered_map<std::uint32_t, const PathTotals*> rows;
  for (const PathTotals& row : context.rows) rows[row.path] = &row;
  std::map<std::string, ModulesAbove> modules;
  for (const std::size_t i : best.line().outliers) {
    const FitModule& module = best.modules().modules[i];
    const double by_bytes = best.ns_of(module);
    const auto row = rows.find(module.path);
    if (module.ns <= by_bytes || row == rows.end()) continue;
    ModulesAbove& above = modules[context.module_text(module.path)];
    above.run_ns += row->second->run_ns();
    above.by_bytes_ns += static_cast<double>(row->second->run_ns()) * by_bytes / module.ns;
  }
  const auto beyond = [](const ModulesAbove& one) {
    return static_cast<double>(one.run_ns) - one.by_bytes_ns;
  };
  for (const auto& [module, above] : heaviest(modules, beyond))
    add_slower_than_bytes(context, module, above, best, out);
}

namespace {

struct AmplifiedModules {
  std::uint64_t run_ns = 0, modules = 0, declared = 0, dram = 0, l2 = 0;
};

void add_amplification(const FindingContext& context, const std::string& module,
                       const AmplifiedModules& amplified, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.01;
  const double factor = static_cast<double>(amplified.dram) / static_cast<double>(amplified.declared);
  const auto saving = static_cast<std::uint64_t>(static_cast<double>(amplified.run_ns) * (1 - 1 / factor));
  if (context.of_gpu(amplified.run_ns) < kMinOfTime) return;
  Finding finding{"amplification", module, context.of_analysed(amplified.run_ns),
                  context.of_analysed(saving)};
  finding.effect = "moves " + factor_text(factor) + " its declared bytes";
  finding.why = bytes_text(amplified.dram) + " moved through DRAM, " + bytes_text(amplified.declared) +
                " were declared. The excess takes its share of " + context.each_text(finding.of_ns) +
                " of GPU time" + context.per() + ".";
  finding.evidence = {evidence_factor("dram_amplification", "DRAM bytes / declared bytes", factor),
                      evidence_bytes("dram_bytes", "DRAM bytes", amplified.dram),
                      evidence_bytes("declared_bytes", "declared bytes", amplified.declared),
                      evidence_bytes("l2_bytes", "L2 bytes", amplified.l2),
                      evidence_ns("gpu_busy_ns", "GPU busy (potential saving: the share of the excess bytes)",
                                  amplified.run_ns),
                      evidence_count("modules", "modules", amplified.modules)};
  finding.next_step =
      "look for intermediate results that are written to memory and read back, and for partly used sectors";
  finding.code = "rangefinder run --counters exact --metrics memory -- PROGRAM";
  out.push_back(std::move(finding));
}

}  // namespace

// A module moves more than twice its declared bytes through DRAM.
//
// Compares DRAM bytes minus their carry-over or error, so that write-backs of other modules' data do not
// count. Skips modules whose carry-over may exceed the declared bytes: reports withhold their DRAM /
// declared. Ignores L2 bytes: repeated reads from the L2 are the purpose of a cache.
void find_amplification(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMaxFactor = 2.0;
  std::map<std::string, AmplifiedModules> modules;
  for (const PathTotals& row : context.rows) {
    const RowBytes bytes = context.input.values.bytes(row);
    if (row.run_ns() == 0 || bytes.partial() || !context.input.values.shown(row).dram_amplification) continue;
    const double least = static_cast<double>(bytes.dram()) - bytes.read_error.value_or(0) -
                         bytes.write_error.value_or(0) - static_cast<double>(bytes.carry_over.value_or(0));
    if (least <= kMaxFactor * static_cast<double>(row.declared_bytes)) continue;
    AmplifiedModules& amplified = modules[context.module_text(row.path)];
    amplified.run_ns += row.run_ns();
    amplified.declared += row.declared_bytes;
    amplified.dram += bytes.dram();
    amplified.l2 += bytes.l2;
    ++amplified.modules;
  }
  const auto weight = [](const AmplifiedModules& one) { return one.run_ns; };
  for (const auto& [module, amplified] : heaviest(modules, weight))
    add_amplification(context, module, amplified, out);
}

namespace {

struct SlowModules {
  std::uint64_t run_ns = 0, dram = 0, l2 = 0, kernels = 0;
  double saved_ns = 0;
};

/// Time in kernels that compute much for the bytes they move, by path.
std::unordered_map<std::uint32_t, std::uint64_t> products_by_path(const FindingContext& context) {
  std::unordered_map<std::uint32_t, bool> sorts;
  std::unordered_map<std::uint32_t, std::uint64_t> out;
  for (const KernelPlace& place : context.places) {
    const auto [sort, is_new] = sorts.try_emplace(place.use.name);
    if (is_new) sort->second = keeps_few_warps(context.kernel_name(place.use.name));
    if (sort->second) out[place.path] += place.use.total_ns;
  }
  return out;
}

void add_slower_than_roofs(const FindingContext& context, const std::string& module, const SlowModules& slow,
                           std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  if (context.of_gpu(slow.run_ns) < kMinOfTime) return;
  const double factor = static_cast<double>(slow.run_ns) / (static_cast<double>(slow.run_ns) - slow.saved_ns);
  Finding finding{"slower_than_roofs", module, context.of_analysed(slow.run_ns),
                  context.of_analysed(static_cast<std::uint64_t>(slow.saved_ns))};
  finding.effect = "takes " + factor_text(factor) + " the time that its bytes and operations explain";
  finding.why =
      context.each_text(finding.of_ns) + context.per() + " pass there, and at its highest roof it would be " +
      context.each_text(finding.of_ns - std::min(finding.of_ns, *finding.saving_ns)) + ". It moves " +
      bytes_text(slow.dram) + " through DRAM and " + bytes_text(slow.l2) + " through the L2.";
  finding.evidence = {evidence_factor("slower", "time over that of the highest roof", factor),
                      evidence_bytes("dram_bytes", "DRAM bytes", slow.dram),
                      evidence_bytes("l2_bytes", "L2 bytes", slow.l2),
                      evidence_ns("gpu_busy_ns", "GPU busy", slow.run_ns),
                      evidence_count("kernels", "kernels", slow.kernels)};
  finding.next_step = "measure what its kernels wait for: access patterns, occupancy, divergence, atomics";
  finding.code = "rangefinder run --counters exact --metrics memory -- PROGRAM";
  out.push_back(std::move(finding));
}

}  // namespace

// A module takes far longer than its bytes and operations explain.
//
//   roofs    DRAM bytes at the DRAM's peak
//            L2 bytes at the same rate: an L2 is at least as fast as the DRAM behind it
//            operations at the peak of their type (--metrics roofline)
//
// Reported below a quarter of every roof. Skips modules whose kernels are short, because a kernel of a few
// microseconds is all latency, and, where operations were not measured, modules of matrix products. Silent
// where kernels run beside each other, because they share the roofs.
void find_slower_than_roofs(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMaxOfRoof = 0.25;
  constexpr std::uint64_t kMinKernelNs = 10'000;
  const auto peak = static_cast<double>(context.input.values.context().peaks.dram_bytes_per_s);
  if (peak <= 0 || context.concurrent) return;
  const std::unordered_map<std::uint32_t, std::uint64_t> products = products_by_path(context);
  std::map<std::string, SlowModules> modules;
  for (const PathTotals& row : context.rows) {
    const RowBytes bytes = context.input.values.bytes(row);
    const Derived derived = context.input.values.shown(row);
    const bool own = does_half_itself(row) && row.run_ns() >= kMinKernelNs * row.kernels;
    if (!own || row.kernels == 0 || bytes.partial() || !derived.dram_peak_share || !derived.l2_bytes_per_s)
      continue;
    const auto of_products = products.find(row.path);
    const bool computes = of_products != products.end() && of_products->second * 2 > row.run_ns();
    if (computes && !derived.compute_peak_share) continue;
    const double roof = std::max(
        {*derived.dram_peak_share, *derived.l2_bytes_per_s / peak, derived.compute_peak_share.value_or(0)});
    if (roof > kMaxOfRoof) continue;
    SlowModules& slow = modules[context.module_text(row.path)];
    slow.run_ns += row.run_ns();
    slow.kernels += row.kernels;
    slow.dram += bytes.dram();
    slow.l2 += bytes.l2;
    slow.saved_ns += static_cast<double>(row.run_ns()) * (1 - roof);
  }
  for (const auto& [module, slow] : heaviest(modules, [](const SlowModules& one) { return one.saved_ns; }))
    add_slower_than_roofs(context, module, slow, out);
}

}  // namespace rangefinder
