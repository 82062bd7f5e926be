// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/trace_maker.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "schema/write_line.h"

namespace rangefinder::bench {
namespace {

constexpr std::uint32_t kThread = 4711;
constexpr std::uint32_t kContext = 1, kStream = 7;
constexpr std::size_t kBufferRecords = 8'192;  // GPU records arrive in whole buffers
constexpr std::size_t kWriteBytes = std::size_t{4} << 20;
constexpr std::uint64_t kSegmentBytes = std::uint64_t{256} << 20;
constexpr std::uint32_t kKernelNames = 200;
constexpr std::uint32_t kFanOut = 5;
constexpr std::uint32_t kConfigs = 64;

/// Spreads n over [0, end), the same each time.
std::uint64_t spread(std::uint64_t n, std::uint64_t end) {
  n *= 0x9E37'79B9'7F4A'7C15;
  return (n >> 29) % end;
}

Header header_of(std::uint32_t segment) {
  Header header;
  header.segment = segment;
  header.base_unix_ns = 1'763'712'000'000'000'000;
  header.base_monotonic_ns = 86'400'000'000'000;
  header.tool_version = "trace_maker";
  header.pid = kThread;
  header.parent_pid = 1;
  header.host = "made";
  header.executable = "/usr/bin/model";
  header.command = {"model"};
  header.counters = "off";
  return header;
}

GpuRecord made_gpu() {
  GpuRecord gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  gpu.compute_major = 9;
  gpu.sm_count = 132;
  gpu.memory_bytes = 150'109'880'320;
  gpu.l2_bytes = 62'914'560;
  gpu.peak_dram_bytes_per_s = 4'814'304'000'000;
  return gpu;
}

}  // namespace

TraceMaker::TraceMaker(TraceMakerOptions options) : options_(std::move(options)) {
  std::filesystem::create_directories(options_.out);
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

template <typename Record>
void TraceMaker::put(const Record& record) {
  write_line(text_, record);
  ++lines_;
  if (text_.size() >= kWriteBytes) write_text();
}

template <typename Record>
void TraceMaker::event(const char* kind, const Record& record) {
  put(record);
  ++events_;
  const auto same = [&](const auto& entry) { return entry.first == kind; };
  auto count = std::find_if(end_.records.begin(), end_.records.end(), same);
  if (count == end_.records.end()) count = end_.records.insert(count, {kind, 0});
  ++count->second;
}

void TraceMaker::begin_segment() {
  char name[32];
  std::snprintf(name, sizeof name, "trace-%05u.ndjson", segment_);
  file_.open(std::filesystem::path(options_.out) / name, std::ios::binary | std::ios::trunc);
  segment_written_ = 0;
  put(header_of(segment_));
  put(made_gpu());
  put(ContextRecord{kContext, 0, kStream, false});
  put(ThreadRecord{kThread, "model"});
  for (const Module& module : modules_) put(module.path);
  for (std::uint32_t i = 1; i <= kKernelNames; ++i) {
    const std::string name_text = "void op" + std::to_string(i) + "<float, 4>(float*, int)";
    put(KernelNameRecord{i, "_Z2op" + std::to_string(i), name_text, "own", "no known pattern"});
  }
  for (std::uint32_t i = 1; i <= kConfigs; ++i) {
    LaunchConfigRecord config;
    config.id = i;
    config.grid = {i * 8, 1, 1};
    config.block = {256, 1, 1};
    config.registers = 32;
    put(config);
  }
}

void TraceMaker::write_text() {
  file_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  segment_written_ += text_.size();
  bytes_ += text_.size();
  text_.clear();
}

void TraceMaker::end_segment() {
  write_text();
  file_.close();
  if (!file_) throw std::runtime_error("cannot write into " + options_.out);
  ++segment_;
}

void TraceMaker::launch(const char* api, TimeNs took_ns, std::uint32_t path, std::uint64_t range) {
  ++correlation_;
  event("launch",
        LaunchRecord{{host_ns_, host_ns_ + took_ns, kThread, path, range}, api, correlation_, kContext, 0});
}

void TraceMaker::launch_kernel(std::uint32_t path, std::uint64_t range) {
  const std::uint64_t n = launched_++;
  launch(n % 4 == 0 ? "cuLaunchKernelEx" : "cuLaunchKernel", 2'500, path, range);
  KernelRecord kernel;
  kernel.work = {std::max(gpu_ns_, host_ns_ + 4'000), 0, 0, kContext, kStream, correlation_, path, range};
  kernel.work.end_ns = kernel.work.start_ns + 1'200 + static_cast<TimeNs>(spread(path * 64 + n % 8, 20'000));
  kernel.name = 1 + static_cast<std::uint32_t>(spread(path * 8 + n % 3, kKernelNames));
  kernel.config = 1 + static_cast<std::uint32_t>(spread(path + n % 5, kConfigs));
  gpu_ns_ = kernel.work.end_ns + 600;
  host_ns_ += 3'200;
  waiting_kernels_.push_back(kernel);
}

void TraceMaker::copy(bool to_device) {
  launch(to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", 3'000, 0, 0);
  MemcpyRecord copy;
  copy.work = {std::max(gpu_ns_, host_ns_ + 4'000), 0, 0, kContext, kStream, correlation_};
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
  for (const KernelRecord& kernel : waiting_kernels_) event("kernel", kernel);
  for (const MemcpyRecord& copy : waiting_copies_) event("memcpy", copy);
  waiting_kernels_.clear();
  waiting_copies_.clear();
  put(FlushRecord{host_ns_, events_, {}});
}

void TraceMaker::run_module(std::size_t index) {
  const Module& module = modules_[index];
  RangeRecord range;
  range.id = ++ranges_;
  range.start_ns = host_ns_;
  range.thread = kThread;
  range.path = module.path.id;
  host_ns_ += 800;
  for (const std::size_t child : module.children) run_module(child);
  // A leaf launches three kernels, any other module one.
  const int kernels = module.children.empty() ? 3 : 1;
  for (int i = 0; i < kernels && launched_ < options_.kernels; ++i) launch_kernel(module.path.id, range.id);
  host_ns_ += 700;
  range.end_ns = host_ns_;
  event("range", range);
}

void TraceMaker::iterate() {
  copy(true);
  run_module(0);
  copy(false);
  event("sync", SyncRecord{{host_ns_, std::max(host_ns_, gpu_ns_) + 5'000, kThread, 0, 0},
                           "cuStreamSynchronize",
                           kContext,
                           kStream,
                           0});
  host_ns_ = std::max(host_ns_, gpu_ns_) + 6'000;
}

void TraceMaker::end_trace() {
  flush_gpu_records();
  end_.at_ns = host_ns_;
  end_.reason = "exit";
  const std::uint64_t copies = correlation_ - launched_;
  end_.balance[static_cast<std::size_t>(WorkKind::kernel)] = {launched_, launched_, 0, 0};
  end_.balance[static_cast<std::size_t>(WorkKind::memcpy)] = {copies, copies, 0, 0};
  end_.own_cost.bytes_written = bytes_;
  put(FlushRecord{host_ns_, events_, {}});
  put(end_);
  end_segment();
}

void TraceMaker::make() {
  begin_segment();
  while (launched_ < options_.kernels) {
    iterate();
    if (waiting_kernels_.size() >= kBufferRecords) flush_gpu_records();
    if (segment_written_ < kSegmentBytes) continue;
    put(FlushRecord{host_ns_, events_, {}});
    end_segment();
    begin_segment();
  }
  end_trace();
}

}  // namespace rangefinder::bench
