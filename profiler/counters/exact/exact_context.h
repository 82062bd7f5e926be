// SPDX-License-Identifier: Apache-2.0
//
// Exact counters of one context: when a range opens, what it contains, when it closes.
//
//   launch, enter ─▶ close the previous range, unless this launch belongs to it
//                    ─▶ batch full? decode, restart ─▶ open a range
//           exit  ─▶ store the launch; close the range, or leave that to the next launch
//
// Opening or closing a range drains the GPU. In a context with one stream all work runs in
// order, so a range closes right after its launch. With several streams a kernel may wait for
// one that is launched later into another stream; a drain in between would hang the program.
// There a range is closed, and the next one opened, only after its work has ended
// (WorkInFlight), which costs 5 us more. If work does not end within kPatienceNs, we stop
// waiting: its range stays open and is discarded, its kernel never opens a range again, and
// the program runs unmeasured until that work has ended.
//
// All methods: under `lock`, which is held from a launch's enter to its exit.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/counters/exact/exact_batches.h"
#include "profiler/counters/exact/exact_session.h"
#include "profiler/counters/exact/metric_turns.h"
#include "profiler/counters/exact/work_in_flight.h"
#include "profiler/options/options.h"

namespace rangefinder {

class Recorder;

/// A launch, as known at the enter of its callback.
struct ExactEntry {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::uint32_t name = 0;  ///< kernel: NameTable id; else 0
  std::uint32_t path = 0;
  std::uint64_t range = 0;
  std::uint32_t thread = 0;
  std::int64_t now_ns = 0;
};

class ExactContext {
 public:
  static constexpr std::int64_t kPatienceNs = 3'000'000'000;
  /// For work that is known to wait for other work: do not delay the program any longer.
  static constexpr std::int64_t kShortPatienceNs = 50'000'000;
  /// A partial batch is decoded after this time, so that a killed program loses little.
  static constexpr std::int64_t kBatchNs = 2'000'000'000;
  /// Default ranges per batch. A larger batch makes a start slower (0.8 s; 0.25 s) but cheaper per range.
  /// When metric groups take turns, each change is a start.
  static constexpr std::uint32_t kBatch = 896, kBatchInTurns = 128;

  ExactContext(const CuptiLibrary& library, CUcontext context, std::uint32_t gpu, const Options& options,
               ExactBatches& batches, Recorder& recorder);

  std::timed_mutex lock;
  std::atomic<std::thread::id> owner{};   ///< thread that holds `lock` during a launch
  std::atomic<CUcontext> context;         ///< nullptr once destroyed
  std::atomic<bool> disturbed{false};     ///< a launch ran without `lock` while a range was open
  std::atomic<bool> many_streams{false};  ///< the context has more than its default stream
  const std::uint32_t gpu;

  /// Opens a range for the launch, or joins the open one. `config`: of this GPU.
  [[nodiscard]] CounterOutcome enter(const ExactEntry& entry, const CounterConfig& config);
  /// The launch has returned. Fills in the range's fields of `launch`. True: it shares a range, and the
  /// caller must deliver it now on its own.
  [[nodiscard]] bool leave(const ExactEntry& entry, ExactLaunch& launch, std::uint64_t next_number);
  /// A launch that gets no range. It must not be counted in another launch's range.
  void launch_without_range(const ExactEntry& entry, bool may_wait);
  /// Closes the open range if its work ends.
  void finish_range();
  /// The stream is about to be destroyed. `may_query`: the driver may be queried for its state.
  void end_stream(CUstream stream, bool may_query);
  /// Hands the batch so far to the drain thread; releases the hardware if `disable`. False: the GPU did not
  /// finish its work within `patience_ns`, and nothing changed.
  bool end_batch(std::int64_t patience_ns, bool disable);

  /// After a failure: delivers the batch without values, and releases the hardware unless that would wait
  /// for work that does not end.
  void give_up();

  [[nodiscard]] const ExactSession& session() const noexcept { return session_; }
  [[nodiscard]] bool running() const noexcept { return session_.state() == ExactSession::State::running; }
  [[nodiscard]] bool batch_due(std::int64_t now_ns) const noexcept;
  /// Time of the last measured launch.
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
  /// A kernel that we stopped waiting for since the last call; 0: none.
  [[nodiscard]] std::uint32_t take_waiter() noexcept;

 private:
  [[nodiscard]] bool may_drain(std::int64_t patience_ns) noexcept;
  [[nodiscard]] bool wait_for_gpu(std::int64_t patience_ns) noexcept;
  [[nodiscard]] bool close_range(std::int64_t patience_ns);
  [[nodiscard]] bool joins_open_range(const ExactEntry& entry) const noexcept;
  void record_waiter(bool waited) noexcept;
  /// `turn`: the batch ends now, so that another group has its turn.
  [[nodiscard]] CounterOutcome restart(const ExactEntry& entry, const CounterConfig& config, bool turn);

  const ExactAt at_;
  std::uint32_t batch_size_;  // 0: not decided yet
  ExactBatches& batches_;
  Recorder& recorder_;
  ExactSession session_;
  WorkInFlight in_flight_;
  std::vector<ExactLaunch> ranges_;  // of this batch; the last one may be open
  bool open_ = false;
  bool stuck_ = false;  // the open range contains work that does not end
  CUstream open_stream_ = nullptr;
  std::size_t group_ = 0;
  std::int64_t batch_began_ns_ = 0, last_ns_ = 0;
  std::uint32_t waiter_ = 0;
  bool skip_waits_ = false;      // a wait timed out: no more waits until the GPU has been idle
  bool must_not_drain_ = false;  // more streams have work than we can track
  MetricTurns turns_;
};

}  // namespace rangefinder
