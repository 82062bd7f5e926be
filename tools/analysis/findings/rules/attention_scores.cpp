// SPDX-License-Identifier: Apache-2.0
//
// Rule: attention writes its scores to memory, between two matrix products and a softmax.
//
//   q kᵀ ─▶ [scale, mask] ─▶ softmax ─▶ [dropout, cast] ─▶ · v      all in one path of one stream
//
// Kernels are classified by name (kernel_kinds.h). The saving is the time of all kernels between the two
// products.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kMaxBetween = 4;  // kernels between a product and the softmax, on either side

/// The part of the pattern that a stream has matched so far.
struct Progress {
  bool product = false, softmax = false;
  std::uint32_t path = 0, kernels = 0;  // of the product; since the latest match
  std::uint64_t between_ns = 0, between_l2 = 0;
};
struct Sum {
  std::uint64_t times = 0, between_ns = 0, l2_bytes = 0;
};

class AttentionScores final : public FindingRule {
 public:
  void line(const Line& line) override {
    if (const auto* const name = std::get_if<KernelNameRecord>(&line))
      sorts_[name->id] = kernel_sort(name->demangled);
  }

  void work(const WorkEvent& event) override {
    if (event.kind != WorkKind::kernel) return;
    Progress& stream = streams_[std::uint64_t{event.work.context} << 32 | event.work.stream];
    const auto at = sorts_.find(event.name);
    const KernelSort sort = at == sorts_.end() ? KernelSort::other : at->second;
    if (sort == KernelSort::matrix_product) {
      if (stream.softmax && stream.path == event.work.path) add(stream);
      stream = {};
      stream.product = true;
      stream.path = event.work.path;
      return;
    }
    const bool new_softmax = sort == KernelSort::softmax && stream.product && !stream.softmax;
    if (new_softmax && stream.path == event.work.path) {
      stream.softmax = true;
      stream.kernels = 0;
    } else if (++stream.kernels > kMaxBetween || sort == KernelSort::softmax) {
      stream = {};
      return;
    }
    stream.between_ns += event.duration();
    stream.between_l2 += event.l2_bytes;
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::map<std::string, Sum> places;
    for (const auto& [path, sum] : sums_) {
      if (!context.takes(path) || path == 0) continue;
      Sum& place = places[numbers_folded(context.path_text(path))];
      place.times += sum.times;
      place.between_ns += sum.between_ns;
      place.l2_bytes += sum.l2_bytes;
    }
    for (const auto& [place, sum] : heaviest(places, [](const Sum& one) { return one.between_ns; }))
      report(context, place, sum, out);
  }

 private:
  static constexpr double kMinOfTime = 0.005;
  void add(const Progress& stream) {
    Sum& sum = sums_[stream.path];
    ++sum.times;
    sum.between_ns += stream.between_ns;
    sum.l2_bytes += stream.between_l2;
  }

  static void report(const FindingContext& context, const std::string& place, const Sum& sum,
                     std::vector<Finding>& out) {
    const double of_time = context.of_gpu(sum.between_ns);
    if (of_time < kMinOfTime) return;
    Finding finding;
    finding.id = "attention_scores";
    finding.effect = "writes attention scores to memory and reads them back";
    finding.where = place;
    finding.saving_ns = context.of_analysed(sum.between_ns);
    finding.of_ns = *finding.saving_ns;
    finding.why = context.each_text(finding.of_ns) + context.per() +
                  " pass in the kernels between the two matrix products: softmax, scale, mask. ";
    finding.why += sum.l2_bytes != 0
                       ? "They move " + bytes_text(sum.l2_bytes / sum.times) +
                             " through the L2 each time; fused attention moves none of them."
                       : "Fused attention keeps the scores on chip and needs none of these kernels.";
    finding.evidence = {
        evidence_count("times", "occurrences", sum.times),
        evidence_ns("between_ns", "kernels between the two matrix products (softmax, scale, mask)",
                    sum.between_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", of_time)};
    if (sum.l2_bytes != 0) {
      finding.evidence.push_back(evidence_bytes("l2_bytes", "their L2 bytes", sum.l2_bytes));
    }
    finding.next_step =
        "use attention that keeps the scores on chip; in PyTorch, flash attention if mask and type allow it";
    finding.code = "torch.nn.functional.scaled_dot_product_attention(q, k, v)";
    out.push_back(std::move(finding));
  }

  std::unordered_map<std::uint32_t, KernelSort> sorts_;  // by kernel name
  std::unordered_map<std::uint64_t, Progress> streams_;  // by context and stream
  std::unordered_map<std::uint32_t, Sum> sums_;          // by path
};

}  // namespace

std::unique_ptr<FindingRule> make_attention_scores_rule() {
  return std::make_unique<AttentionScores>();
}

}  // namespace rangefinder
