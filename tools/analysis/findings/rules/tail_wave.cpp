// SPDX-License-Identifier: Apache-2.0
//
// Rule: the last wave of a grid is mostly empty.
//
//   grid of 2.1 waves   ├ wave 1: full ┤├ wave 2: full ┤├ wave 3: 10 % ┤      3 waves of time for the work
//   of 2.1
//
// Computed from the launch configuration (occupancy.h), as if all blocks took equally long. Reported where a
// fifth of the blocks' places is empty: grids of more than five waves cannot lose that. The saving is that
// share of the kernel's time. Where kernels run beside each other, another one may fill the last wave:
// silent.
#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/timeline/occupancy.h"

namespace rangefinder {
namespace {

constexpr double kMinLost = 0.20;

struct Tails {
  std::uint64_t ns = 0, launches = 0;
  double saved_ns = 0;
  KernelUse heaviest;
  double waves = 0;  // of the heaviest
};

class TailWave final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (context.gpu() == nullptr || context.concurrent) return;
    std::map<std::string, Tails> modules;
    for (const KernelPlace& place : context.places) {
      const LaunchConfigRecord* const config = context.kernels.config(place.use.config);
      if (config == nullptr || place.path == 0) continue;
      const auto occupancy = occupancy_of(*context.gpu(), *config);
      if (!occupancy || occupancy->waves <= 1) continue;
      const double lost = 1 - occupancy->waves / std::ceil(occupancy->waves);
      if (lost < kMinLost) continue;
      Tails& tails = modules[numbers_folded(context.path_text(place.path))];
      tails.ns += place.use.total_ns;
      tails.launches += place.use.count;
      tails.saved_ns += lost * static_cast<double>(place.use.total_ns);
      if (place.use.total_ns <= tails.heaviest.total_ns) continue;
      tails.heaviest = place.use;
      tails.waves = occupancy->waves;
    }
    for (const auto& [module, tails] : heaviest(modules, [](const Tails& one) { return one.saved_ns; }))
      report(context, module, tails, out);
  }

 private:
  static constexpr double kMinOfTime = 0.02;
  static void report(const FindingContext& context, const std::string& module, const Tails& tails,
                     std::vector<Finding>& out) {
    const auto saved_ns = static_cast<std::uint64_t>(tails.saved_ns);
    if (context.of_gpu(saved_ns) < kMinOfTime) return;
    const double filled = tails.waves - std::floor(tails.waves);
    Finding finding;
    finding.id = "tail_wave";
    finding.where = module;
    finding.kernel = context.kernel_text(tails.heaviest.name);
    finding.effect = "leaves the last wave of its grids " + percent_text(1 - filled) + " empty";
    finding.of_ns = context.of_analysed(tails.ns);
    finding.saving_ns = context.of_analysed(saved_ns);
    finding.why = three_digits(tails.waves) + " waves of blocks take the time of " +
                  three_digits(std::ceil(tails.waves)) + " in `" + finding.kernel +
                  "`. Grids with such a tail take " + context.each_text(finding.of_ns) + context.per() +
                  " in this module.";
    finding.evidence = {evidence_number("waves", "waves of the heaviest grid", tails.waves),
                        evidence_share("last_wave_filled", "its last wave is filled by", filled),
                        evidence_ns("gpu_ns", "GPU time of grids with such a tail", tails.ns),
                        evidence_count("launches", "their launches", tails.launches)};
    finding.next_step =
        "choose tiles or a batch so that the blocks fill whole waves, or let blocks take several tiles "
        "(stream-K, "
        "persistent kernels)";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_tail_wave_rule() {
  return std::make_unique<TailWave>();
}

}  // namespace rangefinder
