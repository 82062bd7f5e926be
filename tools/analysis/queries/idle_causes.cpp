// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/idle_causes.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/gpu_gaps.h"

namespace rangefinder {
namespace {

struct CauseName {
  std::string_view key, text;
};
/// By IdleCause.
constexpr std::array<CauseName, kIdleCauses> kCauseNames{{{"copies", "only copies ran"},
                                                          {"queued", "between kernels already launched"},
                                                          {"host_function", "host function"},
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

void add_to(IdleTime& sum, const IdleTime& part) noexcept {
  for (std::size_t i = 0; i < kIdleCauses; ++i) sum[i] += part[i];
}

}  // namespace

std::string_view idle_cause_text(IdleCause cause) noexcept {
  return kCauseNames[static_cast<std::size_t>(cause)].text;
}

std::string_view idle_cause_key(IdleCause cause) noexcept {
  return kCauseNames[static_cast<std::size_t>(cause)].key;
}

void IdleCauses::begin_chunk(const SelectedRows& rows) {
  holds_ = &rows.names().holds;
  whole_graphs_ = whole_graphs_ || rows.has_whole_graphs();
  rows.lines<HostFunctionRecord>([this](const HostFunctionRecord& function) {
    if (function.wait.start_ns != kNoTime)
      functions_.push_back({function.wait.start_ns, function.wait.end_ns});
  });
  std::sort(functions_.begin(), functions_.end(),
            [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
}

void IdleCauses::add(const SelectedRows& rows) {
  begin_chunk(rows);
  rows.calls(kColumns, [this](const auto& call) {
    add_call(call);
    if constexpr (is_launch_record<decltype(call)>) launched_.add(call, *holds_);
  });
  rows.work(kColumns, [this](const auto& record, bool begins) {
    if constexpr (!is_graph_record<decltype(record)>) {
      if (begins) launched_.add(record, [this](const WorkEvent& event) { add(event); });
    }
  });
}

void IdleCauses::finish() {
  launched_.finish([this](const WorkEvent& event) { add(event); });
  if (last_copy_ != Iterations::kNone) add_to(by_iteration_[last_copy_], since_kernel_of_);
  take_since_kernel();
}

IdleTime IdleCauses::total() const noexcept {
  IdleTime out = total_;
  add_to(out, since_kernel_);
  return out;
}

void IdleCauses::add_call(const HostWork& host, HostCall kind) {
  if (host.start_ns == kNoTime || host.end_ns <= host.start_ns) return;
  if (of_thread_ == nullptr || thread_ != host.thread) {
    thread_ = host.thread;
    of_thread_ = &calls_[thread_];
  }
  drop_past(*of_thread_);
  of_thread_->push_back({host.start_ns, host.end_ns, kind});
}

void IdleCauses::drop_past(std::deque<Call>& calls) const {
  const TimeNs past = busy_until_ == kNoTime ? worked_until_ : busy_until_;
  while (!calls.empty() && calls.front().end_ns <= past) calls.pop_front();
}

void IdleCauses::add(const WorkEvent& event) {
  const TimeNs end_ns = event.work.end_ns;
  if (event.kind != WorkKind::kernel) return add_copy(event);
  const bool is_first = busy_until_ == kNoTime;
  if (is_first) {
    add_to(total_, since_kernel_);
    take_since_kernel();
  }
  since_kernel_ = since_kernel_of_ = {};
  host_times_since_kernel_ = {};
  const TimeNs idle_from = is_first ? worked_until_ : busy_until_;
  if (idle_from != kNoTime && event.at_ns > idle_from) {
    const auto thread = calls_.find(event.thread);
    if (thread != calls_.end()) drop_past(thread->second);
    add_gap(idle_from, event.at_ns, event);
  }
  busy_until_ = is_first ? end_ns : std::max(busy_until_, end_ns);
  worked_until_ = worked_until_ == kNoTime ? end_ns : std::max(worked_until_, end_ns);
  const auto is_past = [this](const Span& span) { return span.end_ns <= busy_until_; };
  std::erase_if(copies_, is_past);
  std::erase_if(functions_, is_past);
}

void IdleCauses::add_copy(const WorkEvent& event) {
  const TimeNs from = event.at_ns, to = event.work.end_ns;
  if (worked_until_ == kNoTime) worked_until_ = from;
  IdleTime idle{};
  if (from > worked_until_) {
    add_host(idle, worked_until_, from, event);
    if (keeps_host_times_) keep_host(host_times_since_kernel_, worked_until_, from, event);
  }
  if (to > worked_until_) of(idle, IdleCause::copies) += elapsed_ns(std::max(from, worked_until_), to);
  worked_until_ = std::max(worked_until_, to);
  add_to(since_kernel_, idle);
  const std::size_t at = iterations_.of(event.work);
  if (std::exchange(last_copy_, at) != at) since_kernel_of_ = {};
  add_to(since_kernel_of_, idle);
  if (busy_until_ == kNoTime) return;
  if (to <= busy_until_) return;
  if (!copies_.empty() && from <= copies_.back().end_ns) {
    copies_.back().end_ns = std::max(copies_.back().end_ns, to);
  } else {
    copies_.push_back({from, to});
  }
}

void IdleCauses::add_gap(TimeNs from, TimeNs to, const WorkEvent& ended_by) {
  const IdleTime whole = causes(from, to, ended_by);
  const auto add = [&](IdleTime& sum, TimeNs start, TimeNs end) {
    if (end <= start) return;
    const IdleTime part = start == from && end == to ? whole : causes(start, end, ended_by);
    add_to(sum, part);
  };
  add(total_, from, to);
  if (keeps_host_times_) {
    each_part(
        from, to, [](TimeNs, TimeNs) {},
        [&](TimeNs start, TimeNs end) { keep_host(host_times_, start, end, ended_by); });
  }
  if (see_part_) see_parts(from, to, ended_by);
  const std::size_t at = iterations_.of(ended_by.work), before = iterations_.at(from);
  TimeNs began = to;
  if (at != Iterations::kNone) {
    began = std::clamp(iterations_.instances[at].start_ns, from, to);
    add(by_iteration_[at], began, to);
  }
  if (before == Iterations::kNone || before == at) return;
  add(by_iteration_[before], from, std::min(began, iterations_.instances[before].end_ns));
}

template <typename Copied, typename Hosted>
void IdleCauses::each_part(TimeNs from, TimeNs to, Copied&& copied, Hosted&& hosted) const {
  for (const Span& copy : copies_) {
    if (copy.end_ns <= from) continue;
    if (copy.start_ns >= to) break;
    if (copy.start_ns > from) hosted(from, copy.start_ns);
    const TimeNs end = std::min(copy.end_ns, to);
    copied(std::max(from, copy.start_ns), end);
    from = end;
  }
  if (from < to) hosted(from, to);
}

IdleTime IdleCauses::causes(TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  IdleTime out{};
  each_part(
      from, to, [&out](TimeNs start, TimeNs end) { of(out, IdleCause::copies) += elapsed_ns(start, end); },
      [&](TimeNs start, TimeNs end) { add_host(out, start, end, ended_by); });
  return out;
}

std::uint64_t IdleCauses::function_ns(TimeNs from, TimeNs to) const {
  std::uint64_t ns = 0;
  for (const Span& function : functions_) {
    if (function.start_ns >= to) break;
    const TimeNs start = std::max(from, function.start_ns), end = std::min(to, function.end_ns);
    if (end <= start) continue;
    ns += elapsed_ns(start, end);
    from = end;  // several may run at once
  }
  return ns;
}

bool IdleCauses::host_was_late(TimeNs from, const WorkEvent& ended_by) noexcept {
  return ended_by.first_of_launch && ended_by.launch_start_ns >= from - TimeNs{GpuGaps::kLaunchLeadNs};
}

template <typename See>
void IdleCauses::each_call(std::uint32_t thread, TimeNs from, TimeNs to, See&& see) const {
  const auto of_thread = calls_.find(thread);
  if (of_thread == calls_.end()) return;
  const std::deque<Call>& calls = of_thread->second;
  const auto first = std::partition_point(calls.begin(), calls.end(),
                                          [from](const Call& call) { return call.end_ns <= from; });
  for (auto at = first; at != calls.end() && at->start_ns < to; ++at) {
    const TimeNs start = std::max(at->start_ns, from), end = std::min(at->end_ns, to);
    if (end <= start) continue;
    see(start, end, at->kind);
    from = end;
  }
}

void IdleCauses::add_host(IdleTime& out, TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  if (ended_by.launch_start_ns == kNoTime) return;
  // The host had launched it before: the GPU waited for its own scheduler, another stream or an event.
  if (!host_was_late(from, ended_by)) {
    const std::uint64_t in_functions = function_ns(from, to);
    of(out, IdleCause::host_function) += in_functions;
    of(out, IdleCause::queued) += elapsed_ns(from, to) - in_functions;
    return;
  }
  std::uint64_t rest_ns = holds_->net_ns(ended_by.thread, from, to);
  each_call(ended_by.thread, from, to, [&](TimeNs start, TimeNs end, HostCall kind) {
    const std::uint64_t ns = std::min(elapsed_ns(start, end), rest_ns);
    of(out, cause_of(kind)) += ns;
    rest_ns -= ns;
  });
  of(out, IdleCause::host_code) += rest_ns;
}

void IdleCauses::keep_host(HostTimes& out, TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  if (ended_by.launch_start_ns == kNoTime || !host_was_late(from, ended_by)) return;
  each_call(ended_by.thread, from, to, [&](TimeNs start, TimeNs end, HostCall kind) {
    const IdleCause cause = cause_of(kind);
    if (cause == IdleCause::host_code) return;
    out.code.add(ended_by.thread, from, start);
    if (cause == IdleCause::waiting) out.waiting.add(ended_by.thread, start, end);
    from = end;
  });
  out.code.add(ended_by.thread, from, to);
}

void IdleCauses::see_parts(TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  each_part(
      from, to, [this](TimeNs start, TimeNs end) { see_part_(start, end, IdleCause::copies); },
      [&](TimeNs start, TimeNs end) { see_host_parts(start, end, ended_by); });
}

void IdleCauses::see_host_parts(TimeNs from, TimeNs to, const WorkEvent& ended_by) const {
  if (ended_by.launch_start_ns == kNoTime) return;
  const bool late = host_was_late(from, ended_by);
  const auto see = [&](TimeNs start, TimeNs end, IdleCause cause) {
    if (start > from) see_part_(from, start, late ? IdleCause::host_code : IdleCause::queued);
    if (end > start) see_part_(start, end, cause);
    from = end;
  };
  if (late) {
    each_call(ended_by.thread, from, to,
              [&](TimeNs start, TimeNs end, HostCall kind) { see(start, end, cause_of(kind)); });
  } else {
    for (const Span& function : functions_) {
      const TimeNs start = std::max(from, function.start_ns), end = std::min(to, function.end_ns);
      if (end > start) see(start, end, IdleCause::host_function);
    }
  }
  see(to, to, IdleCause::queued);
}

void IdleCauses::take_since_kernel() {
  host_times_.code.take(host_times_since_kernel_.code);
  host_times_.waiting.take(host_times_since_kernel_.waiting);
}

}  // namespace rangefinder
