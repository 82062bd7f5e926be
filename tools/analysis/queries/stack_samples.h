// SPDX-License-Identifier: Apache-2.0
//
// Samples of the stacks of host threads over time, and the times to which they are matched.
//
//   stack_sample lines ─▶ StackSamples   by thread, in order of time
//   idle host code     ─▶ ThreadSpans    by thread
//   both               ─▶ each_sample_in(samples, spans, see)
//
// A sample belongs to a time if it was read in it, and stands for its interval. Samples outside of the times
// in question do not count there. A thread without samples runs no Python: for what it does, as PyTorch's
// backward passes, the main thread waits, and its samples name the call. Memory: 16 bytes per sample, 4 to 6
// bytes per span. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "schema/stack_record.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/stack_names.h"
#include "tools/analysis/queries/gap_list.h"

namespace rangefinder {

/// A sample of a known thread.
struct StackMoment {
  TimeNs at_ns = 0;
  std::uint32_t stack = 0;
  std::uint32_t interval_ns = 0;  ///< for which it stands
};

class StackSamples {
 public:
  /// Those that --window and --iterations select.
  void add(const SelectedRows& rows);
  /// After the last chunk, before the samples are read.
  void finish();
  [[nodiscard]] bool empty() const noexcept { return threads_.empty(); }
  /// By thread, in order of time.
  [[nodiscard]] const std::map<std::uint32_t, std::vector<StackMoment>>& threads() const noexcept {
    return threads_;
  }
  /// Of a thread, or of the main thread if that one has none; empty: neither has.
  [[nodiscard]] const std::vector<StackMoment>& of(std::uint32_t thread) const;
  /// see(StackMoment), of() a thread in [from, to).
  template <typename See>
  void each(std::uint32_t thread, TimeNs from, TimeNs to, See&& see) const {
    const std::vector<StackMoment>& all = of(thread);
    auto at = std::lower_bound(all.begin(), all.end(), from, is_before);
    for (; at != all.end() && at->at_ns < to; ++at) see(*at);
  }

 private:
  static bool is_before(const StackMoment& moment, TimeNs time) noexcept { return moment.at_ns < time; }

  std::map<std::uint32_t, std::vector<StackMoment>> threads_;
  std::uint32_t main_thread_ = 0;
};

/// Spans of time of each thread.
class ThreadSpans {
 public:
  /// In order of their ends for each thread; what overlaps an earlier span counts once.
  void add(std::uint32_t thread, TimeNs from, TimeNs to);
  /// Adds those of `later`, which is empty then.
  void take(ThreadSpans& later);
  void clear() { threads_.clear(); }

  /// see(thread, GapList)
  template <typename See>
  void each(See&& see) const {
    for (const auto& [thread, spans] : threads_) see(thread, spans.list);
  }

 private:
  struct Spans {
    GapList list;
    TimeNs end_ns = INT64_MIN;
  };
  std::map<std::uint32_t, Spans> threads_;
};

/// see(thread, StackMoment) for the samples of() threads in their spans, in order of time for each thread.
template <typename See>
void each_sample_in(const StackSamples& samples, const ThreadSpans& spans, See&& see) {
  spans.each([&](std::uint32_t thread, const GapList& list) {
    GapSearch search(list);
    for (const StackMoment& moment : samples.of(thread)) {
      if (search.overlaps(moment.at_ns, moment.at_ns + 1)) see(thread, moment);
    }
  });
}

}  // namespace rangefinder
