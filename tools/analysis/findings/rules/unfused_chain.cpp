// SPDX-License-Identifier: Apache-2.0
//
// Rule: consecutive elementwise kernels, each of which reads what the previous one wrote.
//
//   …, add, clamp, mul, …  on one stream, in one module or in sibling modules ─▶ one chain
//
// Two kernels are assumed to pass the same bytes if their L2 bytes, where measured, agree within a factor of
// two. Without them, their thread counts must agree within a factor of eight: kernels differ in elements per
// thread. The saving is the time of a chain beyond its longest kernel. Kernels are classified by name
// (kernel_kinds.h). Keeps at most kMaxChains distinct chains.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"
#include "tools/analysis/tables/kernel_text.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMaxChains = 65'536;
constexpr std::size_t kLongest = 64;

struct Chain {
  std::vector<std::uint32_t> names;
  std::uint32_t path = 0;
  std::uint64_t threads = 0, l2_bytes = 0;  // of its latest kernel
  std::uint64_t total_ns = 0, longest_ns = 0, total_l2 = 0;
};
struct Sum {
  std::uint64_t chains = 0, total_ns = 0, saved_ns = 0, l2_bytes = 0;
  Sum& operator+=(const Sum& other) {
    chains += other.chains;
    total_ns += other.total_ns;
    saved_ns += other.saved_ns;
    l2_bytes += other.l2_bytes;
    return *this;
  }
};

/// The chains of one place, grouped by their kernels.
struct Place {
  Sum sum;
  std::map<std::string, Sum> kinds;
  [[nodiscard]] const std::string& heaviest() const {
    const auto lighter = [](const auto& a, const auto& b) { return a.second.saved_ns < b.second.saved_ns; };
    return std::max_element(kinds.begin(), kinds.end(), lighter)->first;
  }
};

bool within(std::uint64_t a, std::uint64_t b, std::uint64_t factor) {
  return a <= b * factor && b <= a * factor;
}

