// SPDX-License-Identifier: Apache-2.0
//
// What the contexts of a GPU share: its counters, which one of them has at a time, and the
// configuration of its metrics.
//
//   first context ─▶ build(), a thread of its own once a GPU ─▶ CounterConfig
//   launch ─▶ wait_for() ─▶ take_turn() ─▶ the context may start its counters
//
// Nobody is waited for to get a turn: a launch of a context that has none goes on
// unmeasured. Any thread, but for what says otherwise.
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
  /// A context that another one of its GPU waits for keeps the counters for so long at least:
  /// handing them over takes 0.9 s.
  static constexpr std::int64_t kTurnNs = 5'000'000'000;
  /// A configuration takes 0.1 to 0.5 s; none comes while the thread that waits has the loader's lock.
  static constexpr std::chrono::milliseconds kConfigPatience{1250};

  /// `request`: Options::metrics.
  ExactGpus(const CuptiLibrary& library, LossLedger& loss, std::string request)
      : library_(library), loss_(loss), request_(std::move(request)) {}

  /// Builds the configuration of `gpu` on a thread of its own, unless that was begun already.
  /// `context`: one on it.
  void start_building(std::uint32_t gpu, CUcontext context) noexcept;
  /// The configuration, waited for for a while, if one is being built; nullptr: it was not ready in time, or
  /// there was no memory for it. Who has waited in vain once is not to wait again, whoever comes.
  [[nodiscard]] CounterConfig* wait_for(std::uint32_t gpu) noexcept;
  /// The configuration if it is ready, else nullptr.
  [[nodiscard]] CounterConfig* config(std::uint32_t gpu) noexcept;
  /// No thread builds any more. False: one still does after `patience`.
  bool wait_until_built(std::chrono::milliseconds patience) noexcept;

  /// Under the lock of `context`: whether it has its GPU's counters, now or already. It may give
  /// them up in here, where another context has waited for long enough.
  [[nodiscard]] bool take_turn(ExactContext& context, std::int64_t now_ns);
  void give_up_turn(ExactContext& context) noexcept;

 private:
  struct Gpu {
    std::unique_ptr<CounterConfig> config;       // written by a thread of its own before `ready`
    std::atomic<CUcontext> asked{nullptr};       // a context of it, to build the configuration with
    std::atomic<bool> ready{false};              // config is complete, or has an error
    std::atomic<ExactContext*> holder{nullptr};  // whose turn it is
    std::atomic<bool> wanted{false};             // by a context that is not the holder
    std::atomic<std::int64_t> turn_began_ns{0};
  };
  void build(std::uint32_t gpu) noexcept;

  const CuptiLibrary& library_;
  LossLedger& loss_;
  const std::string request_;
  std::array<Gpu, kMaxGpus> gpus_;
  std::mutex ready_mutex_;
  std::condition_variable ready_changed_;
  std::uint32_t building_ = 0;   // threads that build a configuration; guarded by ready_mutex_
  bool waited_in_vain_ = false;  // guarded by ready_mutex_
};

}  // namespace rangefinder
