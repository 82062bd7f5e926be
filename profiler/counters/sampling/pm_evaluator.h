// SPDX-License-Identifier: Apache-2.0
//
// A thread that evaluates decoded images while the sampling thread decodes into another one.
//
//   sampling thread: decode ─▶ image ─▶ exchange() ─▶ decode ─▶ the other image …
//                                          ▼
//   this thread:                    work(image): evaluate, encode, deliver, empty it
//
// Decoding and evaluating one sample after the other takes 13 to 20 us on an H200's host, which is all
// that samples every 20 us leave (docs/measured.md). One image is with each side, so nothing waits in a
// queue: where evaluation falls behind, the sampling thread goes on with the image it has.
// Where no thread can be made, exchange() evaluates by itself.
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
  /// `work`: leaves the image empty; must not throw. `spare`: an empty image, which outlives this.
  PmEvaluator(PmImage& spare, std::function<void(PmImage&)> work);
  /// Waits until the last image is evaluated and the thread has ended.
  ~PmEvaluator();
  PmEvaluator(const PmEvaluator&) = delete;
  PmEvaluator& operator=(const PmEvaluator&) = delete;

  /// Gives `image` to be evaluated and puts the empty one in its place. False: the last one is not done.
  [[nodiscard]] bool exchange(PmImage*& image);
  /// Returns when nothing is being evaluated.
  void wait_until_idle();

  /// CPU time of the thread, so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  void run();

  const std::function<void(PmImage&)> work_;
  std::atomic<std::uint64_t> cpu_ns_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  PmImage* spare_;  // empty, or being evaluated
  bool has_thread_ = false, busy_ = false, ending_ = false;
};

}  // namespace rangefinder
