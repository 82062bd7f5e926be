// SPDX-License-Identifier: Apache-2.0
//
// The loss ledger: counts everything that happened and is not in the trace, by cause.
//
// The only list of causes. The counters inside the application, the "loss" object
// of trace and summary, `report --section loss`, `validate` and the table in
// README.md are made from it, so none of them can forget one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

// X(identifier, what one count means). Recorded runs store counts in this order: append new causes at the end.
#define RANGEFINDER_LOSS_CAUSES(X)                                                                      \
  X(activity_buffers_exhausted, "CUPTI requested a buffer while all were in use, and dropped records")  \
  X(cupti_dropped_records, "records that CUPTI reports as dropped (cuptiActivityGetNumDroppedRecords)") \
  X(records_corrupt, "activity records that could not be read")                                         \
  X(gpu_work_untimed, "kernels and copies that CUPTI delivered without start and end")                  \
  X(record_without_launch, "GPU records whose launch was not seen: they have no path")                  \
  X(launch_without_record, "launches whose GPU record never came")                                      \
  X(launch_slots_overwritten, "launches evicted from the join table before their record came")          \
  X(events_dropped, "host events dropped because the thread's ring was full")                           \
  X(threads_without_ring, "threads without an event ring: none of their events are in the trace")       \
  X(paths_folded, "ranges counted under (other): 65,536 paths were in use")                             \
  X(names_folded, "texts written as (other): 262,144 names or their memory were in use")                \
  X(names_truncated, "names cut at 16 KiB, with a hash of the whole")                                   \
  X(payloads_truncated, "extended NVTX payloads that were too long to keep")                            \
  X(nvtx_pop_without_push, "pops without an open range")                                                \
  X(nvtx_end_unknown, "ends of a start/end range that was not open")                                    \
  X(nvtx_unclosed, "ranges still open when recording stopped")                                          \
  X(nvtx_too_deep, "ranges beyond the 128th level: counted, not named")                                 \
  X(nvtx_open_table_full, "start/end ranges started while 65,536 were open")                            \
  X(exact_unmeasured, "launches in an exact window that got no counter values")                         \
  X(samples_lost, "hardware samples that are missing: bytes of that time have no path")                 \
  X(lines_not_written, "lines that could not be written to disk")                                       \
  X(lines_over_max_size, "lines omitted, or removed again, to stay within --max-size-mb")               \
  X(record_sink_errors, "batches lost to an error inside the profiler (memory, a caught exception)")    \
  X(graph_nodes_unseen,                                                                                 \
    "work of graph nodes that were created before recording began: it gets the launch's path")          \
  X(records_restarted, "restarts of CUPTI's activity records after graph nodes without times")          \
  X(inherit_ambiguous,                                                                                  \
    "look-ups of an inherited path (--inherit) while several threads had ranges open: none was taken")  \
  X(unknown_cause, "losses of causes that this version does not know: another version wrote the trace") \
  X(graphs_launched_on_device,                                                                          \
    "graphs that may be launched from the device: executions (counted with --graphs whole from the "    \
    "start) and kernels are not visible; with exact counters their bytes count for the launching "      \
    "path, sampled ones are unattributed")                                                              \
  X(conditions_lost,                                                                                    \
    "readings of clocks, power or resources, or threads, for which there was no room or memory")        \
  X(stacks_lost, "samples of host stacks that could not be read, or for which there was no room")       \
  X(stacks_folded, "samples of host stacks counted under (other): 262,144 stacks were in use")

enum class Loss : std::size_t {
#define X(name, text) name,
  RANGEFINDER_LOSS_CAUSES(X)
#undef X
};

struct LossCause {
  const char* name;
  const char* meaning;
};

inline constexpr std::array kLossCauses{
#define X(name, text) LossCause{#name, text},
    RANGEFINDER_LOSS_CAUSES(X)
#undef X
};

/// In the order of kLossCauses.
using LossByCause = std::array<std::uint64_t, kLossCauses.size()>;

/// Counters by cause. Any thread.
class LossLedger {
 public:
  void add(Loss cause, std::uint64_t n = 1) noexcept {
    counts_[static_cast<std::size_t>(cause)].fetch_add(n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get(Loss cause) const noexcept {
    return counts_[static_cast<std::size_t>(cause)].load(std::memory_order_relaxed);
  }
  void set(Loss cause, std::uint64_t n) noexcept {
    counts_[static_cast<std::size_t>(cause)].store(n, std::memory_order_relaxed);
  }
  /// It counts for the process: a window starts at 0, except for threads that still have no ring.
  void begin_window() noexcept {
    for (std::size_t cause = 0; cause < counts_.size(); ++cause) {
      if (static_cast<Loss>(cause) != Loss::threads_without_ring) set(static_cast<Loss>(cause), 0);
    }
  }
  [[nodiscard]] LossByCause snapshot() const noexcept {
    LossByCause out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = counts_[i].load(std::memory_order_relaxed);
    return out;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kLossCauses.size()> counts_{};
};

}  // namespace rangefinder
