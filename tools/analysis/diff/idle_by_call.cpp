// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/idle_by_call.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rangefinder {
namespace {

IdleCall cause_of(const Line& line) {
  if (launch_of(line) != nullptr) return IdleCall::launch;
  if (std::holds_alternative<SyncRecord>(line)) return IdleCall::sync;
  return std::holds_alternative<AllocRecord>(line) ? IdleCall::memory : IdleCall::other_call;
}

std::size_t at(IdleCall cause) {
  return static_cast<std::size_t>(cause);
}

/// Calls `visit(gap, iteration, from, to)` for the part of each gap within the wall time of an iteration.
template <typename Gaps, typename Visit>
void within_iterations(const Gaps& gaps, const std::vector<IterationTotals>& rows, const Visit& visit) {
  std::size_t first = 0;
  for (const auto& gap : gaps) {
    while (first < rows.size() && (!rows[first].wall_ns || rows[first].wall_to_ns <= gap.from_ns)) ++first;
    for (std::size_t i = first; i < rows.size() && rows[i].wall_from_ns < gap.to_ns; ++i) {
      if (!rows[i].wall_ns) continue;
      const TimeNs from = std::max(gap.from_ns, rows[i].wall_from_ns);
      const TimeNs to = std::min(gap.to_ns, rows[i].wall_to_ns);
      if (from < to) visit(i, from, to);
    }
  }
}

}  // namespace

void IdleByCall::gpu_line(const Line& line) {
  if (const auto* const hold = std::get_if<HoldRecord>(&line)) return holds_.add(*hold);
  const GpuWork* const work = gpu_work(line);
  if (work == nullptr || !is_timed(*work)) return;
  GpuWork one = *work;
  one.gpu = 0;  // a kernel on any GPU is no idle time
  timeline_.add(one, std::holds_alternative<KernelRecord>(line) || std::holds_alternative<GraphRecord>(line));
}

void IdleByCall::add(const GpuSpan& span) {
  if (first_ns_ == kMaxNs) first_ns_ = span.from_ns;
  last_ns_ = span.to_ns;
  if (span.kernels != 0) return;
  std::vector<Gap>& gaps = span.copies == 0 ? gaps_ : copies_;
  if (!gaps.empty() && gaps.back().to_ns == span.from_ns) {
    gaps.back().to_ns = span.to_ns;
  } else {
    gaps.push_back({span.from_ns, span.to_ns});
  }
}

void IdleByCall::begin(const IterationLog& log) {
  timeline_.finish();
  const std::vector<IterationTotals>& rows = log.rows();
  // The timeline is from the first to the last work.
  gaps_.insert(gaps_.begin(), {-kMaxNs, first_ns_});
  gaps_.push_back({last_ns_, kMaxNs});
  ns_.resize(rows.size());
  for (const Iteration& iteration : log.iterations().instances) threads_.push_back(iteration.thread);
  within_iterations(copies_, rows, [this](std::size_t i, TimeNs from, TimeNs to) {
    ns_[i][at(IdleCall::copies)] += static_cast<double>(holds_.net_ns(threads_[i], from, to));
  });
  std::vector<Gap> parts;
  within_iterations(gaps_, rows, [&](std::size_t i, TimeNs from, TimeNs to) {
    parts.push_back({from, to});
    of_gap_.push_back(i);
    ns_[i][at(IdleCall::host_code)] += static_cast<double>(holds_.net_ns(threads_[i], from, to));
  });
  gaps_ = std::move(parts);
  copies_.clear();
}

void IdleByCall::host_line(const Line& line) {
  const HostWork* const call = host_call(line);
  if (call != nullptr && is_timed(*call)) add_call(*call, cause_of(line));
}

void IdleByCall::add_call(const HostWork& call, IdleCall cause) {
  auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), call.start_ns,
                              [](TimeNs time, const Gap& one) { return time < one.to_ns; });
  for (; gap != gaps_.end() && gap->from_ns < call.end_ns; ++gap) {
    const std::size_t i = of_gap_[static_cast<std::size_t>(gap - gaps_.begin())];
    if (threads_[i] != 0 && threads_[i] != call.thread) continue;
    const auto ns = static_cast<double>(
        holds_.net_ns(call.thread, std::max(gap->from_ns, call.start_ns), std::min(gap->to_ns, call.end_ns)));
    ns_[i][at(cause)] += ns;
    ns_[i][at(IdleCall::host_code)] -= ns;
  }
}

std::array<double, kIdleCalls> IdleByCall::of(std::size_t iteration) const {
  std::array<double, kIdleCalls> out = ns_[iteration];
  double& code = out[at(IdleCall::host_code)];
  code = std::max(code, 0.0);  // calls may nest
  return out;
}

}  // namespace rangefinder
