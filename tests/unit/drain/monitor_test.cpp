// SPDX-License-Identifier: Apache-2.0
//
// Monitor mode: when records are switched on and off, what is written, what is counted.
#include <vector>

#include "profiler/attribution/monitor_rates.h"
#include "profiler/drain/monitor_cycle.h"
#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr std::int64_t kMs = 1'000'000;
using Place = MonitorCycle::Place;
using Change = MonitorCycle::Change;

/// Windows of 100 ms every second from kBase on, and a clock that the test sets.
struct Cycle {
  std::int64_t now_ns = kBase;
  std::vector<bool> switched;
  MonitorCycle cycle{{100 * kMs, 1000 * kMs},
                     kBase,
                     [this](bool on) {
                       switched.push_back(on);
                       now_ns += kMs;  // duration of a switch
                     },
                     [this] { return now_ns; }};

  Change turn_at(std::int64_t ms) {
    now_ns = kBase + ms * kMs;
    return cycle.turn();
  }
  [[nodiscard]] Place place(std::int64_t start_ms, std::int64_t end_ms) const {
    return cycle.place(kBase + start_ms * kMs, kBase + end_ms * kMs);
  }
};

Event at(Event event, std::int64_t start_ms, std::int64_t end_ms) {
  event.start_ns = kBase + start_ms * kMs;
  event.end_ns = kBase + end_ms * kMs;
  return event;
}

MonitorRecord period(std::int64_t number, std::uint32_t path, std::uint64_t kernel_ns) {
  MonitorRecord record;
  record.start_ns = number * 1000 * kMs;
  record.end_ns = record.start_ns + 1000 * kMs;
  record.window_ns = 100 * kMs;
  record.path = path;
  record.kernel_ns = kernel_ns;
  record.kernels = kernel_ns == 0 ? 0 : 1;
  return record;
}

}  // namespace

TEST_CASE("records are switched off after a window and on again with the next period") {
  Cycle manual;
  const std::vector<Change> changes{manual.turn_at(50), manual.turn_at(100), manual.turn_at(500),
                                    manual.turn_at(1000), manual.turn_at(1101)};

  CHECK(changes == std::vector<Change>{Change::none, Change::window_ended, Change::none, Change::period_ended,
                                       Change::window_ended});
  CHECK(manual.switched == std::vector<bool>{false, true, false});
}

TEST_CASE("a call in progress while records are switched off or on is at the edge") {
  Cycle manual;
  (void)manual.turn_at(100);   // off from 100 to 101
  (void)manual.turn_at(1000);  // on from 1000 to 1001

  CHECK(manual.place(10, 20) == Place::inside);
  CHECK(manual.place(99, 102) == Place::edge);
  CHECK(manual.place(200, 300) == Place::outside);
  CHECK(manual.place(1000, 1002) == Place::edge);
  CHECK(manual.place(1002, 1003) == Place::inside);
}

TEST_CASE("calls before the begin of the first window are in it") {
  const Cycle manual;
  CHECK(manual.place(-500, -400) == Place::inside);
}

TEST_CASE("a window's length is the time in which records were on") {
  Cycle manual;
  CHECK(manual.cycle.window_ns(kBase + 30 * kMs) == 30 * kMs);
  (void)manual.turn_at(120);  // late
  CHECK(manual.cycle.window_ns(kBase + 900 * kMs) == 120 * kMs);
}

TEST_CASE("between windows, launches and ranges are counted but not written") {
  BuiltTrace trace;
  Cycle manual;
  trace.builder.monitor(manual.cycle);
  Event range;
  range.kind = EventKind::range;
  range.range = 900;
  range.path = trace.layer;

  trace.event(at(launch_event(5, "cuLaunchKernel", trace.layer), 10, 11));
  trace.builder.on_kernel(kernel_activity(5));
  trace.event(at(range, 10, 20));
  (void)manual.turn_at(100);
  trace.event(at(launch_event(6, "cuLaunchKernel", trace.layer), 300, 301));
  trace.event(at(range, 300, 340));
  trace.event(at(call(EventKind::sync, "cuCtxSynchronize"), 400, 401));
  trace.builder.end_period(kBase, kBase + 1000 * kMs, 100 * kMs);
  trace.builder.finish();

  const WrittenTrace written = trace.read();
  CHECK(written.only<KernelRecord>().work.correlation == 5);
  CHECK(written.only<LaunchRecord>().correlation == 5);
  CHECK(written.all<RangeRecord>().size() == 1);
  CHECK(written.all<SyncRecord>().empty());
  const auto lines = written.all<MonitorRecord>();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].path == 0);
  CHECK(lines[0].window_ns == 100 * kMs);
  CHECK(lines[1].path == trace.layer);
  CHECK((lines[1].launches == 2 && lines[1].window_launches == 1));
  CHECK((lines[1].ranges == 2 && lines[1].range_ns == 50 * kMs));
  CHECK((lines[1].kernels == 1 && lines[1].kernel_ns == 3000));
  CHECK(trace.loss(Loss::launch_without_record) == 0);
}

TEST_CASE("a launch at a window's edge may have a record or none; neither is loss") {
  BuiltTrace trace;
  Cycle manual;
  trace.builder.monitor(manual.cycle);
  (void)manual.turn_at(100);

  trace.event(at(launch_event(5, "cuLaunchKernel"), 99, 102));
  trace.event(at(launch_event(6, "cuLaunchKernel"), 99, 102));
  trace.builder.on_kernel(kernel_activity(5));
  trace.builder.finish();

  CHECK(trace.read().only<KernelRecord>().work.correlation == 5);
  CHECK(trace.builder.launches().balance()[0].launched == 1);
  CHECK(trace.builder.launches().balance()[0].recorded == 1);
  CHECK(trace.loss(Loss::launch_without_record) == 0);
  CHECK(trace.loss(Loss::record_without_launch) == 0);
}

TEST_CASE("a rate is the mean over all windows, idle ones included, with their standard deviation") {
  MonitorRates rates;
  rates.add_path(1, 0);
  rates.add_path(2, 1);
  for (const std::uint64_t busy_ms : {30, 10, 0, 20}) {
    const auto number = static_cast<std::int64_t>(rates.windows());
    rates.add(period(number, 0, 0));
    rates.add(period(number, 2, busy_ms * kMs));
  }

  const std::vector<MonitorRow> rows = rates.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rates.windows() == 4);
  CHECK(rates.observed_ns() == 4000 * kMs);
  // 0.3, 0.1, 0 and 0.2 of the time: mean 0.15, standard deviation 0.1291.
  CHECK(rows[2].gpu_ns_per_s == Approx(0.15e9));
  CHECK(rows[2].gpu_ns_per_s_sd == Approx(0.12909944e9));
  CHECK(rows[2].depth == 2);
  // The parent includes its child; path 0, outside of all ranges, has no kernels.
  CHECK(rows[1].gpu_ns_per_s == rows[2].gpu_ns_per_s);
  CHECK(rows[0].gpu_ns_per_s == 0);
}

TEST_CASE("a period without a window adds calls but does not enter the rate") {
  MonitorRates rates;
  MonitorRecord record = period(0, 0, 0);
  record.launches = 7;
  rates.add(record);
  record.start_ns += 1000 * kMs;
  record.window_ns = 0;
  rates.add(record);

  CHECK(rates.windows() == 1);
  CHECK(rates.rows().at(0).launches == 14);
}
