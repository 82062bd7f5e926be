// SPDX-License-Identifier: Apache-2.0
//
// Rules about several streams: waits of one for another, kernels that run at one time.
#include <algorithm>
#include <map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"

namespace rangefinder {
namespace {

/// Producer and consumer: context, stream.
using Streams = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>;

struct Exposed {
  std::uint64_t waits = 0, ns = 0, longest_ns = 0;
  std::uint32_t path = 0;  // of the longest
};

void report_exposed(const FindingContext& context, const Streams& streams, const Exposed& exposed,
                    std::vector<Finding>& out) {
  constexpr double kMinShare = 0.02;
  const double share = context.of_span(exposed.ns);
  if (share < kMinShare || 2 * exposed.waits < context.loop.count) return;
  const std::string producer = std::to_string(streams.first.second);
  const std::string consumer = std::to_string(streams.second.second);
  Finding finding{"exposed_stream_wait", context.module_text(exposed.path), exposed.ns, exposed.ns};
  finding.effect =
      (finding.where.empty() ? "Stream " + consumer + " idles" : "keeps stream " + consumer + " idle") +
      " until stream " + producer + " is done";
  finding.why = context.each_text(exposed.ns) + context.per() + " pass in " +
                counted_text(context.each_count(exposed.waits, context.loop.count), "wait", "waits") +
                " for an event, " + duration_text(exposed.ns / exposed.waits) + " on average. Stream " +
                consumer + " has its work already, and runs nothing in that time.";
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

void add_cluster(const FindingContext& context, const std::vector<ConcurrentKernels::Kernel>& kernels,
                 const ConcurrentKernels::Times& together, std::vector<Finding>& out) {
  constexpr std::uint64_t kMinAlone = 3;
  constexpr double kMinSlower = 1.10, kMinShare = 0.02;
  const auto& alone_times = context.facts.concurrent.alone();
  std::uint64_t one_by_one = 0;
  std::map<std::string, std::uint64_t> names;
  for (const ConcurrentKernels::Kernel kernel : kernels) {
    const auto alone = alone_times.find(kernel);
    if (alone == alone_times.end() || alone->second.count < kMinAlone) return;
    one_by_one += alone->second.ns / alone->second.count;
    ++names[context.kernel_text(static_cast<std::uint32_t>(kernel >> 32))];
  }
  if (one_by_one == 0) return;
  const std::uint64_t mean = together.ns / together.count;
  const double factor = static_cast<double>(mean) / static_cast<double>(one_by_one);
  const std::uint64_t saving = mean > one_by_one ? (mean - one_by_one) * together.count : 0;
  const double share = context.of_span(saving);
  if (factor < kMinSlower || share < kMinShare) return;
  const KernelUse first{static_cast<std::uint32_t>(kernels.front() >> 32),
                        static_cast<std::uint32_t>(kernels.front())};
  Finding finding{"slower_together", context.module_of(first).module, context.of_analysed(together.ns),
                  context.of_analysed(saving)};
  set_kernel(context, first.name, finding);
  finding.effect =
      (finding.where.empty() ? "Concurrent kernels take " : "runs kernels concurrently that take ") +
      factor_text(factor) + " as long as one after the other";
  finding.why = "Together they take " + duration_text(mean) + ", alone " + duration_text(one_by_one) +
                " in sum, in " + count_text(together.count) + " runs. They are " + counts_text(names) +
                ", and compete for cache, memory or multiprocessors.";
  finding.evidence = {evidence_count("times", "concurrent runs", together.count),
                      evidence_count("kernels", "kernels in each", kernels.size()),
                      evidence_ns("together_ns", "mean time together", mean),
                      evidence_ns("one_by_one_ns", "sum of their mean times alone", one_by_one),
                      evidence_factor("slower", "slowdown", factor)};
  finding.next_step = "put these kernels on one stream, or give each of them fewer blocks";
  out.push_back(std::move(finding));
}

}  // namespace

/// A stream is idle until the work of another stream is done. stream_waits.h finds the waits and their
/// exposed time. This sums them by pair of streams.
void find_exposed_wait(const FindingContext& context, std::vector<Finding>& out) {
  constexpr std::uint64_t kMinExposedNs = 5'000;  // the wait itself costs some microseconds
  if (!context.host_times_valid || context.span_ns == 0) return;
  std::map<Streams, Exposed> pairs;
  for (const StreamWait& wait : context.facts.stream_waits) {
    // A collective ends when the slowest rank has come: no order of launches changes that.
    if (!wait.has_work || wait.exposed_ns < kMinExposedNs ||
        context.facts.communicating.count(wait.producer) + context.facts.communicating.count(wait.consumer) !=
            0 ||
        !context.analyses(wait.consumer_path, wait.at_ns))
      continue;
    Exposed& exposed = pairs[{wait.producer, wait.consumer}];
    ++exposed.waits;
    exposed.ns += wait.exposed_ns;
    if (wait.exposed_ns <= exposed.longest_ns) continue;
    exposed.longest_ns = wait.exposed_ns;
    exposed.path = wait.consumer_path;
  }
  for (const auto& [streams, exposed] : heaviest(pairs, [](const Exposed& one) { return one.ns; }))
    report_exposed(context, streams, exposed, out);
}

/// Kernels take longer when they run concurrently than one after the other: a cluster of kernels that overlap
/// in a chain, compared with the sum of the mean times of each when it ran alone. Clusters with a kernel that
/// rarely ran alone are excluded.
void find_slower_together(const FindingContext& context, std::vector<Finding>& out) {
  if (context.outside) return;
  std::vector<Finding> found;
  for (const auto& [kernels, together] : context.facts.concurrent.together())
    add_cluster(context, kernels, together, found);
  keep_most_valuable(found);
  for (Finding& finding : found) out.push_back(std::move(finding));
}

}  // namespace rangefinder
