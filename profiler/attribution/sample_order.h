// SPDX-License-Identifier: Apache-2.0
//
// Sorts samples and GPU work, which arrive late and out of order, by time.
//
//   add(work), add(samples) ─▶ pending, by GPU ─▶ advance(until) ─▶ SampleBatch: the samples that
//                                                 end by then, and all work that may overlap them
//
// Work is kept until no later sample can overlap it. Bounded memory: if a GPU has more than
// `max_pending` work items or samples, crowded_until() returns the time to advance to. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// Columns whose bytes are shared over work. The others have only totals.
enum SharedColumn : std::size_t { kSharedDramRead, kSharedDramWrite, kSharedL2, kSharedColumns };

/// The SampleColumn of each SharedColumn.
inline constexpr std::array<SampleColumn, kSharedColumns> kSharedSampleColumns{kSampleDramRead,
                                                                               kSampleDramWrite, kSampleL2};

struct OrderedSample {
  TimeNs start_ns = 0;
  std::uint32_t length_ns = 0;
  std::array<std::uint32_t, kSharedColumns> units{};  ///< of kSampleUnitBytes

  [[nodiscard]] TimeNs end_ns() const noexcept { return start_ns + length_ns; }
};

inline constexpr std::uint32_t kUnknownUnits = UINT32_MAX;

/// A kernel, copy or memset. The caller defines `path` and `kind`.
struct OrderedWork {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t path = 0;
  std::uint32_t kind = 0;
  /// DRAM units that it reads and writes: known, or at most that many (known_traffic.h).
  std::uint32_t read_units = kUnknownUnits, written_units = kUnknownUnits;
  bool at_most = false;

  [[nodiscard]] bool is_known() const noexcept { return !at_most && read_units != kUnknownUnits; }
};

/// Samples of one GPU by time, and all work that overlaps them within kSampleReachNs, by start.
struct SampleBatch {
  std::uint32_t gpu = 0;
  std::span<const OrderedSample> samples;
  std::span<const OrderedWork> work;
};
inline constexpr TimeNs kSampleReachNs = 10'000;
/// No sample is longer: work that ended this long before the settled time can be dropped.
inline constexpr TimeNs kLongestSampleNs = 20'000'000;

/// `time` - `ns` without overflow.
[[nodiscard]] constexpr TimeNs time_before(TimeNs time, TimeNs ns) noexcept {
  return time < INT64_MIN + ns ? INT64_MIN : time - ns;
}

class SampleOrder {
 public:
  using Sink = std::function<void(const SampleBatch&)>;

  explicit SampleOrder(std::size_t max_pending = std::size_t{1} << 18) : max_pending_(max_pending) {}

  /// Empty and reversed work has no effect. False: it came too late; samples that it may overlap are
  /// already settled.
  bool add(std::uint32_t gpu, const OrderedWork& work);
  void add(const SamplesRecord& record);

  /// Passes settled samples to `sink`. Spans are valid during the call.
  void advance(TimeNs until_ns, const Sink& sink);
  void finish(const Sink& sink) { advance(INT64_MAX, sink); }

  /// If too much is pending: the time to which advance() would settle half of it.
  [[nodiscard]] std::optional<TimeNs> crowded_until() const;

 private:
  struct Gpu {
    std::uint32_t id = 0;
    std::vector<OrderedSample> samples;  // by end, up to sorted_samples
    std::vector<OrderedWork> work;       // by start, up to sorted_work
    std::size_t sorted_samples = 0, sorted_work = 0;
    std::size_t done_work = 0;  // leading work items that no later sample can overlap
    TimeNs settled_ns = INT64_MIN;
  };
  Gpu& gpu_at(std::uint32_t id);
  void settle(Gpu& gpu, TimeNs until_ns, const Sink& sink) const;
  void drop_done_work(Gpu& gpu) const;

  std::size_t max_pending_;
  std::vector<Gpu> gpus_;
};

}  // namespace rangefinder
