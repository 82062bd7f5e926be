// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/outside_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "tools/analysis/model/line_parts.h"

namespace rangefinder {
namespace {

/// Means of at most kMaxBatches batches of neighbouring values.
Moments batches_of(const std::vector<double>& values) {
  const std::size_t count = std::min(values.size(), kMaxBatches);
  std::vector<double> sums(count), sizes(count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[i * count / values.size()] += values[i];
    sizes[i * count / values.size()] += 1;
  }
  for (std::size_t i = 0; i < count; ++i) sums[i] /= sizes[i];
  return trimmed_moments(std::move(sums));
}

}  // namespace

bool OutsideCalls::is_outside(TimeNs start) const {
  const std::vector<Iteration>& all = iterations_.instances;
  return start < all.front().start_ns || start >= all.back().end_ns;
}

void OutsideCalls::add(const RangeRecord& range) {
  if (iterations_.instances.empty() || range.name != 0 || !is_timed(range)) return;
  // A range around the iterations is no call outside of them.
  const bool outside = is_outside(range.start_ns) && (range.start_ns >= iterations_.instances.back().end_ns ||
                                                      range.end_ns <= iterations_.instances.front().start_ns);
  (outside ? paths_ : inside_).insert(range.path);
  if (outside) calls_.push_back({range.start_ns, range.end_ns, range.id, range.thread, range.path, 0});
}

void OutsideCalls::add(const KernelRecord& kernel) {
  const GpuWork& work = kernel.work;
  if (iterations_.instances.empty() || !is_timed(work)) return;
  if (iterations_.of(work) != Iterations::kNone) {
    inside_.insert(work.path);
  } else if (work.range != 0) {
    gpu_ns_[work.range] += static_cast<double>(duration_ns(work.start_ns, work.end_ns));
  }
}

std::map<std::string, CallSeries> OutsideCalls::result(
    const std::function<std::string(std::uint32_t)>& text,
    const std::function<std::uint32_t(std::uint32_t)>& parent) {
  for (std::uint32_t path : inside_) {
    for (; path != 0; path = parent(path)) paths_.erase(path);
  }
  std::sort(calls_.begin(), calls_.end(), [](const ModuleCall& a, const ModuleCall& b) {
    return std::tie(a.thread, a.start_ns, b.end_ns, a.path) <
           std::tie(b.thread, b.start_ns, a.end_ns, b.path);
  });
  std::vector<ModuleCall*> open;
  for (ModuleCall& call : calls_) {
    while (!open.empty() && (open.back()->thread != call.thread || open.back()->end_ns <= call.start_ns)) {
      open.pop_back();
    }
    open.push_back(&call);
    const auto own = gpu_ns_.find(call.range);
    if (own == gpu_ns_.end()) continue;
    for (ModuleCall* const around : open) around->gpu_ns += own->second;
  }
  struct Values {
    std::vector<double> gpu_ns, host_ns;
  };
  std::map<std::string, Values> values;
  for (const ModuleCall& call : calls_) {
    if (!is_outside(call.path)) continue;
    Values& of = values[text(call.path)];
    of.gpu_ns.push_back(call.gpu_ns);
    of.host_ns.push_back(static_cast<double>(duration_ns(call.start_ns, call.end_ns)));
  }
  std::map<std::string, CallSeries> out;
  for (const auto& [path, of] : values) {
    const bool has_kernels =
        std::any_of(of.gpu_ns.begin(), of.gpu_ns.end(), [](double ns) { return ns != 0; });
    out[path] = {of.host_ns.size(), has_kernels ? batches_of(of.gpu_ns) : Moments(), batches_of(of.host_ns)};
  }
  return out;
}

}  // namespace rangefinder
