// SPDX-License-Identifier: Apache-2.0
//
// A thread that evaluates one decoded image while the sampling thread decodes into another.
//
//   sampling thread: decode ─▶ image ─▶ exchange() ─▶ decode ─▶ the other image …
//                                          ▼
//   this thread:                    work(image): evaluate, encode, deliver, empty it
//
// Decoding and evaluating a sample on one thread takes 13 to 20 us on an H200's host, too much for samples
// every 20 us (docs/internals/measured.md). Each side has one image, so there is no queue: if evaluation
// falls behind, the sampling thread continues with its image. If no thread can be created, exchange()
// evaluates itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "profiler/counters/sampling/pm_image.h"

namespace rangefinder {

class PmEvaluator {
 public:
  /// `work`: must leave the image empty and must not throw. `spare`: an empty image that outlives this.
  PmEvaluator(PmImage& spare, std::function<void(PmImage&)> work);
  /// Waits until the last image is evaluated and the thread has ended.
  ~PmEvaluator();
  PmEvaluator(const PmEvaluator&) = delete;
  PmEvaluator& operator=(const PmEvaluator&) = delete;

  /// Exchanges `image`, to be evaluated, for the empty one. False: the previous one is not done.
  [[nodiscard]] bool exchange(PmImage*& image);
  /// Waits until no image is being evaluated, then begins with this one, which stays the caller's and must
  /// outlive that.
  void evaluate(PmImage& image);
  [[nodiscard]] bool is_idle();
  /// Waits until no image is being evaluated.
  void wait_until_idle();

  /// CPU time of the thread so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  void run();

  const std::function<void(PmImage&)> work_;
  std::atomic<std::uint64_t> cpu_ns_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  PmImage* spare_;            // empty, or being evaluated
  PmImage* extra_ = nullptr;  // of evaluate(), while it is evaluated
  bool has_thread_ = false, busy_ = false, ending_ = false;
};

}  // namespace rangefinder
