// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_gpus.h"

#include <chrono>
#include <new>
#include <string>

#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"

namespace rangefinder {

void ExactGpus::start_building(std::uint32_t gpu, CUcontext context) noexcept {
  struct Order {
    ExactGpus* gpus;
    std::uint32_t gpu;
  };
  CUcontext none = nullptr;
  if (!gpus_[gpu].build_context.compare_exchange_strong(none, context)) return;
  auto* const order = new (std::nothrow) Order{this, gpu};
  {
    const std::lock_guard guard(ready_mutex_);
    ++building_;
  }
  const auto run = [](void* self) {
    const std::unique_ptr<Order> own(static_cast<Order*>(self));
    own->gpus->build(own->gpu);
  };
  if (order != nullptr && start_own_thread("rangefinder-cfg", run, order)) return;
  delete order;
  build(gpu);  // no thread could be started: build on the application's
}

void ExactGpus::build(std::uint32_t gpu) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  try {
    auto config = std::make_unique<CounterConfig>(library_);
    if (!cancelled_ && config->open(gpus_[gpu].build_context.load(), gpu, &cancelled_)) {
      if (prepared_.call != nullptr) prepared_.call(prepared_.user);
      (void)config->build(request_, &cancelled_);
    }
    gpus_[gpu].config = std::move(config);
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    log_info("GPU " + std::to_string(gpu) + ": exact counters configured in " +
             std::to_string(passed.count()) + " ms");
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
  const std::lock_guard guard(ready_mutex_);
  --building_;
  if (gpus_[gpu].config) gpus_[gpu].ready.store(true, std::memory_order_release);
  ready_changed_.notify_all();
}

CounterConfig* ExactGpus::wait_for(std::uint32_t gpu) noexcept {
  if (CounterConfig* const ready = config(gpu); ready != nullptr) return ready;
  std::unique_lock wait(ready_mutex_);
  const auto is_over = [&] { return config(gpu) != nullptr || building_ == 0; };
  if (!timed_out_) timed_out_ = !ready_changed_.wait_for(wait, kConfigPatience, is_over);
  return config(gpu);
}

CounterConfig* ExactGpus::config(std::uint32_t gpu) noexcept {
  const bool ready = gpu < kMaxGpus && gpus_[gpu].ready.load(std::memory_order_acquire);
  return ready ? gpus_[gpu].config.get() : nullptr;
}

bool ExactGpus::wait_until_built(std::chrono::milliseconds patience) noexcept {
  std::unique_lock wait(ready_mutex_);
  return ready_changed_.wait_for(wait, patience, [this] { return building_ == 0; });
}

bool ExactGpus::take_turn(ExactContext& context, std::int64_t now_ns) {
  Gpu& gpu = gpus_[context.gpu];
  ExactContext* holder = nullptr;
  if (gpu.holder.compare_exchange_strong(holder, &context)) {
    gpu.turn_began_ns.store(now_ns, std::memory_order_relaxed);
    gpu.wanted.store(false, std::memory_order_relaxed);
    return true;
  }
  if (holder != &context) {
    // The holder's open range also counts this launch's bytes.
    holder->disturbed.store(true);
    gpu.wanted.store(true, std::memory_order_relaxed);
    return false;
  }
  if (!gpu.wanted.load(std::memory_order_relaxed) || !context.batch_due(now_ns) ||
      now_ns - gpu.turn_began_ns.load(std::memory_order_relaxed) < kTurnNs) {
    return true;
  }
  if (!context.end_batch(ExactContext::kPatienceNs, true)) return true;
  give_up_turn(context);
  return false;
}

void ExactGpus::give_up_turn(ExactContext& context) noexcept {
  ExactContext* holder = &context;
  gpus_[context.gpu].holder.compare_exchange_strong(holder, nullptr);
}

}  // namespace rangefinder
