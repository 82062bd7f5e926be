// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/stream_waits.h"

#include <algorithm>

namespace rangefinder {

StreamWaits::Stretch& StreamWaits::Stream::at(TimeNs launch) noexcept {
  const auto after = std::upper_bound(calls.begin(), calls.end(), launch,
                                      [](TimeNs time, const Call& call) { return time < call.at_ns; });
  return after == calls.begin() ? before : std::prev(after)->after;
}

std::vector<TimeNs> StreamWaits::Stream::ends_before_calls() const {
  std::vector<TimeNs> out;
  TimeNs last = before.last_ns;
  for (const Call& call : calls) {
    out.push_back(last);
    last = std::max(last, call.after.last_ns);
  }
  return out;
}

void StreamWaits::add(const EventRecord& event) {
  if (event.host.start_ns == kNoTime) return;
  std::uint32_t stream = event.stream;
  if (stream == 0) {
    const auto known = default_streams_.find(event.context);
    if (known != default_streams_.end()) stream = known->second;
  }
  auto& calls = streams_[{event.context, stream}].calls;
  const auto after = std::upper_bound(calls.begin(), calls.end(), event.host.start_ns,
                                      [](TimeNs time, const Call& call) { return time < call.at_ns; });
  calls.insert(after, {event.host.start_ns, event.event, event.host.path, event.wait, {}});
}

void StreamWaits::add(const LaunchRecord& launch) {
  if (launch.result != 0 || launch.host.start_ns == kNoTime || launch.host.end_ns == kNoTime) return;
  const Launch made{launch.host.start_ns, launch.host.end_ns};
  const bool graph = launch.api.starts_with("cuGraphLaunch");
  if (graph) graphs_[launch.correlation] = made;
  const auto [first, last] = works_.equal_range(launch.correlation);
  if (first == last && !graph) launches_[launch.correlation] = made;
  for (auto work = first; work != last; ++work) place(made, work->second);
  works_.erase(first, last);
}

void StreamWaits::add(const GpuWork& work) {
  if (work.start_ns == kNoTime || work.end_ns == kNoTime || work.end_ns < work.start_ns) return;
  const Placed placed{kNoTime, kNoTime, work.start_ns, work.end_ns, Key(work.context, work.stream)};
  if (const auto graph = graphs_.find(work.correlation); graph != graphs_.end()) {
    place(graph->second, placed);
    return;
  }
  const auto launch = launches_.find(work.correlation);
  if (launch == launches_.end()) {
    works_.emplace(work.correlation, placed);
    return;
  }
  place(launch->second, placed);
  launches_.erase(launch);
}

void StreamWaits::add(const WorkEvent& event) {
  if (!event.launched() || event.launch_end_ns == kNoTime) return;
  place(
      {event.launch_start_ns, event.launch_end_ns},
      {kNoTime, kNoTime, event.work.start_ns, event.work.end_ns, Key(event.work.context, event.work.stream)});
}

void StreamWaits::place(const Launch& launch, Placed work) {
  work.at_ns = launch.start_ns;
  work.launched_ns = launch.end_ns;
  order_.add(work, [this](const Placed& next) { put(next); });
}

void StreamWaits::put(const Placed& work) {
  Stretch& stretch = streams_[work.stream].at(work.at_ns);
  if (stretch.empty()) {
    stretch = {work.launched_ns, work.start_ns, work.end_ns};
    return;
  }
  stretch.launched_ns = std::min(stretch.launched_ns, work.launched_ns);
  stretch.first_ns = std::min(stretch.first_ns, work.start_ns);
  stretch.last_ns = std::max(stretch.last_ns, work.end_ns);
}

std::vector<const StreamWaits::Stretch*> StreamWaits::Stream::work_from_calls() const {
  std::vector<const Stretch*> out(calls.size());
  const Stretch* next = nullptr;
  for (std::size_t i = calls.size(); i-- > 0;) {
    if (!calls[i].after.empty()) next = &calls[i].after;
    out[i] = next;
  }
  return out;
}

StreamWait StreamWaits::follow(const Call& wait, const Stretch* next, TimeNs consumer_end,
                               TimeNs producer_end) {
  StreamWait out;
  out.at_ns = wait.at_ns;
  out.consumer_path = wait.path;
  if (next == nullptr || producer_end == kNoTime) return out;
  out.has_work = true;
  const TimeNs from = std::max(consumer_end, next->launched_ns);
  const TimeNs to = std::min(producer_end, next->first_ns);
  if (to > from) out.exposed_ns = static_cast<std::uint64_t>(to - from);
  return out;
}

std::vector<StreamWait> StreamWaits::waits() {
  order_.finish([this](const Placed& next) { put(next); });
  same_stream_ = unknown_event_ = 0;
  struct Recorded {
    TimeNs at_ns;
    Key stream;
    std::uint32_t path;
    TimeNs producer_end;
  };
  Ends ends;
  std::unordered_map<std::uint64_t, std::vector<Recorded>> records;
  for (const auto& [key, stream] : streams_) {
    const std::vector<TimeNs>& before = ends[key] = stream.ends_before_calls();
    for (std::size_t i = 0; i < stream.calls.size(); ++i) {
      const Call& call = stream.calls[i];
      if (!call.wait) records[call.event].push_back({call.at_ns, key, call.path, before[i]});
    }
  }
  for (auto& [event, list] : records) {
    std::sort(list.begin(), list.end(),
              [](const Recorded& a, const Recorded& b) { return a.at_ns < b.at_ns; });
  }
  std::vector<StreamWait> out;
  for (const auto& [key, stream] : streams_) {
    const std::vector<const Stretch*> works = stream.work_from_calls();
    for (std::size_t i = 0; i < stream.calls.size(); ++i) {
      const Call& call = stream.calls[i];
      if (!call.wait) continue;
      const std::vector<Recorded>& list = records[call.event];
      const auto after =
          std::upper_bound(list.begin(), list.end(), call.at_ns,
                           [](TimeNs time, const Recorded& recorded) { return time < recorded.at_ns; });
      if (after == list.begin()) {
        ++unknown_event_;
        continue;
      }
      const Recorded& recorded = *std::prev(after);
      if (recorded.stream == key) {
        ++same_stream_;
        continue;
      }
      StreamWait& wait = out.emplace_back(follow(call, works[i], ends[key][i], recorded.producer_end));
      wait.producer = recorded.stream;
      wait.consumer = key;
      wait.producer_path = recorded.path;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const StreamWait& a, const StreamWait& b) { return a.at_ns < b.at_ns; });
  return out;
}

}  // namespace rangefinder
