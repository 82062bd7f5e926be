// SPDX-License-Identifier: Apache-2.0
//
// Rule: a stream is idle until the work of another stream is done.
//
// stream_waits.h finds the waits and their exposed time. This rule sums them by pair of streams.
#include <algorithm>
#include <map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/timeline/stream_waits.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinExposedNs = 5'000;  // the wait itself costs some microseconds

/// Producer and consumer: context, stream.
using Streams = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>;

struct Exposed {
  std::uint64_t waits = 0, ns = 0, longest_ns = 0;
  std::uint32_t path = 0;  // of the longest
};

class ExposedWait final : public FindingRule {
 public:
  void line(const Line& line) override {
    if (const auto* const event = std::get_if<EventRecord>(&line)) {
      waits_.add(*event);
      any_wait_ = any_wait_ || event->wait;
    } else if (const auto* const context = std::get_if<ContextRecord>(&line)) {
      waits_.add(*context);
    }
  }

  void work(const WorkEvent& event) override {
    if (!event.launched()) return;  // its order among the event calls is unknown
    LaunchRecord launch;
    launch.host.start_ns = event.launch_start_ns;
    launch.host.end_ns = event.launch_end_ns;
    launch.correlation = event.work.correlation;
    launch.api = event.work.graph != 0 ? "cuGraphLaunch" : "cuLaunchKernel";
    waits_.add(launch);
    waits_.add(event.work);
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!any_wait_ || !context.host_times_hold || context.span_ns == 0) return;
    std::map<Streams, Exposed> pairs;
    for (const StreamWait& wait : waits_.waits()) {
      if (!wait.has_work || wait.exposed_ns < kMinExposedNs || !context.takes(wait.consumer_path, wait.at_ns))
        continue;
      Exposed& exposed = pairs[{wait.producer, wait.consumer}];
      ++exposed.waits;
      exposed.ns += wait.exposed_ns;
      if (wait.exposed_ns <= exposed.longest_ns) continue;
      exposed.longest_ns = wait.exposed_ns;
      exposed.path = wait.consumer_path;
    }
    std::vector<std::pair<Streams, Exposed>> heavy(pairs.begin(), pairs.end());
    std::sort(heavy.begin(), heavy.end(),
              [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
    if (heavy.size() > kMaxFindings) heavy.resize(kMaxFindings);
    for (const auto& [streams, exposed] : heavy) report(context, streams, exposed, out);
  }

 private:
  static constexpr double kMinShare = 0.02;
  static void report(const FindingContext& context, const Streams& streams, const Exposed& exposed,
                     std::vector<Finding>& out) {
    const double share = static_cast<double>(exposed.ns) / static_cast<double>(context.span_ns);
    if (share < kMinShare || 2 * exposed.waits < context.loop.count) return;
    const std::string producer = std::to_string(streams.first.second);
    const std::string consumer = std::to_string(streams.second.second);
    Finding finding;
    finding.id = "exposed_stream_wait";
    finding.where = exposed.path == 0 ? "" : numbers_folded(context.path_text(exposed.path));
    finding.effect =
        (finding.where.empty() ? "Stream " + consumer + " idles" : "keeps stream " + consumer + " idle") +
        " until stream " + producer + " is done";
    finding.saving_ns = exposed.ns;
    finding.of_ns = exposed.ns;
    finding.why = context.each_text(exposed.ns) + context.per() + " pass in " +
                  counted_text(exposed.waits, "wait", "waits") + " for an event, " +
                  duration_text(exposed.ns / exposed.waits) + " on average. Stream " + consumer +
                  " has its work already, and runs nothing in that time.";
    finding.evidence = {evidence_count("waits", "waits", exposed.waits),
                        evidence_ns("exposed_ns", "idle time", exposed.ns),
                        evidence_ns("mean_exposed_ns", "mean", exposed.ns / exposed.waits),
                        evidence_ns("longest_exposed_ns", "longest", exposed.longest_ns),
                        evidence_share("share_of_time", "share of the analysed time", share),
                        evidence_text("producer_stream", "producer: stream", producer),
                        evidence_text("consumer_stream", "consumer: stream", consumer)};
    finding.next_step =
        "start the producer earlier, or wait later, just before the kernel that needs the result";
    finding.code = "cudaStreamWaitEvent(consumer, produced);";
    out.push_back(std::move(finding));
  }

  StreamWaits waits_;
  bool any_wait_ = false;
};

}  // namespace

std::unique_ptr<FindingRule> make_exposed_wait_rule() {
  return std::make_unique<ExposedWait>();
}

}  // namespace rangefinder
