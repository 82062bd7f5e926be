// SPDX-License-Identifier: Apache-2.0
//
// Exact counters of one context: when a range opens, what is in it, when it closes.
//
//   launch, enter ─▶ close the range before, if this launch is not to be in it
//                    ─▶ batch full? decode, start again ─▶ open a range
//           exit  ─▶ keep the launch; close the range, or leave that to the next launch
//
// Closing a range, like opening one, makes the GPU drain. Where a context has one stream,
// everything drains in order anyway and a range closes right after its launch. With several
// streams a kernel may wait for one that is launched later into another stream, and a drain
// in between would hang the program; so there a range is only closed, and the next opened,
// once its work has ended (WorkInFlight), which costs 5 us more. Work that does not end within
// kPatience gets its freedom: its range stays open and is thrown away, its kernel opens none
// any more, and the program goes on unmeasured until it has ended.
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
#include "profiler/counters/exact/work_in_flight.h"
#include "profiler/options/options.h"

namespace rangefinder {

/// A launch as its callback's enter sees it.
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
  /// For work that is known to wait for others: not worth holding up the program for longer.
  static constexpr std::int64_t kShortPatienceNs = 50'000'000;
  /// A batch that is not full is decoded after this time, so that a killed program loses little.
  static constexpr std::int64_t kBatchNs = 2'000'000'000;
  /// Ranges a batch where the user has no wish: what a start takes grows with it (0.8 s; 0.25 s), and what
  /// it costs a range falls. Where groups of metrics take turns, each change is a start.
  static constexpr std::uint32_t kBatch = 896, kBatchInTurns = 128;

  ExactContext(const CuptiLibrary& library, CUcontext context, std::uint32_t gpu, const Options& options,
               ExactBatches& batches);

  std::timed_mutex lock;
  std::atomic<std::thread::id> owner{};   ///< thread that holds `lock` over a launch
  std::atomic<CUcontext> context;         ///< nullptr once destroyed
  std::atomic<bool> disturbed{false};     ///< some launch went by without `lock` while a range was open
  std::atomic<bool> many_streams{false};  ///< the context has more than its default stream
  const std::uint32_t gpu;

  /// Opens a range for the launch, or finds it in the open one. `config`: of this GPU.
  [[nodiscard]] CounterOutcome enter(const ExactEntry& entry, const CounterConfig& config);
  /// The launch has returned. `launch` is completed with what is known of its range; true: it
  /// shares a range and is to be delivered now, by itself.
  [[nodiscard]] bool leave(const ExactEntry& entry, ExactLaunch& launch, std::uint64_t next_number);
  /// A launch that gets no range: it must not end up in that of another.
  void pass(const ExactEntry& entry, bool may_wait);
  /// The open range is closed, as far as its work ends.
  void finish_range();
  /// The stream is about to be destroyed. `may_ask`: the driver may be asked for the state of its work.
  void end_stream(CUstream stream, bool may_ask);
  /// What the batch holds so far goes to the drain thread; the hardware is given free if `disable`.
  /// False: the GPU has not done its work within `patience_ns`, and nothing was changed.
  bool end_batch(std::int64_t patience_ns, bool disable);

  /// Counters have failed: what the batch holds goes out without values, and the hardware is given free
  /// unless that would have to wait for work that does not end.
  void give_up();

  [[nodiscard]] const ExactSession& session() const noexcept { return session_; }
  [[nodiscard]] bool running() const noexcept { return session_.state() == ExactSession::State::running; }
  [[nodiscard]] bool batch_due(std::int64_t now_ns) const noexcept;
  /// When the last launch was measured.
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
  /// A kernel that had to be given its freedom since the last call; 0: none.
  [[nodiscard]] std::uint32_t take_waiter() noexcept;

 private:
  [[nodiscard]] bool may_drain(std::int64_t patience_ns) noexcept;
  [[nodiscard]] bool wait_for_gpu(std::int64_t patience_ns) noexcept;
  [[nodiscard]] bool close_range(std::int64_t patience_ns);
  [[nodiscard]] bool joins_open_range(const ExactEntry& entry) const noexcept;
  [[nodiscard]] std::size_t choose_group(const ExactEntry& entry, std::size_t groups);
  void count_range(std::uint32_t path);
  void name_waiter(bool waited) noexcept;

  const ExactAt at_;
  std::uint32_t batch_size_;  // 0: not known yet
  ExactBatches& batches_;
  ExactSession session_;
  WorkInFlight in_flight_;
  std::vector<ExactLaunch> ranges_;  // of this batch; the last one may be open
  bool open_ = false;
  bool stuck_ = false;  // the open range holds work that does not end
  CUstream open_stream_ = nullptr;
  std::size_t group_ = 0;
  std::int64_t batch_began_ns_ = 0, last_ns_ = 0;
  std::uint32_t waiter_ = 0;
  bool impatient_ = false;           // was kept waiting in vain; until everything has ended once, not again
  bool blind_ = false;               // more streams have work than we can follow: nothing may drain any more
  std::vector<std::uint32_t> seen_;  // ranges by path and group, for their turns; empty with one group
};

}  // namespace rangefinder
