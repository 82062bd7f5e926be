// SPDX-License-Identifier: Apache-2.0
//
// Cost of records of a graph's nodes, and their loss after very many: CUPTI alone, of our library only its
// loader. graph_trace_cost.py runs it once for each setting, because most attributes count only before the
// first context.
//
//   graph_trace_cost --nodes 100 --launches 1000 --rounds 5 --kinds kernel,memcpy --set
//   device_buffer=16000000
//
// Prints one line of JSON: us per graph launch (median of the rounds, including the last wait), us of the
// launch call alone, records, records without times and the first of them, and GPU memory. With --restart,
// records are switched off and on after a round that had records without times.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
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

using bench::fail;
using probe::check;

struct Options {
  unsigned nodes = 100, blocks = 132;
  std::uint64_t launches = 1000, rounds = 5;
  std::vector<std::string> kinds, settings;
  std::size_t host_buffer_bytes = std::size_t{2} << 20;
  bool restart = false;
};

const std::map<std::string, CUpti_ActivityKind> kKinds{
    {"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {"serial", CUPTI_ACTIVITY_KIND_KERNEL},
    {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
    {"memcpy2", CUPTI_ACTIVITY_KIND_MEMCPY2},
    {"memset", CUPTI_ACTIVITY_KIND_MEMSET},
    {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
    {"graph", CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
    {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
};

struct Attribute {
  CUpti_ActivityAttribute id;
  std::size_t bytes;
};
const std::map<std::string, Attribute> kAttributes{
    {"device_buffer", {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, 8}},
    {"pool_limit", {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, 8}},
    {"pre_allocate", {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, 8}},
    {"host_pinned", {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1}},
    {"per_thread", {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 1}},
};

/// Filled buffers, counted on a separate thread as the library does.
class Records {
 public:
  Records(const CuptiFunctions& cupti, std::size_t buffer_bytes)
      : cupti_(cupti), buffer_bytes_(buffer_bytes) {
    current = this;
    // Touched beforehand, and cleared by our own thread, like the library's pool.
    for (std::size_t bytes = 0; bytes < kPoolBytes; bytes += buffer_bytes_) {
      free_.push_back(static_cast<std::uint8_t*>(std::aligned_alloc(4096, buffer_bytes_)));
      std::memset(free_.back(), 0, buffer_bytes_);
    }
    std::thread([this] { count_all(); }).detach();
  }

  static void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
    const std::lock_guard lock(current->mutex_);
    *most = 0;
    *bytes = current->buffer_bytes_;
    *buffer = nullptr;
    if (current->free_.empty()) return void(*bytes = 0);  // CUPTI drops records and counts them
    *buffer = current->free_.back();
    current->free_.pop_back();
  }
  static void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                 std::size_t valid) {
    const std::lock_guard lock(current->mutex_);
    if (buffer != nullptr) current->filled_.push_back({buffer, valid});
    current->changed_.notify_all();
  }

  void flush(bool forced) {
    cupti_.ActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return filled_.empty() && !counting_; });
  }

  std::atomic<std::uint64_t> all{0}, untimed{0}, first_untimed{0};

 private:
  struct Filled {
    std::uint8_t* data;
    std::size_t bytes;
  };
  static inline Records* current = nullptr;

  void count_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !filled_.empty(); });
      std::vector<Filled> taken;
      taken.swap(filled_);
      counting_ = true;
      lock.unlock();
      for (const Filled& one : taken) {
        count(one);
        std::memset(one.data, 0, one.bytes);
      }
      lock.lock();
      for (const Filled& one : taken) free_.push_back(one.data);
      counting_ = false;
      changed_.notify_all();
    }
  }

  void count(const Filled& buffer) {
    CUpti_Activity* record = nullptr;
    while (cupti_.ActivityGetNextRecord(buffer.data, buffer.bytes, &record) == CUPTI_SUCCESS) {
      std::uint64_t start = 0, end = 0;
      if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
          record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        start = kernel.start, end = kernel.end;
      } else if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
        const auto& graph = *reinterpret_cast<const CUpti_ActivityGraphTrace2*>(record);
        start = graph.start, end = graph.end;
      } else {
        continue;
      }
      const std::uint64_t number = ++all;
      if (start != 0 && end >= start) continue;
      if (++untimed == 1) first_untimed = number;
    }
  }

  static constexpr std::size_t kPoolBytes = std::size_t{128} << 20;
  const CuptiFunctions& cupti_;
  const std::size_t buffer_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Filled> filled_;       // guarded by mutex_
  std::vector<std::uint8_t*> free_;  // guarded by mutex_
  bool counting_ = false;            // guarded by mutex_
};

