// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/trace_maker.h"

#include <algorithm>
#include <utility>

#include "tests/bench/made_names.h"

namespace rangefinder::bench {
namespace {

constexpr std::size_t kBufferRecords = 8'192;  // GPU records arrive in whole buffers
constexpr std::uint32_t kFanOut = 5;

}  // namespace

TraceMaker::TraceMaker(TraceMakerOptions options) : options_(std::move(options)), out_(options_.out) {
  plan();
}

/// A tree in which each module has up to kFanOut children, its parent named first.
void TraceMaker::plan() {
  for (std::uint32_t i = 0; i < std::max(options_.paths, 1u); ++i) {
    const std::size_t parent = i == 0 ? 0 : (i - 1) / kFanOut;
    Module module;
    module.path = {i + 1, i == 0 ? 0 : static_cast<std::uint32_t>(parent + 1), 0,
                   i == 0 ? "model" : "layer" + std::to_string((i - 1) % kFanOut)};
    modules_.push_back(std::move(module));
    if (i != 0) modules_[parent].children.push_back(i);
  }
}

void TraceMaker::begin_segment() {
  out_.put(made_header(out_.open(), "off"));
  out_.put(made_gpu());
  out_.put(ContextRecord{kMadeContext, 0, kMadeStream, false});
  out_.put(ThreadRecord{kMadeThread, "model"});
  for (const Module& module : modules_) out_.put(module.path);
  for (std::uint32_t i = 1; i <= kMadeKernelNames; ++i) out_.put(made_kernel_name(i));
  for (std::uint32_t i = 1; i <= kMadeConfigs; ++i) out_.put(made_config(i));
}

void TraceMaker::launch(const char* api, TimeNs took_ns, std::uint32_t path, std::uint64_t range) {
  ++correlation_;
  out_.event(
      "launch",
      LaunchRecord{
          {host_ns_, host_ns_ + took_ns, kMadeThread, path, range}, api, correlation_, kMadeContext, 0});
}

void TraceMaker::launch_kernel(std::uint32_t path, std::uint64_t range) {
  const std::uint64_t n = launched_++;
  launch(n % 4 == 0 ? "cuLaunchKernelEx" : "cuLaunchKernel", 2'500, path, range);
  KernelRecord kernel;
  kernel.work = {
      std::max(gpu_ns_, host_ns_ + 4'000), 0, 0, kMadeContext, kMadeStream, correlation_, path, range};
  kernel.work.end_ns = kernel.work.start_ns + 1'200 + static_cast<TimeNs>(spread(path * 64 + n % 8, 20'000));
  kernel.name = 1 + static_cast<std::uint32_t>(spread(path * 8 + n % 3, kMadeKernelNames));
  kernel.config = 1 + static_cast<std::uint32_t>(spread(path + n % 5, kMadeConfigs));
  gpu_ns_ = kernel.work.end_ns + 600;
  host_ns_ += 3'200;
  waiting_kernels_.push_back(kernel);
}

void TraceMaker::copy(bool to_device) {
  launch(to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", 3'000, 0, 0);
  MemcpyRecord copy;
  copy.work = {std::max(gpu_ns_, host_ns_ + 4'000), 0, 0, kMadeContext, kMadeStream, correlation_};
  copy.bytes = to_device ? 4'915'200 : 96'000;
  copy.work.end_ns = copy.work.start_ns + static_cast<TimeNs>(copy.bytes / 50) + 1'000;
  copy.kind = to_device ? CopyKind::HtoD : CopyKind::DtoH;
  copy.source = to_device ? MemoryKind::pinned : MemoryKind::device;
  copy.destination = to_device ? MemoryKind::device : MemoryKind::pinned;
  copy.async = true;
  gpu_ns_ = copy.work.end_ns + 600;
  host_ns_ += 3'500;
  waiting_copies_.push_back(copy);
}

void TraceMaker::flush_gpu_records() {
  for (const KernelRecord& kernel : waiting_kernels_) out_.event("kernel", kernel);
  for (const MemcpyRecord& copy : waiting_copies_) out_.event("memcpy", copy);
  waiting_kernels_.clear();
  waiting_copies_.clear();
  out_.flush(host_ns_);
}

void TraceMaker::run_module(std::size_t index) {
  const Module& module = modules_[index];
  RangeRecord range;
  range.id = ++ranges_;
  range.start_ns = host_ns_;
  range.thread = kMadeThread;
  range.path = module.path.id;
  host_ns_ += 800;
  for (const std::size_t child : module.children) run_module(child);
  // A leaf launches three kernels, any other module one.
  const int kernels = module.children.empty() ? 3 : 1;
  for (int i = 0; i < kernels && launched_ < options_.kernels; ++i) launch_kernel(module.path.id, range.id);
  host_ns_ += 700;
  range.end_ns = host_ns_;
  out_.event("range", range);
}

void TraceMaker::iterate() {
  copy(true);
  run_module(0);
  copy(false);
  out_.event("sync", SyncRecord{{host_ns_, std::max(host_ns_, gpu_ns_) + 5'000, kMadeThread, 0, 0},
                                "cuStreamSynchronize",
                                kMadeContext,
                                kMadeStream,
                                0});
  host_ns_ = std::max(host_ns_, gpu_ns_) + 6'000;
}

void TraceMaker::end_trace() {
  flush_gpu_records();
  EndRecord end;
  end.at_ns = host_ns_;
  end.reason = "exit";
  const std::uint64_t copies = correlation_ - launched_;
  end.balance[static_cast<std::size_t>(WorkKind::kernel)] = {launched_, launched_, 0, 0};
  end.balance[static_cast<std::size_t>(WorkKind::memcpy)] = {copies, copies, 0, 0};
  out_.flush(host_ns_);
  out_.finish(end);
  out_.close();
}

void TraceMaker::make() {
  begin_segment();
  while (launched_ < options_.kernels) {
    iterate();
    if (waiting_kernels_.size() >= kBufferRecords) flush_gpu_records();
    if (!out_.is_full()) continue;
    out_.flush(host_ns_);
    out_.close();
    begin_segment();
  }
  end_trace();
}

}  // namespace rangefinder::bench
