// SPDX-License-Identifier: Apache-2.0
//
// Rule: a module moves more than twice its declared bytes through DRAM.
//
// Compares DRAM bytes minus their carry-over or error, so that write-backs of other modules' data do not
// count. Ignores L2 bytes: repeated reads from the L2 are the purpose of a cache.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMax = 2.0;

struct Amplified {
  std::uint64_t gpu_ns = 0, modules = 0, declared = 0, dram = 0, l2 = 0;
};

class Amplification final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::map<std::string, Amplified> places;
    for (const PathTotals& row : context.rows) {
      const RowBytes bytes = context.input.values.bytes(row);
      if (row.declared_bytes == 0 || row.gpu_ns == 0 || bytes.partial()) continue;
      if (bytes.source == RowBytes::Source::none) continue;
      const double least = static_cast<double>(bytes.dram()) - bytes.read_error.value_or(0) -
                           bytes.write_error.value_or(0) - static_cast<double>(bytes.carry_over.value_or(0));
      if (least <= kMax * static_cast<double>(row.declared_bytes)) continue;
      Amplified& place = places[numbers_folded(context.path_text(row.path))];
      place.gpu_ns += row.gpu_ns;
      place.declared += row.declared_bytes;
      place.dram += bytes.dram();
      place.l2 += bytes.l2;
      ++place.modules;
    }
    for (const auto& [place, amplified] : heaviest(places, [](const Amplified& one) { return one.gpu_ns; }))
      report(context, place, amplified, out);
  }

 private:
  static constexpr double kMinOfTime = 0.01;
  static void report(const FindingContext& context, const std::string& place, const Amplified& amplified,
                     std::vector<Finding>& out) {
    const double factor = static_cast<double>(amplified.dram) / static_cast<double>(amplified.declared);
    const auto saving = static_cast<std::uint64_t>(static_cast<double>(amplified.gpu_ns) * (1 - 1 / factor));
    if (context.of_gpu(amplified.gpu_ns) < kMinOfTime) return;
    Finding finding;
    finding.id = "amplification";
    finding.effect = "moves " + factor_text(factor) + " its declared bytes";
    finding.where = place;
    finding.saving_ns = context.of_analysed(saving);
    finding.of_ns = context.of_analysed(amplified.gpu_ns);
    finding.why = bytes_text(amplified.dram) + " moved through DRAM, " + bytes_text(amplified.declared) +
                  " were declared. The excess takes its share of " + context.each_text(finding.of_ns) +
                  " of GPU time" + context.per() + ".";
    finding.evidence = {
        evidence_factor("dram_amplification", "DRAM bytes / declared bytes", factor),
        evidence_bytes("dram_bytes", "DRAM bytes", amplified.dram),
        evidence_bytes("declared_bytes", "declared bytes", amplified.declared),
        evidence_bytes("l2_bytes", "L2 bytes", amplified.l2),
        evidence_ns("gpu_ns", "GPU time (potential saving: the share of the excess bytes)", amplified.gpu_ns),
        evidence_count("modules", "modules", amplified.modules)};
    finding.next_step =
        "look for intermediate results that are written to memory and read back, and for partly used sectors";
    finding.code = "rangefinder run --counters exact --metrics memory -- PROGRAM";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_amplification_rule() {
  return std::make_unique<Amplification>();
}

}  // namespace rangefinder
