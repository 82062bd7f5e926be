// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/gpu_backend.h"

#include <algorithm>
#include <cstddef>

#include "workloads/rtdetr/gpu_backend_state.h"

namespace rangefinder::rtdetr {
namespace {

constexpr std::size_t kSlabBytes = std::size_t{32} << 20;  // small allocations share one of these
constexpr int kMinComputeCapability = 8;
constexpr std::size_t kBranchPoints = 128;  // branch points and joins per pass: R101 has 24

/// Limits the events of a long run: this many passes are timed at once.
constexpr int kTimedAtOnce = 1'024;

/// A pair of events around each piece of work; owns them.
class Events {
 public:
  explicit Events(int count) : events_(static_cast<std::size_t>(count)) {
    for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "cudaEventCreate");
  }
  ~Events() {
    for (const cudaEvent_t event : events_)
      if (event != nullptr) cudaEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void record(int at, cudaStream_t stream) {
    check(cudaEventRecord(events_[static_cast<std::size_t>(at)], stream), "cudaEventRecord");
  }
  /// Time from event `at` to the next one; waits for that one if necessary.
  float milliseconds_from(int at) const {
    float elapsed = 0;
    const auto first = static_cast<std::size_t>(at);
    cudaError_t status = cudaEventElapsedTime(&elapsed, events_[first], events_[first + 1]);
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // otherwise the next launch returns it
      check(cudaEventSynchronize(events_[first + 1]), "cudaEventSynchronize");
      status = cudaEventElapsedTime(&elapsed, events_[first], events_[first + 1]);
    }
    check(status, "cudaEventElapsedTime");
    return elapsed;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

}  // namespace

bool gpu_is_usable(std::string& why) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    why = cudaGetErrorString(status);
    return false;
  }
  int major = 0;
  if (devices == 0 || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess) {
    why = "no CUDA device";
    return false;
  }
  if (major < kMinComputeCapability) {
    why = "compute capability " + std::to_string(major) + ".x; 8.0 or more is needed";
    return false;
  }
  return true;
}

GpuBackend::GpuBackend() : state_(std::make_unique<State>()) {
  for (cudaStream_t* const stream : {&state_->main_stream, &state_->branch_stream})
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreate");
  state_->stream = state_->main_stream;
  state_->points.resize(kBranchPoints);
  for (cudaEvent_t& event : state_->points)
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
}

GpuBackend::~GpuBackend() {
  cudaStreamSynchronize(state_->stream);
  if (state_->graph != nullptr) cudaGraphExecDestroy(state_->graph);
  for (void* const block : state_->blocks) cudaFree(block);
  for (const cudaEvent_t event : state_->points) cudaEventDestroy(event);
  cudaStreamDestroy(state_->branch_stream);
  cudaStreamDestroy(state_->main_stream);
}

void GpuBackend::run(const kernels::ConvolutionArgs& args) {
  kernels::ConvolutionArgs with_workspace = args;
  state_->grow(state_->split_k(), kernels::convolution_workspace_bytes(args));
  with_workspace.workspace = state_->split_k();
  check(kernels::launch_convolution(with_workspace, state_->stream), "convolution");
}

void GpuBackend::run(const kernels::GemmArgs& args) {
  kernels::GemmArgs with_workspace = args;
  state_->grow(state_->split_k(), kernels::gemm_workspace_bytes(args));
  with_workspace.workspace = state_->split_k();
  check(kernels::launch_gemm(with_workspace, state_->stream), "gemm");
}

void GpuBackend::run(const kernels::StemArgs& args) {
  check(kernels::launch_stem(args, state_->stream), "stem");
}

void GpuBackend::run_max_pool(const kernels::PoolArgs& args) {
  check(kernels::launch_max_pool(args, state_->stream), "max pooling");
}

void GpuBackend::run_average_pool(const kernels::PoolArgs& args) {
  check(kernels::launch_average_pool(args, state_->stream), "average pooling");
}

void GpuBackend::run(const kernels::LayerNormArgs& args) {
  check(kernels::launch_layer_norm(args, state_->stream), "layer norm");
}

void GpuBackend::run(const kernels::AttentionArgs& args, AttentionMode mode) {
  if (mode == AttentionMode::flash) {
    check(kernels::launch_attention(args, state_->stream), "attention");
    return;
  }
  const std::size_t bytes = rounded_up(kernels::attention_scores_bytes(args));
  state_->grow(state_->intermediates, 2 * bytes);
  kernels::AttentionArgs unfused = args;
  unfused.scores = state_->intermediates.data;
  unfused.probabilities = static_cast<std::byte*>(state_->intermediates.data) + bytes;
  check(kernels::launch_attention_unfused(unfused, state_->stream), "unfused attention");
}

void GpuBackend::run(const kernels::DeformableAttentionArgs& args, DeformableMode mode) {
  if (mode == DeformableMode::fused) {
    check(kernels::launch_deformable_attention(args, state_->stream), "deformable attention");
    return;
  }
  state_->grow(state_->intermediates, kernels::deformable_attention_unfused_bytes(args));
  kernels::DeformableAttentionArgs unfused = args;
  unfused.workspace = state_->intermediates.data;
  check(kernels::launch_deformable_attention_unfused(unfused, state_->stream),
        "unfused deformable attention");
}

