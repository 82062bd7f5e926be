// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/trace_maker.h"

#include <algorithm>
#include <utility>

#include "tests/bench/made_names.h"

namespace rangefinder::bench {
namespace {

constexpr std::size_t kBufferRecords = 8'192;  // GPU records arrive in whole buffers
constexpr std::uint32_t kFanOut = 5;
constexpr std::uint32_t kFirstGraph = 2;  // CUPTI gives 1 to the captured graph itself
constexpr TimeNs kToGpuNs = 4'000;        // from the launch to the start on an idle GPU
constexpr TimeNs kReadCountersNs = 3'000;
// With samples the host works this long between two iterations: samples in which the GPU is idle.
constexpr TimeNs kIdleNs = 130'000;

}  // namespace

TraceMaker::TraceMaker(TraceMakerOptions options) : options_(std::move(options)), out_(options_.out) {
  plan();
  if (options_.graphs) plan_graphs();
  if (options_.exact || options_.ranges) exact_.emplace(options_.ranges);
  if (options_.sampled) {
    sampler_.emplace([this](const SamplesRecord& samples) { out_.event("samples", samples); });
  }
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

/// Every second child of the model; the model itself if it has none.
void TraceMaker::plan_graphs() {
  const std::vector<std::size_t>& children = modules_[0].children;
  if (children.empty()) modules_[0].graph = Graph{kFirstGraph, {}};
  for (std::size_t i = 0; i < children.size(); i += 2) {
    modules_[children[i]].graph = Graph{kFirstGraph + static_cast<std::uint32_t>(i / 2), {}};
  }
}

/// A leaf launches three kernels, any other module one, after those of its children.
std::uint64_t TraceMaker::kernels_of(const Module& module) const {
  if (module.children.empty()) return 3;
  std::uint64_t kernels = 1;
  for (const std::size_t child : module.children) kernels += kernels_of(modules_[child]);
  return kernels;
}

void TraceMaker::begin_segment() {
  const std::uint32_t segment = out_.open();
  out_.put(made_header(segment, sampler_ ? "sampled" : exact_ ? "exact" : "off"));
  out_.put(made_gpu());
  out_.put(ContextRecord{kMadeContext, 0, kMadeStream, false});
  out_.put(ThreadRecord{kMadeThread, "model"});
  for (const Module& module : modules_) out_.put(module.path);
  for (std::uint32_t i = 1; i <= kMadeKernelNames; ++i) out_.put(made_kernel_name(i));
  for (std::uint32_t i = 1; i <= kMadeConfigs; ++i) out_.put(made_config(i));
  if (sampler_) out_.put(MadeSampler::started());
}

/// The line of a launch and its host time; of an exact one until the counters of `work` are read. Returns its
/// end.
TimeNs TraceMaker::launch(const char* api, TimeNs took_ns, std::uint32_t path, std::uint64_t range,
                          const MadeWork& work) {
  ++launches_[static_cast<std::size_t>(work.kind)];
  LaunchRecord launch{
      {host_ns_, host_ns_ + took_ns, kMadeThread, path, range}, api, correlation_, kMadeContext, 0};
  if (!exact_) {
    out_.event("launch", launch);
    return launch.host.end_ns;
  }
  if (!exact_->shares(range))
    launch.host.end_ns = std::max(launch.host.end_ns, work.end_ns + kReadCountersNs);
  out_.event("exact", exact_->launch(launch, work));
  return launch.host.end_ns;
}

/// A counter range waits for its work before the NVTX range ends.
void TraceMaker::end_counter_range() {
  if (!exact_ || capturing_ != nullptr) return;
  const std::optional<ExactRecord> exact = exact_->end_range();
  if (!exact) return;
  out_.event("exact", *exact);
  host_ns_ = std::max(host_ns_, gpu_ns_ + kReadCountersNs);
}

KernelRecord TraceMaker::kernel_at(TimeNs start_ns, const Graph::Node& node) {
  KernelRecord kernel;
  kernel.work = {start_ns,  start_ns + node.took_ns, 0, kMadeContext, kMadeStream, correlation_, node.path,
                 node.range};
  kernel.name = node.name;
  kernel.config = node.config;
  return kernel;
}

/// Its record, and its bytes if something counts them.
MadeBytes TraceMaker::run(const KernelRecord& kernel) {
  waiting_kernels_.push_back(kernel);
  ++kernels_;
  if (!counts_bytes()) return {};
  const GpuWork& work = kernel.work;
  const MadeBytes bytes = counters_.kernel(work.path, kernel.name, work.end_ns - work.start_ns);
  if (sampler_) sampler_->add_kernel(work, bytes);
  return bytes;
}

void TraceMaker::launch_kernel(std::uint32_t path, std::uint64_t range) {
  const std::uint64_t n = capturing_ != nullptr ? capturing_->nodes.size() : kernels_;
  const char* const api = n % 4 == 0 ? "cuLaunchKernelEx" : "cuLaunchKernel";
  const Graph::Node node{path, 1 + static_cast<std::uint32_t>(spread(path * 8 + n % 3, kMadeKernelNames)),
                         1 + static_cast<std::uint32_t>(spread(path + n % 5, kMadeConfigs)), range,
                         1'200 + static_cast<TimeNs>(spread(path * 64 + n % 8, 20'000))};
  ++correlation_;
  if (capturing_ != nullptr) {
    capturing_->nodes.push_back(node);
    out_.event(
        "launch",
        LaunchRecord{
            {host_ns_, host_ns_ + 2'500, kMadeThread, path, range}, api, correlation_, kMadeContext, 0});
    host_ns_ += 3'200;
    return;
  }
  const KernelRecord kernel = kernel_at(std::max(gpu_ns_, host_ns_ + kToGpuNs), node);
  const MadeWork work{.kind = WorkKind::kernel,
                      .name = kernel.name,
                      .config = kernel.config,
                      .start_ns = kernel.work.start_ns,
                      .end_ns = kernel.work.end_ns,
                      .moved = run(kernel)};
  host_ns_ = std::max(host_ns_ + 3'200, launch(api, 2'500, path, range, work));
  gpu_ns_ = kernel.work.end_ns + 600;
}

/// The module's first call: its launches become nodes, and nothing runs.
void TraceMaker::capture(Module& module, std::uint64_t range) {
  const auto put = [&](CaptureStep step) {
    CaptureRecord capture;
    capture.host = {host_ns_, host_ns_ + 1'500, kMadeThread, module.path.id, range};
    capture.step = step;
    capture.stream = kMadeStream;
    capture.context = kMadeContext;
    if (step == CaptureStep::end) capture.graph = 0x5500'0000'1000 + 0x100 * module.graph->id;
    out_.event("capture", capture);
    host_ns_ += 2'000;
  };
  put(CaptureStep::begin);
  capturing_ = &*module.graph;
  run_content(module, range);
  capturing_ = nullptr;
  put(CaptureStep::end);
  host_ns_ += 200'000;  // cuGraphInstantiate
}

void TraceMaker::launch_graph(const Module& module, std::uint64_t range) {
  const Graph& graph = *module.graph;
  ++correlation_;
  MadeWork work{.kind = WorkKind::graph, .bytes_path = module.path.id};
  std::uint64_t number = 0;
  gpu_ns_ = std::max(gpu_ns_, host_ns_ + kToGpuNs);
  work.start_ns = gpu_ns_;
  for (const Graph::Node& node : graph.nodes) {
    KernelRecord kernel = kernel_at(gpu_ns_, node);
    kernel.work.graph = graph.id;
    kernel.work.graph_node = node_id(graph.id, number++);
    kernel.work.captured = true;
    const MadeBytes bytes = run(kernel);
    for (std::size_t c = 0; c < kSharedColumns; ++c) work.moved[c] += bytes[c];
    work.end_ns = kernel.work.end_ns;
    gpu_ns_ = work.end_ns + 400;
  }
  host_ns_ = std::max(host_ns_ + 9'000, launch("cuGraphLaunch", 8'000, module.path.id, range, work));
}

void TraceMaker::copy(bool to_device) {
  ++correlation_;
  MemcpyRecord copy;
  copy.work = {std::max(gpu_ns_, host_ns_ + kToGpuNs), 0, 0, kMadeContext, kMadeStream, correlation_};
  copy.bytes = to_device ? 4'915'200 : 96'000;
  copy.work.end_ns = copy.work.start_ns + static_cast<TimeNs>(copy.bytes / 50) + 1'000;
  copy.kind = to_device ? CopyKind::HtoD : CopyKind::DtoH;
  copy.source = to_device ? MemoryKind::pinned : MemoryKind::device;
  copy.destination = to_device ? MemoryKind::device : MemoryKind::pinned;
  copy.async = true;
  waiting_copies_.push_back(copy);
  const MadeWork work{.kind = WorkKind::memcpy,
                      .bytes = copy.bytes,
                      .start_ns = copy.work.start_ns,
                      .end_ns = copy.work.end_ns,
                      .moved = counters_.copy(copy.bytes, to_device)};
  if (sampler_) sampler_->add_copy(copy, work.moved);
  const char* const api = to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
  host_ns_ = std::max(host_ns_ + 3'500, launch(api, 3'000, 0, 0, work));
  gpu_ns_ = copy.work.end_ns + 600;
}

/// Records of a stream are in the order of its work, by which readers tell that work waits (stream_order.h).
/// Not without any option: a trace of kernels keeps its bytes, which measured numbers are of.
void TraceMaker::flush_gpu_records() {
  const bool ordered = options_.graphs || sampler_ || exact_;
  auto copy = waiting_copies_.begin();
  for (const KernelRecord& kernel : waiting_kernels_) {
    for (; ordered && copy != waiting_copies_.end() && copy->work.start_ns < kernel.work.start_ns; ++copy) {
      out_.event("memcpy", *copy);
    }
    out_.event("kernel", kernel);
  }
  for (; copy != waiting_copies_.end(); ++copy) out_.event("memcpy", *copy);
  waiting_kernels_.clear();
  waiting_copies_.clear();
  out_.flush(host_ns_);
}

void TraceMaker::run_content(const Module& module, std::uint64_t range) {
  for (const std::size_t child : module.children) run_module(child);
  const int kernels = module.children.empty() ? 3 : 1;
  for (int i = 0; i < kernels && (capturing_ != nullptr || kernels_ < options_.kernels); ++i) {
    launch_kernel(module.path.id, range);
  }
}

void TraceMaker::run_module(std::size_t index) {
  Module& module = modules_[index];
  RangeRecord range;
  range.id = ++ranges_;
  range.start_ns = host_ns_;
  range.thread = kMadeThread;
  range.path = module.path.id;
  host_ns_ += 800;
  // A graph launches all of its kernels: the last ones of the trace may be too few for it.
  if (module.graph && kernels_ + kernels_of(module) <= options_.kernels) {
    if (module.graph->nodes.empty()) capture(module, range.id);
    launch_graph(module, range.id);
  } else {
    run_content(module, range.id);
  }
  end_counter_range();
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
  if (sampler_) host_ns_ += kIdleNs;
}

void TraceMaker::end_trace() {
  flush_gpu_records();
  EndRecord end;
  if (sampler_) {
    sampler_->finish(host_ns_);
    out_.put(MadeSampler::stopped(host_ns_));
    end.own_cost.samples = sampler_->samples();
  }
  end.at_ns = host_ns_;
  end.reason = "exit";
  for (std::size_t kind = 0; kind < launches_.size(); ++kind) {
    const std::uint64_t launched = launches_[kind];
    end.balance[kind] = {launched, exact_ ? 0 : launched, exact_ ? launched : 0, 0};
  }
  out_.flush(host_ns_);
  out_.finish(end);
  out_.close();
  if (options_.truth.empty()) return;
  std::vector<PathRecord> paths;
  for (const Module& module : modules_) paths.push_back(module.path);
  counters_.write_truth(options_.truth, paths);
}

void TraceMaker::make() {
  begin_segment();
  while (kernels_ < options_.kernels) {
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