class UnfusedChain final : public FindingRule {
 public:
  void line(const Line& line) override {
    if (const auto* const name = std::get_if<KernelNameRecord>(&line)) {
      if (kernel_sort(name->demangled) == KernelSort::elementwise) elementwise_.insert(name->id);
    } else if (const auto* const path = std::get_if<PathRecord>(&line)) {
      parents_.emplace(path->id, path->parent);
    } else if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) {
      const Dim3 &g = config->grid, &b = config->block;
      threads_[config->id] = std::uint64_t{g.x} * g.y * g.z * b.x * b.y * b.z;
    }
  }

  void work(const WorkEvent& event) override {
    Chain& chain = open_[std::uint64_t{event.work.context} << 32 | event.work.stream];
    const bool fits = event.kind == WorkKind::kernel && elementwise_.count(event.name) != 0;
    if (!fits || !continues(chain, event)) close(chain);
    if (!fits || chain.names.size() == kLongest) return;
    const auto duration = event.duration();
    if (chain.names.empty()) chain.path = event.work.path;
    chain.path = common_path(chain.path, event.work.path);
    chain.names.push_back(event.name);
    chain.threads = threads_of(event.config);
    chain.l2_bytes = event.l2_bytes;
    chain.total_ns += duration;
    chain.total_l2 += event.l2_bytes;
    chain.longest_ns = std::max(chain.longest_ns, duration);
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    for (auto& [stream, chain] : open_) close(chain);
    std::map<std::string, Place> places;
    Sum all;
    for (const auto& [key, sum] : sums_) {
      if (key.first == 0 || !context.takes(key.first)) continue;
      all += sum;
      Place& place = places[numbers_folded(context.path_text(key.first))];
      place.sum += sum;
      place.kinds[names_text(context, key.second)] += sum;
    }
    for (const auto& [where, place] : heaviest(places, [](const Place& one) { return one.sum.saved_ns; }))
      report(context, where, place, all, out);
  }

 private:
  static constexpr double kMinOfTime = 0.01;
  std::uint64_t threads_of(std::uint32_t config) const {
    const auto at = threads_.find(config);
    return at == threads_.end() ? 0 : at->second;
  }
  std::uint32_t parent_of(std::uint32_t path) const {
    const auto at = parents_.find(path);
    return at == parents_.end() ? 0 : at->second;
  }
  /// The common module of two equal, nested or sibling paths; 0: none of these.
  std::uint32_t common_path(std::uint32_t a, std::uint32_t b) const {
    if (a == b || parent_of(b) == a) return a;
    if (parent_of(a) == b || parent_of(a) == parent_of(b)) return parent_of(a);
    return 0;
  }
  bool continues(const Chain& chain, const WorkEvent& event) const {
    if (chain.names.empty()) return true;
    if (chain.path != event.work.path && common_path(chain.path, event.work.path) == 0) return false;
    if (chain.l2_bytes != 0 && event.l2_bytes != 0) return within(chain.l2_bytes, event.l2_bytes, 2);
    return within(chain.threads, threads_of(event.config), 8);
  }

  void close(Chain& chain) {
    if (chain.names.size() > 1) {
      auto key = std::make_pair(chain.path, chain.names);
      if (sums_.size() < kMaxChains || sums_.count(key) != 0) {
        sums_[std::move(key)] += {1, chain.total_ns, chain.total_ns - chain.longest_ns, chain.total_l2};
      }
    }
    chain = {};
  }

  /// "a, b x 2".
  static std::string names_text(const FindingContext& context, const std::vector<std::uint32_t>& names) {
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

  /// PyTorch's elementwise kernels share one name; their template arguments name the operation.
  static std::string operation(const std::string& demangled) {
    for (const std::string_view mark :
         {"CUDAFunctorOnSelf_", "CUDAFunctor_", "binary_internal::", "launch_"}) {
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

  static void report(const FindingContext& context, const std::string& where, const Place& place,
                     const Sum& all, std::vector<Finding>& out) {
    const Sum& sum = place.sum;
    if (context.of_gpu(sum.saved_ns) < kMinOfTime) return;
    Finding finding;
    finding.id = "unfused_chain";
    finding.where = where;
    finding.effect = "runs elementwise kernels one by one that could be one kernel";
    finding.saving_ns = context.of_analysed(sum.saved_ns);
    finding.of_ns = context.of_analysed(sum.total_ns);
    finding.why = context.each_text(finding.of_ns) + context.per() + " pass in " +
                  counted_text(sum.chains, "chain", "chains") + ", " + context.each_text(*finding.saving_ns) +
                  " of it beyond the longest kernel of each. The heaviest chain is " + place.heaviest() + ".";
    finding.evidence = {evidence_text("kernels", "heaviest chain:", place.heaviest()),
                        evidence_count("kinds", "distinct chains there", place.kinds.size()),
                        evidence_count("chains", "occurrences", sum.chains),
                        evidence_ns("gpu_ns", "their GPU time", sum.total_ns),
                        evidence_ns("saved_ns", "beyond the longest kernel of each", sum.saved_ns),
                        evidence_count("all_chains", "occurrences of all chains in the trace", all.chains),
                        evidence_ns("all_saved_ns", "their time beyond the longest kernels", all.saved_ns)};
    if (sum.l2_bytes != 0) finding.evidence.push_back(evidence_bytes("l2_bytes", "L2 bytes", sum.l2_bytes));
    finding.next_step =
        "fuse them, or fold them into the previous kernel: scale and bias into a convolution's weights, an "
        "activation into its epilogue";
    finding.code = "model = torch.compile(model)";
    out.push_back(std::move(finding));
  }

  std::unordered_set<std::uint32_t> elementwise_;                             // kernel names
  std::unordered_map<std::uint32_t, std::uint32_t> parents_;                  // of paths
  std::unordered_map<std::uint32_t, std::uint64_t> threads_;                  // by configuration
  std::unordered_map<std::uint64_t, Chain> open_;                             // by context and stream
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, Sum> sums_;  // by path and names
};

}  // namespace

std::unique_ptr<FindingRule> make_unfused_chain_rule() {
  return std::make_unique<UnfusedChain>();
}

}  // namespace rangefinder
