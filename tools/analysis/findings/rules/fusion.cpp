// SPDX-License-Identifier: Apache-2.0
//
// Rules about sequences of kernels that could be one kernel. work_patterns.h finds them.
#include <algorithm>
#include <map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/queries/kernel_labels.h"

namespace rangefinder {
namespace {

/// The chains of one place, grouped by their kernels.
struct ChainPlace {
  PatternSum sum;
  std::map<std::string, PatternSum> kinds;
  [[nodiscard]] const std::string& heaviest() const {
    const auto lighter = [](const auto& a, const auto& b) { return a.second.saved_ns < b.second.saved_ns; };
    return std::max_element(kinds.begin(), kinds.end(), lighter)->first;
  }
};

/// PyTorch's elementwise kernels share one name; their template arguments name the operation.
std::string operation(const std::string& demangled) {
  for (const std::string_view mark : {"CUDAFunctorOnSelf_", "CUDAFunctor_", "binary_internal::", "launch_"}) {
    const std::size_t at = demangled.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t from = at + mark.size();
    return demangled.substr(from, demangled.find_first_of("<(>,:", from) - from);
  }
  const std::size_t cuda = demangled.find("_kernel_cuda");
  if (cuda != std::string::npos) {
    const std::size_t from = demangled.rfind(':', cuda) + 1;
    return demangled.substr(from, cuda - from);
  }
  return short_kernel_name(demangled);
}

/// "a, b x 2".
std::string names_text(const FindingContext& context, const std::vector<std::uint32_t>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const std::string name = operation(context.kernel_name(names[i]));
    std::size_t next = i + 1;
    while (next < names.size() && operation(context.kernel_name(names[next])) == name) ++next;
    out += (out.empty() ? "" : ", ") + name;
    if (next - i > 1) out += " x " + std::to_string(next - i);
    i = next;
  }
  return out;
}

/// Of all places: one compilation fuses them.
void report_chains(const FindingContext& context, const ChainPlace& place,
                   const std::map<std::string, std::uint64_t>& modules, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.01;
  const PatternSum& sum = place.sum;
  if (context.of_gpu(sum.saved_ns) < kMinOfTime) return;
  Finding finding{"unfused_chain", "", context.of_analysed(sum.total_ns), context.of_analysed(sum.saved_ns)};
  set_modules(context, modules, finding);
  finding.effect = finding.where.empty() ? "Elementwise kernels run one by one that could be one kernel"
                                         : "runs elementwise kernels one by one that could be one kernel";
  finding.why = context.each_text(finding.of_ns) + context.per() + " pass in " +
                counted_text(context.each_count(sum.times, context.loop.all), "chain", "chains") + ", " +
                context.each_text(*finding.saving_ns) +
                " of it beyond the longest kernel of each. The heaviest chain is " + place.heaviest() + ".";
  finding.evidence = {evidence_text("kernels", "heaviest chain:", place.heaviest()),
                      evidence_count("kinds", "distinct chains there", place.kinds.size()),
                      evidence_count("chains", "occurrences", sum.times),
                      evidence_ns("gpu_ns", "their GPU time", sum.total_ns),
                      evidence_ns("saved_ns", "beyond the longest kernel of each", sum.saved_ns)};
  if (sum.l2_bytes != 0) finding.evidence.push_back(evidence_bytes("l2_bytes", "L2 bytes", sum.l2_bytes));
  finding.next_step =
      "fuse them, or fold them into the previous kernel: scale and bias into a convolution's weights, an "
      "activation into its epilogue";
  finding.code = "model = torch.compile(model)";
  out.push_back(std::move(finding));
}

/// Of all places: one change of the attention function mends them.
void report_attention(const FindingContext& context, const PatternSum& sum,
                      const std::map<std::string, std::uint64_t>& modules, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.005;
  const double of_time = context.of_gpu(sum.saved_ns);
  if (of_time < kMinOfTime) return;
  const std::uint64_t attention_ns = context.of_analysed(sum.total_ns);
  Finding finding{"attention_scores", "", attention_ns, attention_ns};
  set_modules(context, modules, finding);
  finding.effect = finding.where.empty() ? "Attention writes its scores to memory and reads them back"
                                         : "writes attention scores to memory and reads them back";
  finding.why = context.each_text(finding.of_ns) + context.per() + " pass in attention, " +
                context.each_text(context.of_analysed(sum.saved_ns)) +
                " of it between the two matrix products: softmax, scale, mask. The time of a fused kernel is "
                "not known, and not taken off. ";
  finding.why += sum.l2_bytes != 0
                     ? "The kernels between move " + bytes_text(sum.l2_bytes / sum.times) +
                           " through the L2 each time; fused attention moves none of them."
                     : "Fused attention keeps the scores on chip and needs none of these kernels.";
  finding.evidence = {
      evidence_count("times", "occurrences", sum.times),
      evidence_ns("attention_ns", "both products and the kernels between", sum.total_ns),
      evidence_ns("between_ns", "kernels between the two matrix products (softmax, scale, mask)",
                  sum.saved_ns),
      evidence_share("share_of_gpu_time", "share of all kernel time", of_time)};
  if (sum.l2_bytes != 0) {
    finding.evidence.push_back(evidence_bytes("l2_bytes", "their L2 bytes", sum.l2_bytes));
  }
  finding.next_step =
      "use attention that keeps the scores on chip; in PyTorch, flash attention if mask and type allow it";
  finding.code = "torch.nn.functional.scaled_dot_product_attention(q, k, v)";
  out.push_back(std::move(finding));
}

void report_nodes(const FindingContext& context, const PatternSum& sum,
                  const std::map<std::string, std::uint64_t>& modules, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  constexpr std::uint64_t kMinGpuNs = 1'000'000;  // of all kernels; shorter programs are not worth tuning
  if (context.of_gpu(sum.saved_ns) < kMinOfTime || context.gpu_ns < kMinGpuNs) return;
  Finding finding{"small_graph_kernels", "", context.of_analysed(sum.total_ns),
                  context.of_analysed(sum.saved_ns)};
  set_modules(context, modules, finding);
  finding.effect = (finding.where.empty() ? "A graph replays" : "replays") +
                   (" chains of kernels that each take " + duration_text(sum.total_ns / sum.kernels));
  finding.why =
      context.each_text(finding.of_ns) + context.per() + " pass in " +
      count_text(context.each_count(sum.kernels, context.loop.all)) + " kernels below 5 us, in " +
      counted_text(context.each_count(sum.times, context.loop.all), "chain", "chains") +
      ". A graph removes the launch by the host, but each kernel still starts and drains on the GPU.";
  finding.evidence = {evidence_count("chains", "chains", sum.times),
                      evidence_count("kernels", "kernels in them", sum.kernels),
                      evidence_ns("gpu_ns", "their GPU time", sum.total_ns),
                      evidence_ns("saved_ns", "beyond the longest kernel of each", sum.saved_ns)};
  finding.next_step = "fuse these kernels with each other, or with the long kernel before or after them";
  finding.code = "model = torch.compile(model)  # before the capture";
  out.push_back(std::move(finding));
}

/// A pattern in the analysed modules: all, and `ns` by module.
struct AnalysedPattern {
  PatternSum all;
  std::map<std::string, std::uint64_t> modules;
  AnalysedPattern(const FindingContext& context, const std::unordered_map<std::uint32_t, PatternSum>& sums,
                  std::uint64_t PatternSum::*ns) {
    for (const auto& [path, sum] : sums) {
      if (path == 0 || !context.analyses(path)) continue;
      all += sum;
      modules[context.module_text(path)] += sum.*ns;
    }
  }
};

}  // namespace

