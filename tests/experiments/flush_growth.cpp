// SPDX-License-Identifier: Apache-2.0
//
// Does cuptiActivityFlushAll take longer the longer a program runs? CUPTI alone: of our library only its
// loader.
//
//   flush_growth --passes 200000 --launches 30 --steps 10 --flush-ms 100 [--kept] [--no-event-records]
//   [--toggle] [--renew]
//
// A pass is some empty kernels between two CUDA events, as in `rtdetr`, and no thread waits for them. 1,024
// passes reuse their events in turn; with --kept each pass has its own. A second thread requests records
// every --flush-ms, as our library does. Prints a JSON line per step of --passes / --steps: the passes so
// far, the median and maximum us of a flush and ns of a launch in this step, the median us of flushes with
// the GPU and the records idle, and the process's resident memory. --toggle: switches the kinds of records
// off and on before each step, as a window does. --renew: also registers a clock between the two.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/activity/activity_callbacks.h"
#include "tests/experiments/experiment.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"

namespace rangefinder {
namespace {

using bench::check_cupti;
using probe::check;

constexpr std::uint64_t kPassesInTurn = 1'024;

struct Settings {
  std::uint64_t passes = 200'000, steps = 10;
  unsigned launches = 30, flush_ms = 100;
  bool kept = false, no_event_records = false, toggle = false, renew = false;
};

double flush_us(const CuptiFunctions& cupti) {
  return bench::us_of([&] { check_cupti(cupti.ActivityFlushAll(0), "flush"); });
}

/// Requests records from its own thread until destroyed, and keeps the duration of each request.
class Flusher {
 public:
  Flusher(const CuptiFunctions& cupti, unsigned every_ms)
      : cupti_(cupti), thread_([this, every_ms] { run(std::chrono::milliseconds(every_ms)); }) {}
  ~Flusher() {
    stopping_ = true;
    thread_.join();
  }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  /// Microseconds of each flush since the last call.
  std::vector<double> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(times_us_, {});
  }

 private:
  void run(std::chrono::milliseconds pause) {
    while (!stopping_) {
      std::this_thread::sleep_for(pause);
      const double took_us = flush_us(cupti_);
      const std::lock_guard lock(mutex_);
      times_us_.push_back(took_us);
    }
  }

  const CuptiFunctions& cupti_;
  std::mutex mutex_;
  std::vector<double> times_us_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Median us of a flush when there are no records to deliver.
double idle_flush_us(const CuptiFunctions& cupti) {
  check(cudaDeviceSynchronize(), "wait");
  (void)flush_us(cupti);
  std::vector<double> times_us;
  for (int i = 0; i < 11; ++i) times_us.push_back(flush_us(cupti));
  return bench::median(times_us);
}

void switch_kinds(const CuptiFunctions& cupti, const Settings& options, bool on) {
  const auto change = on ? cupti.ActivityEnable : cupti.ActivityDisable;
  check_cupti(change(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "kernel records");
  if (!options.no_event_records) check_cupti(change(CUPTI_ACTIVITY_KIND_CUDA_EVENT), "event records");
}

std::uint64_t resident_kib() {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

class Passes {
 public:
  explicit Passes(const Settings& options)
      : launches_(options.launches), events_(2 * (options.kept ? options.passes : kPassesInTurn)) {
    for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "event");
  }

  /// ns per launch.
  double run(std::uint64_t from, std::uint64_t to) {
    const auto begin = bench::Clock::now();
    for (std::uint64_t pass = from; pass < to; ++pass) {
      const std::size_t first = 2 * pass % events_.size();
      check(cudaEventRecord(events_[first]), "record");
      for (unsigned i = 0; i < launches_; ++i) check(probe::launch_empty(1, nullptr), "launch");
      check(cudaEventRecord(events_[first + 1]), "record");
    }
    return 1e3 * bench::us_since(begin) / (static_cast<double>(to - from) * launches_);
  }

 private:
  unsigned launches_;
  std::vector<cudaEvent_t> events_;  // never destroyed: the program ends with them
};

void measure(const CuptiFunctions& cupti, const Settings& options) {
  check_cupti(bench::throw_records_away(cupti), "buffers");
  switch_kinds(cupti, options, true);
  Passes passes(options);
  Flusher flusher(cupti, options.flush_ms);
  const std::uint64_t length = std::max<std::uint64_t>(options.passes / options.steps, 1);
  for (std::uint64_t done = 0; done + length <= options.passes; done += length) {
    if ((options.toggle || options.renew) && done != 0) {
      switch_kinds(cupti, options, false);
      if (options.renew) renew_clock(cupti);
      switch_kinds(cupti, options, true);
    }
    const double launch_ns = passes.run(done, done + length);
    const std::vector<double> flushes = flusher.take();
    nlohmann::ordered_json line{{"passes", done + length},
                                {"launch_ns", launch_ns},
                                {"idle_flush_us", idle_flush_us(cupti)},
                                {"resident_kib", resident_kib()},
                                {"flushes", flushes.size()}};
    if (!flushes.empty()) {
      line["flush_median_us"] = bench::median(flushes);
      line["flush_most_us"] = *std::max_element(flushes.begin(), flushes.end());
    }
    bench::print_line(line);
  }
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  using namespace rangefinder;
  Arguments arguments("Time of a flush of CUPTI's records over a program's lifetime");
  Settings options;
  arguments.number("--passes", options.passes);
  arguments.positive("--steps", options.steps);
  arguments.positive("--launches", options.launches);
  arguments.number("--flush-ms", options.flush_ms);
  arguments.flag("--kept", options.kept, "Separate events for each pass");
  arguments.flag("--no-event-records", options.no_event_records);
  arguments.flag("--toggle", options.toggle);
  arguments.flag("--renew", options.renew);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  probe::require_gpu();
  measure(bench::cupti_or_exit().functions, options);
  return 0;
}
