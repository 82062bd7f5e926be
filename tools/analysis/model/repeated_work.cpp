// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/repeated_work.h"

#include <algorithm>
#include <map>

#include "profiler/base/duration.h"

namespace rangefinder {
namespace {

constexpr double kMinEqual = 0.9;
/// Of the GPU time: less is no description of a program.
constexpr double kMinOfAll = 0.1;
/// Rarest kernels are tried first: those once an iteration.
constexpr std::size_t kMaxTried = 32;

/// The most common distance of neighbouring places.
std::size_t usual_distance(const std::vector<std::size_t>& places) {
  std::map<std::size_t, std::size_t> counts;
  for (std::size_t i = 1; i < places.size(); ++i) ++counts[places[i] - places[i - 1]];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

}  // namespace

void RepeatedWork::add(const KernelRecord& kernel) {
  const GpuWork& work = kernel.work;
  if (!is_timed(work)) return;
  if (work.graph != 0) return add_graph(work);
  if (kernels_.size() >= kMaxKernels) return;
  count(work);
  kernels_.push_back({work.start_ns, work.end_ns, kernel.name, work.correlation, work.range});
}

void RepeatedWork::add(const MemcpyRecord& copy) {
  if (!is_timed(copy.work) || !kernels_.empty() || copies_.size() >= kMaxKernels) return;
  const auto kind = static_cast<std::uint32_t>(copy.kind) << 16 |
                    static_cast<std::uint32_t>(copy.source) << 8 |
                    static_cast<std::uint32_t>(copy.destination);
  copies_.push_back({copy.work.start_ns, copy.work.end_ns, kind, copy.work.correlation, copy.work.range});
}

void RepeatedWork::count(const GpuWork& work) {
  const std::uint64_t ns = duration_ns(work.start_ns, work.end_ns);
  gpu_ns_ += ns;
  if (work.path == 0) outside_ns_ += ns;
}

void RepeatedWork::add(const GraphRecord& graph) {
  if (is_timed(graph.work)) add_graph(graph.work);
}

void RepeatedWork::add(const LaunchRecord& launch) {
  if (launches_.size() < kMaxLaunches)
    launches_.emplace(launch.correlation, Launch{launch.host.start_ns, launch.host.thread});
}

void RepeatedWork::add_graph(const GpuWork& work) {
  Graph& graph = graphs_[work.graph];
  if (graph_launches_ >= kMaxLaunches && graph.launches.count(work.correlation) == 0) return;
  const auto [at, fresh] = graph.launches.try_emplace(work.correlation);
  if (fresh) ++graph_launches_;
  at->second.start_ns = fresh ? work.start_ns : std::min(at->second.start_ns, work.start_ns);
  at->second.end_ns = std::max(at->second.end_ns, work.end_ns);
  at->second.gpu_ns += duration_ns(work.start_ns, work.end_ns);
  graph.gpu_ns += duration_ns(work.start_ns, work.end_ns);
  count(work);
}

RepeatedStart RepeatedWork::start_of(std::uint32_t correlation, TimeNs gpu_ns) const {
  const auto launch = launches_.find(correlation);
  if (launch == launches_.end() || launch->second.start_ns == kNoTime) return {gpu_ns, gpu_ns, 0};
  return {launch->second.start_ns, gpu_ns, launch->second.thread};
}

Repetition RepeatedWork::graphs() const {
  Repetition out;
  const Graph* best = nullptr;
  for (const auto& [id, graph] : graphs_) {
    if (graph.launches.size() < kMinLaunches) continue;
    const bool more = best == nullptr || graph.gpu_ns > best->gpu_ns;
    if (!more && (graph.gpu_ns != best->gpu_ns || id > out.graph)) continue;
    best = &graph;
    out.graph = id;
  }
  if (best == nullptr) return out;
  for (const auto& [correlation, launch] : best->launches) {
    out.starts.push_back(start_of(correlation, launch.start_ns));
    out.end_ns = std::max(out.end_ns, launch.end_ns);
  }
  std::sort(out.starts.begin(), out.starts.end(),
            [](const RepeatedStart& a, const RepeatedStart& b) { return a.gpu_ns < b.gpu_ns; });
  return is_main(*best, out.starts.front().gpu_ns, out.end_ns) ? out : Repetition();
}

/// `from_ns`, `to_ns`: the first launch's start and the last one's end.
bool RepeatedWork::is_main(const Graph& graph, TimeNs from_ns, TimeNs to_ns) const {
  std::uint64_t beside_ns = 0;
  each([&](const GpuWork& work, std::uint32_t, std::uint64_t ns) {
    if (work.start_ns >= from_ns && work.start_ns < to_ns) beside_ns += ns;
  });
  return 2 * graph.gpu_ns >= beside_ns &&
         static_cast<double>(graph.gpu_ns) >= kMinOfAll * static_cast<double>(gpu_ns_);
}

/// Positions [from, to) of a sequence in which the kernel at `at` comes once a period. period 0: none.
RepeatedWork::PeriodicPart RepeatedWork::periodic_part_of(const std::vector<Work>& order,
                                                          const std::vector<std::size_t>& at) {
  const std::size_t period = usual_distance(at);
  // The longest run of places a period apart: what comes before it warms up.
  std::size_t first = 0, last = 0, begin = 0;
  for (std::size_t i = 1; i <= at.size(); ++i) {
    if (i < at.size() && at[i] - at[i - 1] == period) continue;
    if (i - 1 - begin > last - first) first = begin, last = i - 1;
    begin = i;
  }
  if (period < 2 || last - first + 1 < kMinPeriods) return {};
  const PeriodicPart out{at[first], std::min(at[last] + period, order.size()), period};
  std::size_t equal = 0;
  for (std::size_t i = out.from; i + period < out.to; ++i)
    equal += order[i].name == order[i + period].name ? 1 : 0;
  const bool repeats =
      static_cast<double>(equal) >= kMinEqual * static_cast<double>(out.to - out.from - period);
  const bool is_main_part = 2 * (out.to - out.from) >= order.size();
  return repeats && is_main_part ? out : PeriodicPart{};
}

Repetition RepeatedWork::kernels() const {
  std::uint64_t single_ns = gpu_ns_;
  for (const auto& [id, graph] : graphs_) single_ns -= graph.gpu_ns;
  if (2 * single_ns < gpu_ns_) return {};
  std::vector<Work> order = kernels_;
  std::stable_sort(order.begin(), order.end(),
                   [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i].name].push_back(i);
  std::vector<const std::vector<std::size_t>*> rarest;
  for (const auto& [name, at] : places) {
    if (at.size() >= kMinPeriods) rarest.push_back(&at);
  }
  std::sort(rarest.begin(), rarest.end(), [](const auto* a, const auto* b) {
    return a->size() != b->size() ? a->size() < b->size() : *a < *b;
  });
  if (rarest.size() > kMaxTried) rarest.resize(kMaxTried);
  for (const auto* const at : rarest) {
    if (const PeriodicPart part = periodic_part_of(order, *at); part.period != 0) return starts(order, part);
  }
  return {};
}

Repetition RepeatedWork::starts(const std::vector<Work>& order, const PeriodicPart& part) const {
  const auto [from, to, period] = part;
  std::vector<TimeNs> pauses(period);  // before each kernel of the period
  for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i)
    pauses[(i - from) % period] += std::max<TimeNs>(0, order[i].start_ns - order[i - 1].end_ns);
  const auto longest = std::max_element(pauses.begin(), pauses.end());
  std::size_t at = from + static_cast<std::size_t>(longest - pauses.begin());
  while (at >= period && order[at - period].name == order[at].name) at -= period;
  Repetition out;
  out.period = period;
  for (; at + period <= to; at += period) {  // a part of a period is no iteration
    out.starts.push_back(start_of(order[at].correlation, order[at].start_ns));
    out.end_ns = order[at + period - 1].end_ns;
  }
  return out;
}

}  // namespace rangefinder