/// Consecutive elementwise kernels, each of which reads what the previous one wrote. The saving is the time
/// of a chain beyond its longest kernel.
void find_unfused_chain(const FindingContext& context, std::vector<Finding>& out) {
  ChainPlace all;
  std::map<std::string, std::uint64_t> modules;
  for (const auto& [key, sum] : context.facts.elementwise.sums()) {
    if (key.first == 0 || !context.analyses(key.first)) continue;
    all.sum += sum;
    all.kinds[names_text(context, key.second)] += sum;
    modules[context.module_text(key.first)] += sum.saved_ns;
  }
  if (!all.kinds.empty()) report_chains(context, all, modules, out);
}

/// Attention writes its scores to memory, between two matrix products and a softmax. The saving is bounded by
/// the time of these kernels, products included: a fused kernel also computes its products faster, because
/// they neither write nor read scores.
void find_attention_scores(const FindingContext& context, std::vector<Finding>& out) {
  const AnalysedPattern found(context, context.facts.attention.sums(), &PatternSum::total_ns);
  if (found.all.times != 0) report_attention(context, found.all, found.modules, out);
}

/// A replayed graph runs chains of kernels that are too short to fill the GPU. A graph removes the host's
/// part, but a kernel still takes a microsecond or two to start and to drain. The saving is the time of a
/// chain beyond its longest kernel. unfused_chain reports elementwise kernels alone.
void find_small_graph_kernels(const FindingContext& context, std::vector<Finding>& out) {
  const AnalysedPattern found(context, context.facts.short_nodes.sums(), &PatternSum::saved_ns);
  if (found.all.kernels != 0) report_nodes(context, found.all, found.modules, out);
}

}  // namespace rangefinder
