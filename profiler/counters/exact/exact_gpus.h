// SPDX-License-Identifier: Apache-2.0
//
// State that the contexts of a GPU share: its counters, which one context holds at a time,
// and the configuration of its metrics.
//
//   first context ─▶ build(), on its own thread, once per GPU ─▶ CounterConfig
//   launch ─▶ wait_for() ─▶ take_turn() ─▶ the context may start its counters
//
// No launch waits for a turn: if its context does not hold the counters, it runs
// unmeasured. Any thread, unless stated otherwise.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "profiler/counters/exact/counter_config.h"
#include "profiler/counters/exact/exact_context.h"
#include "profiler/cupti/loader.h"
#include "schema/loss.h"

namespace rangefinder {

class ExactGpus {
 public:
  static constexpr std::size_t kMaxGpus = 64;
  /// Minimum time that a context holds the counters while another context of its GPU wants them.
  /// Handing them over takes 0.9 s.
  static constexpr std::int64_t kTurnNs = 5'000'000'000;
  /// Building takes 0.1 to 0.5 s. It cannot finish while the waiting thread holds the loader's lock.
  static constexpr std::chrono::milliseconds kConfigPatience{1250};

  /// From a building thread, once per GPU: the counter library has registered its exit handlers. Those
  /// registered from now on run before them.
  struct Prepared {
    void* user = nullptr;
    void (*call)(void* user) = nullptr;
  };

  /// `request`: Options::metrics.
  ExactGpus(const CuptiLibrary& library, LossLedger& loss, std::string request, Prepared prepared)
      : library_(library), loss_(loss), request_(std::move(request)), prepared_(prepared) {}

  /// Builds the configuration of `gpu` on a new thread, unless that has started already.
  /// `context`: any context on it.
  void start_building(std::uint32_t gpu, CUcontext context) noexcept;
  /// The configuration; waits up to kConfigPatience while one is being built. nullptr: not ready in time, or
  /// out of memory. After one timeout no thread waits again.
  [[nodiscard]] CounterConfig* wait_for(std::uint32_t gpu) noexcept;
  /// The configuration if it is ready, else nullptr.
  [[nodiscard]] CounterConfig* config(std::uint32_t gpu) noexcept;
  /// Building threads end after their current call of CUPTI. For the process's end: there is no way back.
  void cancel() noexcept { cancelled_.store(true); }
  /// Waits until no thread is building. False: one still is after `patience`.
  bool wait_until_built(std::chrono::milliseconds patience) noexcept;

  /// Under the lock of `context`. True: it holds its GPU's counters. It may release them in this call if
  /// another context has waited long enough.
  [[nodiscard]] bool take_turn(ExactContext& context, std::int64_t now_ns);
  void give_up_turn(ExactContext& context) noexcept;

 private:
  struct Gpu {
    std::unique_ptr<CounterConfig> config;          // written by the building thread before `ready`
    std::atomic<CUcontext> build_context{nullptr};  // a context on it, used to build the configuration
    std::atomic<bool> ready{false};                 // config is complete or has an error
    std::atomic<ExactContext*> holder{nullptr};     // context that holds the counters
    std::atomic<bool> wanted{false};                // by another context
    std::atomic<std::int64_t> turn_began_ns{0};
  };
  void build(std::uint32_t gpu) noexcept;

  const CuptiLibrary& library_;
  LossLedger& loss_;
  const std::string request_;
  const Prepared prepared_;
  std::atomic<bool> cancelled_{false};
  std::array<Gpu, kMaxGpus> gpus_;
  std::mutex ready_mutex_;
  std::condition_variable ready_changed_;
  std::uint32_t building_ = 0;  // building threads; guarded by ready_mutex_
  bool timed_out_ = false;      // guarded by ready_mutex_
};

}  // namespace rangefinder
