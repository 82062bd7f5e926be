// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/overview/idle_causes.h"

#include <algorithm>

#include "tools/analysis/read/line_parts.h"

namespace rangefinder {
namespace {

struct CauseName {
  std::string_view key, text;
};
/// By IdleCause.
constexpr std::array<CauseName, kIdleCauses> kNames{{{"copies", "only copies ran"},
                                                     {"queued", "between queued kernels"},
                                                     {"launching", "host launching"},
                                                     {"waiting", "host waiting"},
                                                     {"allocating", "host allocating"},
                                                     {"host_code", "host code"}}};

std::uint64_t& of(IdleTime& time, IdleCause cause) {
  return time[static_cast<std::size_t>(cause)];
}

/// The host's own code, as far as the driver's calls of `kind` are none of the other causes.
IdleCause cause_of(HostCall kind) {
  switch (kind) {
    case HostCall::launch:
      return IdleCause::launching;
    case HostCall::sync:
      return IdleCause::waiting;
    case HostCall::memory:
      return IdleCause::allocating;
    case HostCall::other:
      break;
  }
  return IdleCause::host_code;
}

}  // namespace

std::string_view idle_cause_text(IdleCause cause) noexcept {
  return kNames[static_cast<std::size_t>(cause)].text;
}

std::string_view idle_cause_key(IdleCause cause) noexcept {
  return kNames[static_cast<std::size_t>(cause)].key;
}

void IdleCauses::line(const Line& line) {
  if (const auto* const hold = std::get_if<HoldRecord>(&line)) {
    holds_.add(*hold);
  } else if (std::holds_alternative<GraphRecord>(line)) {
    whole_graphs_ = true;
  } else if (const HostWork* const host = host_call(line)) {
    add_call(*host, host_call_kind(line));
  }
}

void IdleCauses::add_call(const HostWork& host, HostCall kind) {
  if (host.start_ns == kNoTime || host.end_ns <= host.start_ns) return;
  std::deque<Call>& calls = calls_[host.thread];
  drop_past(calls);
  calls.push_back({host.start_ns, host.end_ns, kind});
}

void IdleCauses::drop_past(std::deque<Call>& calls) const {
  while (!calls.empty() && calls.front().end_ns <= busy_until_) calls.pop_front();
}

void IdleCauses::work(const WorkEvent& event) {
  if (event.kind != WorkKind::kernel) return add_copy(event);
  if (busy_until_ != kNoTime && event.at_ns > busy_until_) {
    const auto thread = calls_.find(event.thread);
    if (thread != calls_.end()) drop_past(thread->second);
    add_gap(busy_until_, event.at_ns, event);
  }
  busy_until_ = busy_until_ == kNoTime ? event.work.end_ns : std::max(busy_until_, event.work.end_ns);
  std::erase_if(copies_, [this](const Span& copy) { return copy.end_ns <= busy_until_; });
}

void IdleCauses::add_copy(const WorkEvent& event) {
  if (event.work.end_ns <= busy_until_) return;
  if (!copies_.empty() && event.at_ns <= copies_.back().end_ns) {
    copies_.back().end_ns = std::max(copies_.back().end_ns, event.work.end_ns);
  } else {
    copies_.push_back({event.at_ns, event.work.end_ns});
  }
}

void IdleCauses::add_gap(TimeNs from, TimeNs to, const WorkEvent& ended_by) {
  const auto add = [&](IdleTime& sum, TimeNs start, TimeNs end) {
    if (end <= start) return;
    const IdleTime part = causes(start, end, ended_by);
    for (std::size_t i = 0; i < kIdleCauses; ++i) sum[i] += part[i];
  };
  add(total_, from, to);
  const std::size_t at = iterations_.of(ended_by.work), before = iterations_.at(from);
  TimeNs began = to;
  if (at != Iterations::kNone) {
    began = std::clamp(iterations_.instances[at].start_ns, from, to);
    add(by_iteration_[at], began, to);
  }
  if (before == Iterations::kNone || before == at) return;
  add(by_iteration_[before], from, std::min(began, iterations_.instances[before].end_ns));
}

IdleTime IdleCauses::causes(TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  IdleTime out{};
  for (const Span& copy : copies_) {
    if (copy.end_ns <= from) continue;
    if (copy.start_ns >= to) break;
    if (copy.start_ns > from) add_host(out, from, copy.start_ns, ended_by);
    const TimeNs end = std::min(copy.end_ns, to);
    of(out, IdleCause::copies) += elapsed_ns(std::max(from, copy.start_ns), end);
    from = end;
  }
  if (from < to) add_host(out, from, to, ended_by);
  return out;
}

void IdleCauses::add_host(IdleTime& out, TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  if (!ended_by.launched()) return;
  // The host had launched it before: the GPU waited for its own scheduler, another stream or an event.
  if (!ended_by.first_of_launch || ended_by.launch_start_ns < from - TimeNs{GpuGaps::kLaunchLeadNs}) {
    of(out, IdleCause::queued) += elapsed_ns(from, to);
    return;
  }
  std::uint64_t rest_ns = holds_.net_ns(ended_by.thread, from, to);
  const auto thread = calls_.find(ended_by.thread);
  if (thread != calls_.end()) {
    TimeNs seen = from;
    for (const Call& call : thread->second) {
      if (call.start_ns >= to) break;
      const TimeNs start = std::max(call.start_ns, seen), end = std::min(call.end_ns, to);
      if (end <= start) continue;
      const std::uint64_t ns = std::min(elapsed_ns(start, end), rest_ns);
      of(out, cause_of(call.kind)) += ns;
      rest_ns -= ns;
      seen = end;
    }
  }
  of(out, IdleCause::host_code) += rest_ns;
}

}  // namespace rangefinder
