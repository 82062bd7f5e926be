// SPDX-License-Identifier: Apache-2.0
//
// Capture of a pass into a graph, with branches beside the main stream, and timing of launches.
#include <algorithm>

#include "workloads/rtdetr/gpu_backend.h"
#include "workloads/rtdetr/gpu_backend_state.h"

namespace rangefinder::rtdetr {
namespace {

/// A run of any length takes no more events than this many passes need.
constexpr int kTimedAtOnce = 1'024;

/// Events around each of several pieces of work; gone with the object.
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
  /// From event `at` to the next one, waited for if it is still to come.
  float milliseconds_from(int at) const {
    float elapsed = 0;
    const auto first = static_cast<std::size_t>(at);
    cudaError_t status = cudaEventElapsedTime(&elapsed, events_[first], events_[first + 1]);
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // else the next launch would have it
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

BranchPoint GpuBackend::branch_point() {
  if (!state_->is_capturing) return {};
  const int number = static_cast<int>(state_->points_used);
  state_->record_point(state_->main_stream);
  return {number};
}

void GpuBackend::begin_branch(BranchPoint point) {
  state_->is_branch = true;
  if (!state_->is_capturing) return;
  if (point.number < 0) throw std::logic_error("a branch begins at no point of this capture");
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
