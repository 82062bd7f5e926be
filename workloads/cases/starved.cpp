// SPDX-License-Identifier: Apache-2.0
//
// A GPU that waits for its data: threads "decode" images, and each step needs a batch of them.
//
//   loaders (W)   ─[image]─[image]─[image]─ …   C ms of CPU an image ─▶ queue of one batch
//   main          iteration ─ { load: take B images;  copy;  step: a kernel of G ms }   two in flight
//
// While the GPU works on a batch the loaders make the next one, so the GPU is busy for
// min(1, G·W / (C·B)) of the time: 6 % with one loader, half of it with 8, all of it with 16, at the
// default C = 6 ms, B = 8, G = 3 ms. With --workers 0 the main thread decodes, and it is G / (C·B + G).
//
// What a profiler must find: the GPU idle in iteration/load for the rest of the time. Decoding lasts a given
// CPU time of its thread, so with fewer free cores than loaders the GPU waits longer.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::cases {
namespace {

using probe::check;

struct Options {
  unsigned workers = 8, batch = 8, steps = 60;
  double image_ms = 6, step_ms = 3;
  std::string copy = "none";  // none, pageable, pinned
};
constexpr std::size_t kImageBytes = std::size_t{640} * 640 * 3 * sizeof(float);

std::int64_t cpu_ns_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void decode_image(double image_ms) {
  const std::int64_t end = cpu_ns_of_thread() + static_cast<std::int64_t>(image_ms * 1e6);
  while (cpu_ns_of_thread() < end) {
  }
}

/// Counts the images that are ready, at most `most`. Any thread.
class Queue {
 public:
  explicit Queue(unsigned most) : most_(most) {}

  /// Returns false when the consumer has closed the queue.
  bool put() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ < most_ || closed_; });
    if (!closed_) ++ready_;
    changed_.notify_all();
    return !closed_;
  }
  void take(unsigned count) {
    for (unsigned taken = 0; taken < count; ++taken) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ready_ != 0; });
      --ready_;
      changed_.notify_all();
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const unsigned most_;
  unsigned ready_ = 0;   // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
};

struct Batch {
  void *host = nullptr, *device = nullptr;
  std::size_t bytes = 0;
};

Batch allocate(const Options& options) {
  Batch out;
  if (options.copy == "none") return out;
  out.bytes = kImageBytes * options.batch;
  check(cudaMalloc(&out.device, out.bytes), "cudaMalloc");
  if (options.copy == "pinned") {
    check(cudaMallocHost(&out.host, out.bytes), "cudaMallocHost");
  } else {
    out.host = ::operator new(out.bytes);
  }
  std::fill_n(static_cast<char*>(out.host), out.bytes, char{1});
  return out;
}

double expected_busy(const Options& options) {
  const double load_ms = options.image_ms * options.batch;
  if (options.workers == 0) return options.step_ms / (load_ms + options.step_ms);
  return std::min(1.0, options.step_ms * options.workers / load_ms);
}

void run_steps(const Options& options, const Batch& batch, Queue& queue) {
  cudaStream_t stream = nullptr;
  cudaEvent_t done[2] = {nullptr, nullptr};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  for (cudaEvent_t& event : done)
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  for (unsigned step = 0; step < options.steps; ++step) {
    const probe::Range iteration("iteration");
    {
      const probe::Range load("load");
      if (options.workers == 0) {
        for (unsigned image = 0; image < options.batch; ++image) decode_image(options.image_ms);
      } else {
        queue.take(options.batch);
      }
    }
    if (batch.bytes != 0) {
      const probe::Range copy("copy");
      check(cudaMemcpyAsync(batch.device, batch.host, batch.bytes, cudaMemcpyHostToDevice, stream), "copy");
    }
    const probe::Range compute("step");
    check(probe::launch_spin(static_cast<std::uint64_t>(options.step_ms * 1e6), stream), "step");
    check(cudaEventRecord(done[step % 2], stream), "cudaEventRecord");
    // At most two steps in flight; none without loaders, as in a naive program.
    if (options.workers == 0) check(cudaStreamSynchronize(stream), "step");
    if (step > 0) check(cudaEventSynchronize(done[(step + 1) % 2]), "step before");
  }
  check(cudaStreamSynchronize(stream), "steps");
}

int run(const Options& options) {
  probe::require_gpu();
  const Batch batch = allocate(options);
  Queue queue(options.batch);
  std::vector<std::thread> loaders;
  for (unsigned i = 0; i < options.workers; ++i) {
    loaders.emplace_back([&queue, &options] {
      do {
        decode_image(options.image_ms);
      } while (queue.put());
    });
  }
  run_steps(options, batch, queue);
  queue.close();
  for (std::thread& loader : loaders) loader.join();
  probe::print(probe::Object()
                   .add("case", "starved")
                   .add("path", "iteration/load")
                   .add("workers", options.workers)
                   .add("steps", options.steps)
                   .add("image_ms", options.image_ms)
                   .add("step_ms", options.step_ms)
                   .add("copy", options.copy)
                   .add("cores", std::thread::hardware_concurrency())
                   .add("expected_idle", 1 - expected_busy(options)));
  return 0;
}

}  // namespace
}  // namespace rangefinder::cases

int main(int argc, char** argv) {
  rangefinder::cases::Options options;
  rangefinder::Arguments arguments("A GPU that waits for CPU loaders");
  arguments.number("--workers", options.workers, "Loader threads; 0: the main thread loads", 0u, 256u);
  arguments.number("--batch", options.batch, "Images per step", 1u, 1024u);
  arguments.number("--steps", options.steps, "Steps", 3u, 100'000u);
  arguments.number("--image-ms", options.image_ms, "CPU time per image, ms", 0.01, 1'000.0);
  arguments.number("--step-ms", options.step_ms, "GPU time per step, ms", 0.01, 1'000.0);
  arguments.choice("--copy", options.copy, "Memory of the batch to copy before each step",
                   {"none", "pageable", "pinned"});
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::cases::run(options);
}
