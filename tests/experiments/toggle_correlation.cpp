// SPDX-License-Identifier: Apache-2.0
//
// What happens to CUPTI's correlation ids if callbacks and records are switched off and on while another
// thread launches: CUPTI alone, of our library only its loader.
//
//   toggle_correlation --toggle launch,sync,kinds,subscribe --on-outside all --off-outside launches --ahead
//   30
//
// One thread launches --ahead kernels of 5 us and waits for them, over and over. The other switches what
// --toggle names on and off, 2 ms each. With --on-outside and --off-outside it does so while no launch, or no
// call at all, is in progress. Prints one line of JSON: rounds, rounds in which launches of one thread did
// not all have different ids ("repeated"), the first of them, how often that changed between rounds
// ("changes"), and the median time of a switch ("on_us", "off_us").
#include <cupti_driver_cbid.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/experiments/experiment.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"

namespace rangefinder {
namespace {

using probe::check;

constexpr std::uint64_t kKernelNs = 5'000;
constexpr std::chrono::milliseconds kHalf{2};
const bench::Calls kLaunchCalls{
    CUPTI_CB_DOMAIN_DRIVER_API,
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}};
const bench::Calls kSyncCalls{CUPTI_CB_DOMAIN_DRIVER_API, {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize}};

struct Options {
  std::vector<std::string> toggle{"launch", "sync", "kinds"};
  std::string on_outside = "none", off_outside = "none";
  unsigned rounds = 400, ahead = 30;

  [[nodiscard]] bool toggles(const char* what) const {
    return std::find(toggle.begin(), toggle.end(), what) != toggle.end();
  }
};

/// Ids of one round's launches, from their callbacks.
struct Ids {
  std::atomic<std::uint64_t> launches{0}, repeated{0};
  std::atomic<std::uint32_t> last{0};

  void add(std::uint32_t id) {
    if (last.exchange(id) == id) repeated.fetch_add(1);
    launches.fetch_add(1);
  }
};

void CUPTIAPI on_call(void* ids, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || cbid == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_EXIT) static_cast<Ids*>(ids)->add(call.correlationId);
}

class Toggled {
 public:
  Toggled(const CuptiFunctions& cupti, Ids& ids, const Options& options)
      : tool_(cupti, on_call, &ids), options_(options) {
    if (options_.toggles("subscribe")) return;
    tool_.subscribe();
    if (!options_.toggles("launch")) tool_.callbacks(true, kLaunchCalls);
    if (!options_.toggles("sync")) tool_.callbacks(true, kSyncCalls);
    if (!options_.toggles("kinds")) tool_.kernels(true);
  }

  /// With "subscribe" all callbacks are switched, whatever else is named.
  void turn(bool on) {
    const bool all = options_.toggles("subscribe");
    if (on && all) tool_.subscribe();
    if (all || options_.toggles("kinds")) tool_.kernels(on);
    if (all || options_.toggles("launch")) tool_.callbacks(on, kLaunchCalls);
    if (all || options_.toggles("sync")) tool_.callbacks(on, kSyncCalls);
    if (!on && all) tool_.unsubscribe();
  }

 private:
  bench::CuptiAlone tool_;
  const Options& options_;
};

/// The application: launches and waits.
class Storm {
 public:
  explicit Storm(unsigned ahead) : ahead_(ahead), thread_([this] { run(); }) {}
  ~Storm() {
    ends_.store(true);
    thread_.join();
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  /// Runs `step` while no call of the named kind is in progress.
  template <typename Step>
  void outside(const std::string& calls, const Step& step) {
    if (calls == "none") return step();
    wanted_.store(calls == "all" ? kAll : kLaunches);
    const std::lock_guard launch_lock(launching_);
    std::unique_lock wait_lock(waiting_, std::defer_lock);
    if (calls == "all") wait_lock.lock();
    step();
    wanted_.store(kNone);
  }

 private:
  enum Wanted { kNone, kLaunches, kAll };

  void run() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream), "stream");
    while (!ends_.load()) {
      for (unsigned i = 0; i < ahead_; ++i) {
        while (wanted_.load() != kNone) std::this_thread::yield();
        const std::lock_guard lock(launching_);
        check(probe::launch_spin(kKernelNs, stream), "launch");
      }
      while (wanted_.load() == kAll) std::this_thread::yield();
      const std::lock_guard lock(waiting_);
      check(cudaStreamSynchronize(stream), "synchronise");
    }
    check(cudaStreamDestroy(stream), "stream");
  }

  const unsigned ahead_;
  std::atomic<bool> ends_{false};
  std::atomic<Wanted> wanted_{kNone};
  std::mutex launching_, waiting_;
  std::thread thread_;
};

nlohmann::ordered_json measure(const CuptiFunctions& cupti, const Options& options) {
  Ids ids;
  Toggled toggled(cupti, ids, options);
  Storm storm(options.ahead);
  unsigned repeated = 0, changes = 0, empty = 0;
  int first = -1;
  std::vector<double> on_us, off_us;
  bool before = false;
  for (unsigned round = 0; round < options.rounds; ++round) {
    storm.outside(options.on_outside, [&] { on_us.push_back(bench::us_of([&] { toggled.turn(true); })); });
    ids.launches = ids.repeated = 0;
    std::this_thread::sleep_for(kHalf);
    const std::uint64_t launches = ids.launches, same = ids.repeated;
    const bool stuck = same > 5;
    empty += launches == 0;
    repeated += stuck;
    if (stuck && first < 0) first = static_cast<int>(round);
    changes += stuck != before;
    before = stuck;
    storm.outside(options.off_outside, [&] { off_us.push_back(bench::us_of([&] { toggled.turn(false); })); });
    std::this_thread::sleep_for(kHalf);
  }
  return {{"toggle", options.toggle},
          {"on_outside", options.on_outside},
          {"off_outside", options.off_outside},
          {"ahead", options.ahead},
          {"rounds", options.rounds},
          {"without_launch", empty},
          {"repeated", repeated},
          {"first", first},
          {"changes", changes},
          {"on_us", bench::median(on_us)},
          {"off_us", bench::median(off_us)}};
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  using namespace rangefinder;
  Arguments arguments(
      "What happens to CUPTI's correlation ids if it is switched off and on while a program launches");
  Options options;
  arguments.list("--toggle", options.toggle);
  const std::vector<std::string> calls{"none", "launches", "all"};
  arguments.choice("--on-outside", options.on_outside, "", calls);
  arguments.choice("--off-outside", options.off_outside, "", calls);
  arguments.number("--ahead", options.ahead);
  arguments.number("--rounds", options.rounds);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  probe::require_gpu();
  bench::print_line(measure(bench::cupti_or_exit().functions, options));
  return 0;
}
