// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/capture_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"

namespace rangefinder {
namespace {

bool is_synchronous_copy(std::string_view api) {
  const bool copies = api.starts_with("cuMemcpy") || api.starts_with("cuMemset");
  return copies && api.find("Async") == std::string_view::npos;
}

/// Allocations of a pool become nodes of the graph.
CaptureObstacle of_memory(AllocKind kind, bool is_free) {
  if (kind == AllocKind::async || kind == AllocKind::pool) return CaptureObstacle::none;
  return is_free ? CaptureObstacle::free : CaptureObstacle::allocation;
}

CaptureObstacle of_call(const LoggedCall& call) {
  if (call.what == LoggedCall::What::sync) return CaptureObstacle::wait;
  return of_memory(call.memory, call.what == LoggedCall::What::free);
}

/// A synchronous copy within a device does not wait; its obstacle is its stream.
CaptureObstacle of_copy(const LoggedCopy& copy) {
  if (copy.event.copy == CopyKind::DtoD) return CaptureObstacle::none;
  if (copy.pageable()) return CaptureObstacle::pageable_copy;
  return copy.event.async ? CaptureObstacle::none : CaptureObstacle::synchronous_copy;
}

std::string api_text(std::string_view api) {
  return api.empty() ? "(unknown)" : std::string(api);
}

/// The analysed iterations that were open at a time.
bool in_iteration(const FindingContext& context, TimeNs time) {
  return context.loop.contains(time) && context.iterations.at(time) != Iterations::kNone;
}

}  // namespace

CaptureAdvice capture_advice(CaptureObstacle obstacle) noexcept {
  // By CaptureObstacle.
  constexpr std::array<CaptureAdvice, 10> kAdvice{
      {{"", ""},
       {"waits for the GPU", "wait after the graph; between streams cudaStreamWaitEvent"},
       {"synchronous", "cudaMemcpyAsync or cudaMemsetAsync, pinned memory"},
       {"pageable memory", "pinned memory: cudaMallocHost, pin_memory=True"},
       {"not from a pool", "allocate before, or cudaMallocAsync"},
       {"not from a pool", "free afterwards, or cudaFreeAsync"},
       {"legacy default stream", "a stream of cudaStreamCreateWithFlags"},
       {"", "the call after the capture, or one that it allows"},
       {"invalid capture", "no call that fails or is forbidden"},
       {"broke the capture", "the call before or after the capture"}}};
  return kAdvice[static_cast<std::size_t>(obstacle)];
}

std::string capture_error_text(std::int32_t result) {
  constexpr std::array<std::string_view, 9> kNames{"UNSUPPORTED", "INVALIDATED",    "MERGE",
                                                   "UNMATCHED",   "UNJOINED",       "ISOLATION",
                                                   "IMPLICIT",    "CAPTURED_EVENT", "WRONG_THREAD"};
  constexpr std::int32_t kFirst = 900;
  const bool named = result >= kFirst && result < kFirst + static_cast<std::int32_t>(kNames.size());
  if (!named) return "CUDA error " + std::to_string(result);
  return "STREAM_CAPTURE_" + std::string(kNames[static_cast<std::size_t>(result - kFirst)]) + " (" +
         std::to_string(result) + ")";
}

void CaptureCalls::add(const AllocRecord& alloc) {
  put(alloc.host, alloc.api, of_memory(alloc.kind, alloc.is_free));
}

void CaptureCalls::add(const LaunchRecord& launch) {
  if (launch.api.starts_with("cuGraphLaunch")) graph_paths_.insert(launch.host.path);
  const CaptureObstacle obstacle = launch.result != 0                ? CaptureObstacle::error
                                   : is_synchronous_copy(launch.api) ? CaptureObstacle::synchronous_copy
                                                                     : CaptureObstacle::none;
  put(launch.host, launch.api, obstacle, launch.result);
  if (launch.result != 0) add_offence(launch.host, launch.api, launch.result, true);
}

void CaptureCalls::add_offence(const HostWork& host, std::string_view api, std::int32_t result,
                               bool is_launch) {
  constexpr std::int32_t kFirst = 900, kInvalidated = 901, kLast = 907;
  if (result < kFirst || result > kLast || result == kInvalidated) return;
  offences_.push_back(
      {{host.start_ns, host.end_ns},
       is_launch,
       {host.path, std::string(api), CaptureObstacle::broke_capture, result, false, host.thread}});
}

// Of each capture that failed, the first forbidden call that returned during it.
void CaptureCalls::add_broken(CaptureCounts& counts) const {
  std::vector<const Offence*> by_end;
  for (const Offence& one : offences_) by_end.push_back(&one);
  std::sort(by_end.begin(), by_end.end(),
            [](const Offence* a, const Offence* b) { return a->time.end_ns < b->time.end_ns; });
  for (const Broken& capture : broken_) {
    CaptureCall call{capture.path, "cuStreamEndCapture", CaptureObstacle::invalid_capture, capture.result,
                     false};
    auto at =
        std::upper_bound(by_end.begin(), by_end.end(), capture.time.start_ns,
                         [](TimeNs start_ns, const Offence* one) { return start_ns < one->time.end_ns; });
    while (at != by_end.end() && (*at)->is_launch && (*at)->call.thread == capture.thread) ++at;
    if (at != by_end.end() && (*at)->time.start_ns < capture.time.end_ns) {
      call = (*at)->call;
      call.broken = capture.path;
      call.elsewhere = call.thread != capture.thread;
    }
    ++counts[call];
  }
}

void CaptureCalls::add(const CaptureRecord& step) {
  const std::uint32_t thread = step.host.thread;
  if (step.step == CaptureStep::broken_by) return add_offence(step.host, step.api, step.result, false);
  if (step.step == CaptureStep::begin) {
    ++captures_;
    open_.try_emplace(thread).first->second.start_ns = step.host.start_ns;
    return;
  }
  const bool valid = step.step == CaptureStep::end && step.result == 0;
  const auto open = open_.find(thread);
  if (!valid) {
    ++invalid_;
    const TimeNs start_ns = open == open_.end() ? step.host.start_ns : open->second.start_ns;
    broken_.push_back({{start_ns, step.host.end_ns}, thread, step.host.path, step.result});
  }
  if (open == open_.end()) return;
  for (const auto& [made, count] : open->second.calls) {
    CaptureCall call = made;
    call.valid_capture = valid;
    counts_[call] += count;
  }
  ended_[thread].push_back({open->second.start_ns, step.host.end_ns});
  open_.erase(open);
}

void CaptureCalls::put(const HostWork& host, std::string_view api, CaptureObstacle obstacle,
                       std::int32_t result) {
  if (open_.empty()) return;
  const auto open = open_.find(host.thread);
  if (open != open_.end()) ++open->second.calls[{host.path, std::string(api), obstacle, result, true}];
}

CaptureCounts CaptureCalls::counts() const {
  CaptureCounts out = counts_;
  add_broken(out);
  for (const auto& [thread, open] : open_) {
    for (const auto& [call, count] : open.calls) out[call] += count;
  }
  return out;
}

bool CaptureCalls::capturing(std::uint32_t thread, TimeNs time) const {
  if (const auto open = open_.find(thread); open != open_.end() && time >= open->second.start_ns) return true;
  const auto ended = ended_.find(thread);
  if (ended == ended_.end()) return false;
  const auto after = std::upper_bound(ended->second.begin(), ended->second.end(), time,
                                      [](TimeNs at, const Interval& one) { return at < one.start_ns; });
  return after != ended->second.begin() && time < std::prev(after)->end_ns;
}

bool CaptureCalls::launches_graph(const std::unordered_set<std::uint32_t>& paths) const {
  return std::any_of(graph_paths_.begin(), graph_paths_.end(),
                     [&paths](std::uint32_t path) { return paths.count(path) != 0; });
}

bool loop_uses_graphs(const FindingContext& context) {
  const auto& paths = context.loop.paths;
  return context.facts.captures.launches_graph(paths) ||
         std::any_of(context.places.begin(), context.places.end(), [&paths](const KernelPlace& place) {
           return place.graph != 0 && paths.count(place.path) != 0;
         });
}

CaptureCounts loop_calls(const FindingContext& context) {
  CaptureCounts out;
  const CaptureCalls& captures = context.facts.captures;
  if (!context.loop.found()) return out;
  for (const LoggedCall& call : context.log.calls()) {
    if (!in_iteration(context, call.start_ns) || captures.capturing(call.thread, call.start_ns)) continue;
    ++out[{call.path, context.log.api(call.api), of_call(call), 0, true}];
  }
  for (const LoggedCopy& copy : context.log.copies()) {
    const WorkEvent& event = copy.event;
    if (event.work.graph != 0 || !in_iteration(context, event.called_ns())) continue;
    CaptureObstacle obstacle = of_copy(copy);
    if (obstacle == CaptureObstacle::none && context.log.on_default_stream(event.work))
      obstacle = CaptureObstacle::default_stream;
    ++out[{event.work.path, api_text(event.api), obstacle, 0, true}];
  }
  for (const auto& [call, count] : context.log.default_stream_work()) {
    out[{call.first, api_text(call.second), CaptureObstacle::default_stream, 0, true}] += count;
  }
  return out;
}

}  // namespace rangefinder