void GpuBackend::run(const kernels::TopKArgs& args) {
  state_->grow(state_->intermediates, kernels::top_k_workspace_bytes(args));
  kernels::TopKArgs with_workspace = args;
  with_workspace.workspace = state_->intermediates.data;
  check(kernels::launch_top_k(with_workspace, state_->stream), "top k");
}

void GpuBackend::run(const kernels::GatherArgs& args) {
  check(kernels::launch_gather(args, state_->stream), "gather");
}

void GpuBackend::run(const kernels::BoxRefinementArgs& args) {
  check(kernels::launch_box_refinement(args, state_->stream), "box refinement");
}

void GpuBackend::run(const kernels::PreprocessArgs& args) {
  state_->grow(state_->intermediates, kernels::preprocess_workspace_bytes(args));
  kernels::PreprocessArgs with_workspace = args;
  with_workspace.workspace = static_cast<std::uint8_t*>(state_->intermediates.data);
  check(kernels::launch_preprocess(with_workspace, state_->stream), "preprocessing");
}

void GpuBackend::run(const kernels::PostprocessArgs& args) {
  check(kernels::launch_postprocess(args, state_->stream), "postprocessing");
}

void* GpuBackend::allocate(std::size_t bytes) {
  const std::size_t rounded = rounded_up(bytes);
  if (rounded > kSlabBytes / 4) return state_->block(rounded);
  if (state_->slab == nullptr || state_->slab_used + rounded > kSlabBytes) {
    state_->slab = static_cast<std::byte*>(state_->block(kSlabBytes));
    state_->slab_used = 0;
  }
  void* const data = state_->slab + state_->slab_used;
  state_->slab_used += rounded;
  return data;
}

void GpuBackend::upload(const void* host, void* target, std::size_t bytes) {
  check(cudaMemcpyAsync(target, host, bytes, cudaMemcpyHostToDevice, state_->stream), "copy to the GPU");
  check(cudaStreamSynchronize(state_->stream), "copy to the GPU");
}

void GpuBackend::download(const void* source, void* host, std::size_t bytes) {
  check(cudaMemcpyAsync(host, source, bytes, cudaMemcpyDeviceToHost, state_->stream), "copy from the GPU");
  check(cudaStreamSynchronize(state_->stream), "copy from the GPU");
}

cudaStream_t GpuBackend::stream() const {
  return state_->stream;
}

BranchPoint GpuBackend::branch_point() {
  if (!state_->is_capturing) return {};
  const int number = static_cast<int>(state_->points_used);
  state_->record_point(state_->main_stream);
  return {number};
}

void GpuBackend::begin_branch(BranchPoint point) {
  state_->is_branch = true;
  if (!state_->is_capturing) return;
  if (point.number < 0) throw std::logic_error("a branch begins at a point outside this capture");
  check(cudaStreamWaitEvent(state_->branch_stream, state_->points[static_cast<std::size_t>(point.number)], 0),
        "cudaStreamWaitEvent");
  state_->stream = state_->branch_stream;
}

void GpuBackend::end_branch() {
  state_->is_branch = false;
  state_->stream = state_->main_stream;
}

void GpuBackend::join_branches() {
  if (!state_->is_capturing) return;
  const cudaEvent_t done = state_->record_point(state_->branch_stream);
  check(cudaStreamWaitEvent(state_->main_stream, done, 0), "cudaStreamWaitEvent");
}

void GpuBackend::begin_capture() {
  check(cudaStreamBeginCapture(state_->stream, cudaStreamCaptureModeGlobal), "begin of the capture");
  state_->is_capturing = true;
  state_->points_used = 0;
}

void GpuBackend::end_capture() {
  cudaGraph_t graph = nullptr;
  state_->is_capturing = false;
  check(cudaStreamEndCapture(state_->stream, &graph), "end of the capture");
  if (state_->graph != nullptr) cudaGraphExecDestroy(state_->graph);
  state_->graph = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&state_->graph, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
}

void GpuBackend::launch_graph() {
  check(cudaGraphLaunch(state_->graph, state_->stream), "cudaGraphLaunch");
}

void GpuBackend::synchronize() {
  check(cudaStreamSynchronize(state_->stream), "synchronisation");
}

std::vector<float> GpuBackend::time_each(int count, const std::function<void()>& work) {
  Events events(2 * std::min(count, kTimedAtOnce));
  std::vector<float> milliseconds;
  milliseconds.reserve(static_cast<std::size_t>(count));
  const auto take_time_of = [&](int pass) {
    milliseconds.push_back(events.milliseconds_from(2 * (pass % kTimedAtOnce)));
  };
  for (int i = 0; i < count; ++i) {
    if (i >= kTimedAtOnce) take_time_of(i - kTimedAtOnce);
    const int first = 2 * (i % kTimedAtOnce);
    events.record(first, state_->stream);
    work();
    events.record(first + 1, state_->stream);
  }
  synchronize();
  for (int i = std::max(0, count - kTimedAtOnce); i < count; ++i) take_time_of(i);
  return milliseconds;
}

}  // namespace rangefinder::rtdetr
