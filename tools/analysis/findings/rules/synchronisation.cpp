// SPDX-License-Identifier: Apache-2.0
//
// Rule: every iteration waits for the GPU, and the GPU then waits for the next launch.
//
// The saving is the sum of the idle gaps of 1 to 100 us that follow a synchronisation, without the cost of
// recording the launches in them. idle_in_range reports longer gaps.
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kOfIterations = 0.9;  // that synchronise; below, it is not a pattern of the loop

class Synchronisation final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.host_times_hold || !context.loop.found() || context.rest) return;
    std::uint64_t gaps = 0, gap_ns = 0;
    for (const auto& [path, of_path] : context.gaps.short_gaps()) {
      if (context.loop.paths.count(path) == 0) continue;
      gaps += of_path.sync_count;
      gap_ns += of_path.sync_ns;
    }
    const auto of_analysed = [&](std::uint64_t sum) {
      return sum * context.loop.count / (context.loop.count + 1) / context.gaps.gpus();
    };
    const std::uint64_t gross = of_analysed(gap_ns), launches = of_analysed(gaps);
    const std::optional<std::uint64_t> saving = context.net_ns(gross, launches);
    const double share = static_cast<double>(saving.value_or(gross)) / static_cast<double>(context.span_ns);
    if (share < kMinShare) return;

    std::map<std::string, std::uint64_t> apis;
    std::map<std::size_t, std::uint64_t> by_iteration;
    std::uint64_t calls = 0, waited_ns = 0;
    for (const LoggedCall& call : context.log.calls()) {
      if (call.what != LoggedCall::What::sync || !context.loop.holds(call.start_ns)) continue;
      ++calls;
      waited_ns += call.host_ns;
      ++apis[context.log.api(call.api)];
      ++by_iteration[context.iterations.last_before(call.start_ns)];
    }
    const auto of_loop = static_cast<double>(by_iteration.size()) / static_cast<double>(context.loop.count);
    if (of_loop < kOfIterations) return;
    Finding finding;
    finding.id = "sync_each_iteration";
    finding.where = context.loop.path;
    finding.effect = finding.where.empty() ? "The host waits for the GPU, which then waits for the host"
                                           : "waits for the GPU, which then waits for the host";
    finding.saving_ns = saving;
    finding.of_ns = gross;
    finding.why = "The GPU idles for " + context.each_text(gross) +
                  " an iteration after these calls: " + counts_text(apis) + ". The host waits for " +
                  context.each_text(waited_ns) +
                  " an iteration in them, and launches the next work only afterwards.";
    finding.evidence = {evidence_number("syncs_per_repetition", "synchronisations per iteration",
                                        static_cast<double>(calls) / static_cast<double>(context.loop.count)),
                        evidence_text("apis", "calls:", counts_text(apis)),
                        evidence_ns("waited_ns", "host wait time", waited_ns),
                        evidence_count("gaps", "gaps after them", gaps),
                        evidence_share("share_of_time", "these gaps as a share of the analysed time", share),
                        evidence_count("repetitions", "iterations", context.loop.count)};
    context.add_cost(finding, launches);
    finding.next_step =
        "wait only where the host uses a result, if possible for an event of a few iterations before; "
        ".item(), "
        ".cpu() and print of a tensor all wait";
    finding.code = "total += loss.detach()  # total.item() once, after the loop";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
};

}  // namespace

std::unique_ptr<FindingRule> make_synchronisation_rule() {
  return std::make_unique<Synchronisation>();
}

}  // namespace rangefinder
