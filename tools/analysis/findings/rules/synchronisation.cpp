// SPDX-License-Identifier: Apache-2.0
//
// Rule: every repetition waits for the GPU, and the GPU then waits for the next launch.
//
// The prize is the idle time of 1 to 100 us between a synchronisation and the launch behind it;
// longer ones are blamed on what the host does then (idle_in_range).
#include <map>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kOfRepetitions = 0.9;  // that have one: else it is not the loop's habit

class Synchronisation final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.host_times_hold || !context.loop.found()) return;
    std::uint64_t gaps = 0, gap_ns = 0;
    for (const auto& [path, of_path] : context.gaps.short_gaps()) {
      if (context.loop.paths.count(path) == 0) continue;
      gaps += of_path.sync_count;
      gap_ns += of_path.sync_ns;
    }
    const std::uint64_t saving = gap_ns / (context.loop.count + 1) * context.loop.count / context.gaps.gpus();
    const double share = static_cast<double>(saving) / static_cast<double>(context.span_ns);
    if (share < kMinShare) return;

    std::map<std::string, std::uint64_t> apis;
    std::map<std::size_t, std::uint64_t> by_repetition;
    std::uint64_t calls = 0, waited_ns = 0;
    for (const LoggedCall& call : context.log.calls()) {
      if (call.what != LoggedCall::What::sync || !context.loop.holds(call.start_ns)) continue;
      ++calls;
      waited_ns += call.duration();
      ++apis[context.log.api(call.api)];
      ++by_repetition[context.iterations.at(call.start_ns)];
    }
    const auto habit = static_cast<double>(by_repetition.size()) / static_cast<double>(context.loop.count);
    if (habit < kOfRepetitions) return;
    Finding finding;
    finding.id = "sync_each_iteration";
    finding.title = "The host waits for the GPU in every repetition, and the GPU then waits for the host";
    finding.where = context.loop.path;
    finding.saving_ns = saving;
    finding.severity = severity_of(saving, context.span_ns);
    finding.evidence = {evidence_number("syncs_per_repetition", "synchronisations a repetition",
                                        static_cast<double>(calls) / static_cast<double>(context.loop.count)),
                        evidence_text("apis", "by", names(apis)),
                        evidence_ns("waited_ns", "host waited", waited_ns),
                        evidence_count("gaps", "gaps behind them", gaps),
                        evidence_share("share_of_time", "these gaps as a share of the time", share),
                        evidence_count("repetitions", "repetitions", context.loop.count)};
    finding.next_step =
        "wait only where a result is used on the host, a few repetitions later by an event if need be "
        "(PyTorch: .item(), .cpu() and print of a tensor all wait)";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
  static std::string names(const std::map<std::string, std::uint64_t>& apis) {
    std::string out;
    for (const auto& [api, count] : apis)
      out += (out.empty() ? "" : ", ") + api + " x " + std::to_string(count);
    return out;
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_synchronisation_rule() {
  return std::make_unique<Synchronisation>();
}

}  // namespace rangefinder
