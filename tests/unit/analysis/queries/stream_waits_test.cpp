// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/queries/stream_waits.h"

using namespace rangefinder;
using test::call;
using test::kernel_on;

namespace {

constexpr std::uint32_t kProducer = 13, kConsumer = 14;
constexpr std::uint64_t kEvent = 0xe0;

EventRecord event(bool wait, TimeNs at, std::uint32_t stream, std::uint64_t handle = kEvent) {
  return {{at, at + 1, 4711, wait ? 2U : 1U, 0}, wait, handle, stream, 1};
}

template <typename... Records>
StreamWaits waits_of(const Records&... records) {
  StreamWaits waits;
  (waits.add(records), ...);
  return waits;
}

/// The producer's work runs from 100 to 200; its event is recorded at host time 20. The consumer waits at 30
/// and launches from 40 to 50.
struct Scene {
  StreamWaits waits = waits_of(call("cuLaunchKernel", 1, 10, 15), kernel_on(kProducer, 1, 100, 200).work,
                               event(false, 20, kProducer), event(true, 30, kConsumer));
  void consumer(TimeNs start, TimeNs end, TimeNs launched = 40) {
    waits.add(call("cuLaunchKernel", 2, launched, launched + 10));
    waits.add(kernel_on(kConsumer, 2, start, end).work);
  }
};

}  // namespace

TEST_CASE("an idle consumer is exposed from its launch to the producer's end") {
  Scene scene;
  scene.consumer(205, 300);

  const auto waits = scene.waits.waits();

  REQUIRE(waits.size() == 1);
  CHECK(waits[0].has_work);
  CHECK(waits[0].exposed_ns == 150);  // from 50, the end of the launch call, to 200
  CHECK(waits[0].producer == std::pair(1U, kProducer));
  CHECK(waits[0].consumer == std::pair(1U, kConsumer));
  CHECK(waits[0].producer_path == 1);
  CHECK(waits[0].consumer_path == 2);
}

TEST_CASE("earlier work of the consumer hides part of the wait") {
  Scene scene;
  scene.waits.add(call("cuLaunchKernel", 3, 25, 28));
  scene.waits.add(kernel_on(kConsumer, 3, 60, 170).work);
  scene.consumer(205, 300);

  CHECK(scene.waits.waits()[0].exposed_ns == 30);
}

TEST_CASE("a wait whose producer ended before the launch costs nothing") {
  Scene scene;
  scene.consumer(415, 500, 400);

  CHECK(scene.waits.waits()[0].exposed_ns == 0);
}

TEST_CASE("a wait refers to the latest record of its event before it") {
  Scene scene;
  scene.consumer(205, 300);
  scene.waits.add(call("cuLaunchKernel", 4, 60, 65));
  scene.waits.add(kernel_on(15, 4, 210, 900).work);
  scene.waits.add(event(false, 70, 15));  // after the wait

  CHECK(scene.waits.waits()[0].producer == std::pair(1U, kProducer));
}

TEST_CASE("waits within one stream or for an unrecorded event are only counted") {
  StreamWaits waits =
      waits_of(event(false, 10, kProducer), event(true, 20, kProducer), event(true, 30, kConsumer, 0xff));

  CHECK(waits.waits().empty());
  CHECK(waits.same_stream() == 1);
  CHECK(waits.unknown_event() == 1);
}

TEST_CASE("a wait without later work has no exposed time") {
  Scene scene;

  CHECK_FALSE(scene.waits.waits()[0].has_work);
}

TEST_CASE("stream 0 of an event call is the context's default stream") {
  StreamWaits waits =
      waits_of(ContextRecord{1, 0, 7, false}, event(false, 10, 0), event(true, 20, kConsumer));

  CHECK(waits.waits()[0].producer == std::pair(1U, 7U));
}

TEST_CASE("the order in which lines arrive does not change the waits") {
  StreamWaits waits = waits_of(kernel_on(kConsumer, 2, 205, 300).work, kernel_on(kProducer, 1, 100, 200).work,
                               event(true, 30, kConsumer), call("cuLaunchKernel", 2, 40, 50),
                               call("cuLaunchKernel", 1, 10, 15), event(false, 20, kProducer));

  CHECK(waits.waits()[0].exposed_ns == 150);
}

TEST_CASE("all nodes of a graph belong to its launch") {
  StreamWaits waits = waits_of(event(false, 20, kProducer), call("cuGraphLaunch", 1, 10, 15),
                               kernel_on(kProducer, 1, 100, 120).work, kernel_on(kProducer, 1, 120, 200).work,
                               event(true, 30, kConsumer), call("cuLaunchKernel", 2, 40, 50),
                               kernel_on(kConsumer, 2, 205, 300).work);

  CHECK(waits.waits()[0].exposed_ns == 150);
}

namespace {

/// All lines of a trace in memory.
struct Held {
  std::vector<GpuWork> works;
  std::vector<EventRecord> events;
  std::unordered_map<std::uint32_t, HostWork> launches;
  StreamWaits waits;
  void line(const Line& line) {
    if (const auto* const work = gpu_work(line)) {
      works.push_back(*work);
      waits.add(*work);
    }
    if (const auto* const launch = std::get_if<LaunchRecord>(&line)) {
      launches[launch->correlation] = launch->host;
      waits.add(*launch);
    }
    if (const auto* const event = std::get_if<EventRecord>(&line)) {
      events.push_back(*event);
      waits.add(*event);
    }
  }

  /// The definition, computed from all lines for each wait.
  std::uint64_t exposed_of(const EventRecord& wait) const {
    const EventRecord* record = nullptr;
    for (const EventRecord& event : events) {
      if (event.wait || event.event != wait.event || event.host.start_ns > wait.host.start_ns) continue;
      if (record == nullptr || event.host.start_ns > record->host.start_ns) record = &event;
    }
    if (record == nullptr || record->stream == wait.stream) return 0;
    TimeNs produced = kNoTime, consumed = kNoTime;
    const GpuWork* next = nullptr;
    const auto launched = [this](const GpuWork& work) { return launches.at(work.correlation); };
    for (const GpuWork& work : works) {
      const TimeNs at = launched(work).start_ns;
      if (work.stream == record->stream && at < record->host.start_ns)
        produced = std::max(produced, work.end_ns);
      if (work.stream != wait.stream) continue;
      if (at < wait.host.start_ns)
        consumed = std::max(consumed, work.end_ns);
      else if (next == nullptr || at < launched(*next).start_ns)
        next = &work;
    }
    if (next == nullptr || produced == kNoTime) return 0;
    const TimeNs from = std::max(consumed, launched(*next).end_ns);
    const TimeNs to = std::min(produced, next->start_ns);
    return to > from ? static_cast<std::uint64_t>(to - from) : 0;
  }
};

}  // namespace

TEST_CASE("every wait of a recording with four streams agrees with the definition") {
  LineReader reader;
  Held held;
  static_cast<void>(read_lines(open_trace_folder(test::recorded("multi_stream")), reader,
                               [&held](const Line& line, const LinePlace&) { held.line(line); }));
  std::vector<std::uint64_t> expected;
  for (const EventRecord& event : held.events) {
    if (event.wait) expected.push_back(held.exposed_of(event));
  }

  std::vector<std::uint64_t> exposed;
  for (const StreamWait& wait : held.waits.waits()) exposed.push_back(wait.exposed_ns);

  REQUIRE(exposed.size() == 75);
  CHECK(std::any_of(exposed.begin(), exposed.end(), [](std::uint64_t ns) { return ns > 100'000; }));
  CHECK(exposed == expected);
}
