// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the drain thread by stage, for launches and their kernel records. The load resembles a program
// of many small kernels: 20 paths, 40 kernels, all names known.
//
//   decode     bytes ▶ structs, discarded              kernel record
//   record     decode, join, totals, line              kernel record
//   launch     event ▶ join table, line                launch event
//   file       lines ▶ file                            both
//
//   drain_bench           median ns of a record or event over many batches
//   drain_bench N         only N batches: for callgrind and perf
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "profiler/cupti/loader.h"
#include "profiler/drain/trace_files.h"
#include "profiler/launch/driver_apis.h"

namespace {

using namespace rangefinder;

constexpr std::size_t kBatch = 8192;
constexpr std::uint32_t kThread = 4711;
constexpr std::int64_t kKernelNs = 4'000;

class Ignored final : public RecordSink {
 public:
  void on_kernel(const KernelActivity& kernel) override { sum += kernel.work.correlation; }
  void on_memcpy(MemcpyRecord) override {}
  void on_memset(MemsetRecord) override {}
  void on_host_function(HostFunctionRecord) override {}
  void on_graph(GraphRecord) override {}
  void on_overhead(OverheadRecord, void*) override {}
  void on_context(const ContextRecord&) override {}
  void on_stream(const StreamRecord&) override {}
  std::uint64_t sum = 0;
};

double cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/// The input: the launches of a batch and the buffer of their records, created again for each batch.
class Program {
 public:
  Program(Recorder& recorder, std::int64_t base_ns) : now_ns_(base_ns), kernels_(kBatch) {
    std::uint32_t above = recorder.paths.child({0, recorder.names.intern("model"), 0});
    for (int layer = 0; layer < 20; ++layer) {
      paths_.push_back(
          recorder.paths.child({above, recorder.names.intern("layer " + std::to_string(layer)), 0}));
    }
    for (int i = 0; i < 40; ++i) names_.push_back("_Z6kernelILi" + std::to_string(i) + "EEvPKfPf");
    const auto apis = driver_apis();
    while (apis[api_].name != std::string_view("cuLaunchKernel")) ++api_;
  }

  void make_batch() {
    events_.clear();
    for (std::size_t i = 0; i < kBatch; ++i) {
      ++correlation_;
      now_ns_ += 3'000;
      Event event;
      event.kind = EventKind::launch;
      event.api = static_cast<std::uint16_t>(api_);
      event.correlation = correlation_;
      event.path = paths_[correlation_ / 60 % paths_.size()];
      event.range = correlation_ / 3;
      event.start_ns = now_ns_;
      event.end_ns = now_ns_ + 2'000;
      event.launch.context = 1;
      events_.push_back(event);
      CUpti_ActivityKernel10& kernel = kernels_[i];
      kernel = {};
      kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      kernel.start = static_cast<std::uint64_t>(now_ns_ + 4'000);
      kernel.end = static_cast<std::uint64_t>(now_ns_ + 4'000 + kKernelNs);
      kernel.contextId = 1;
      kernel.streamId = 7;
      kernel.correlationId = correlation_;
      const std::size_t name = correlation_ % names_.size();
      kernel.name = names_[name].c_str();
      kernel.gridX = static_cast<std::int32_t>(1 + name);
      kernel.gridY = kernel.gridZ = 1;
      kernel.blockX = 128;
      kernel.blockY = kernel.blockZ = 1;
      kernel.registersPerThread = 40;
    }
  }

  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] std::uint8_t* buffer() { return reinterpret_cast<std::uint8_t*>(kernels_.data()); }
  [[nodiscard]] std::size_t bytes() const { return kernels_.size() * sizeof(kernels_[0]); }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

 private:
  std::int64_t now_ns_;
  std::uint32_t correlation_ = 0;
  std::size_t api_ = 0;
  std::vector<std::uint32_t> paths_;
  std::vector<std::string> names_;
  std::vector<Event> events_;
  std::vector<CUpti_ActivityKernel10> kernels_;
};

struct Stage {
  const char* name;
  std::vector<double> ns = {};
  template <typename Step>
  void time(Step&& step) {
    const double start_ns = cpu_ns();
    step();
    ns.push_back((cpu_ns() - start_ns) / kBatch);
  }
};

void run(const CuptiFunctions& cupti, const std::string& folder, std::size_t batches, bool quiet) {
  Recorder& own = recorder();
  Options options;
  options.max_bytes = std::uint64_t{512} << 20;  // the oldest segments are deleted
  options.segment_bytes = std::uint64_t{64} << 20;
  options.keep_last = true;
  options.force = true;
  TraceFiles trace(own, options, &cupti);
  Header header;
  header.base_unix_ns = 1'800'000'000'000'000'000;
  if (!trace.open(folder, header, {})) {
    std::fprintf(stderr, "drain_bench: %s\n", trace.error().c_str());
    std::exit(1);
  }
  Program program(own, header.base_unix_ns);
  Ignored ignored;
  Stage stages[] = {{"decode"}, {"record"}, {"launch"}, {"file"}};
  for (std::size_t batch = 0; batch < batches; ++batch) {
    program.make_batch();
    if (!quiet)
      stages[0].time([&] { (void)decode_activity(cupti, program.buffer(), program.bytes(), ignored); });
    stages[2].time([&] {
      for (const Event& event : program.events()) trace.builder().on_event(kThread, event, {});
    });
    stages[1].time([&] { (void)decode_activity(cupti, program.buffer(), program.bytes(), trace.builder()); });
    stages[3].time([&] { trace.end_turn({program.now_ns(), program.now_ns() - header.base_unix_ns}, {}); });
  }
  if (quiet) return;
  for (Stage& stage : stages) {
    std::sort(stage.ns.begin(), stage.ns.end());
    std::printf("%-8s median %7.1f ns, 10th and 90th percentile %.1f and %.1f\n", stage.name,
                stage.ns[batches / 2], stage.ns[batches / 10], stage.ns[batches * 9 / 10]);
  }
  const double lost = static_cast<double>(own.loss.get(Loss::record_without_launch));
  if (lost != 0) std::printf("%.0f records found no launch\n", lost);
}

}  // namespace

int main(int argc, char** argv) {
  CuptiLibrary cupti;
  CuptiFailure failure;
  if (!load_cupti({}, cupti, failure)) {
    std::printf("skipped: %s\n", failure.reason.c_str());
    return 77;
  }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("drain-bench-" + std::to_string(getpid()))).string();
  const bool quiet = argc > 1;
  run(cupti.functions, folder, quiet ? std::strtoul(argv[1], nullptr, 10) : 200, quiet);
  std::filesystem::remove_all(folder);
  return 0;
}