void set_attributes(const CuptiFunctions& cupti, const Options& options) {
  for (const std::string& setting : options.settings) {
    const std::size_t equals = setting.find('=');
    const auto at = kAttributes.find(setting.substr(0, equals));
    if (equals == std::string::npos || at == kAttributes.end()) fail("unknown setting: " + setting);
    std::size_t value = std::stoull(setting.substr(equals + 1)), bytes = at->second.bytes;
    if (cupti.ActivitySetAttribute(at->second.id, &bytes, &value) != CUPTI_SUCCESS)
      fail("CUPTI refused " + setting);
  }
}

void switch_kinds(const CuptiFunctions& cupti, const Options& options, bool on) {
  for (const std::string& name : options.kinds) {
    const auto at = kKinds.find(name);
    if (at == kKinds.end()) fail("unknown kind: " + name);
    const CUptiResult r = on ? cupti.ActivityEnable(at->second) : cupti.ActivityDisable(at->second);
    if (r != CUPTI_SUCCESS) fail(name + ": " + cupti_result_text(cupti, r));
  }
}

cudaGraphExec_t capture(const Options& options, cudaStream_t stream) {
  check(probe::launch_empty(options.blocks, stream), "warm up");
  check(cudaStreamSynchronize(stream), "warm up");
  return bench::captured(stream, [&] {
    for (unsigned i = 0; i < options.nodes; ++i) check(probe::launch_empty(options.blocks, stream), "node");
  });
}

std::uint64_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void run(const CuptiFunctions& cupti, const Options& options, Records& records) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  const cudaGraphExec_t graph = capture(options, stream);
  const auto launch = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) check(cudaGraphLaunch(graph, stream), "graph launch");
  };
  launch(std::min<std::uint64_t>(10, options.launches));
  check(cudaStreamSynchronize(stream), "warm up");
  const std::uint64_t free_before = free_bytes();
  std::vector<double> call_us, all_us;
  std::uint64_t untimed = 0, restarts = 0;
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    const auto start = bench::Clock::now();
    launch(options.launches);
    call_us.push_back(bench::us_since(start) / static_cast<double>(options.launches));
    check(cudaStreamSynchronize(stream), "graphs");
    all_us.push_back(bench::us_since(start) / static_cast<double>(options.launches));
    if (!options.restart) continue;
    records.flush(false);
    if (records.untimed == untimed) continue;
    switch_kinds(cupti, options, false);
    records.flush(true);
    switch_kinds(cupti, options, true);
    untimed = records.untimed;
    ++restarts;
  }
  const std::uint64_t taken = free_before - std::min(free_before, free_bytes());
  records.flush(true);
  std::size_t dropped = 0;
  (void)cupti.ActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  bench::print_line(nlohmann::ordered_json{{"us", bench::median(all_us)},
                                           {"least_us", *std::min_element(all_us.begin(), all_us.end())},
                                           {"call_us", bench::median(call_us)},
                                           {"records", records.all.load()},
                                           {"untimed", records.untimed.load()},
                                           {"first_untimed", records.first_untimed.load()},
                                           {"dropped", dropped},
                                           {"restarts", restarts},
                                           {"gpu_bytes", taken}});
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  using namespace rangefinder;
  Options options;
  Arguments arguments("Cost of records of a graph's nodes");
  arguments.number("--nodes", options.nodes, "Kernels of the graph");
  arguments.number("--blocks", options.blocks, "Blocks of each kernel");
  arguments.number("--launches", options.launches, "Launches of the graph per round");
  arguments.number("--rounds", options.rounds, "Rounds");
  arguments.list("--kinds", options.kinds, "Kinds of records to enable");
  arguments.list("--set", options.settings, "ATTRIBUTE=VALUE");
  arguments.number("--host-buffer", options.host_buffer_bytes, "Bytes of a buffer given to CUPTI");
  arguments.flag("--restart", options.restart, "Switch records off and on after records without times");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  const CuptiLibrary& cupti = bench::cupti_or_exit();
  auto* const records = new Records(cupti.functions, options.host_buffer_bytes);  // its thread never ends
  std::uint8_t zeroed = 1;
  std::size_t one = 1;
  (void)cupti.functions.ActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &one, &zeroed);
  set_attributes(cupti.functions, options);
  if (!options.kinds.empty())
    (void)cupti.functions.ActivityRegisterCallbacks(&Records::requested, &Records::completed);
  switch_kinds(cupti.functions, options, true);
  probe::require_gpu();
  run(cupti.functions, options, *records);
  std::_Exit(0);
}
