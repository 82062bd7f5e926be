// SPDX-License-Identifier: Apache-2.0
//
// The one list of rules. A new rule is a row here and a function in a file of rules/.
//
//   rule ─▶ find                the function; FindingRules runs them in the order of the table
//        ─▶ cause and rank      of several rules with one cause at one place, the lowest rank is shown
//        ─▶ topic               where docs/findings.md documents it, and what its time is compared with
//        ─▶ recordings          those in tests/replay that show it; without any, the rule is experimental
//        ─▶ needs               the data that it requires
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

struct Finding;
struct FindingContext;
struct KernelUse;

using FindRule = void(const FindingContext& context, std::vector<Finding>& out);
/// Of one kernel and configuration, or of all its configurations: metrics are by name. Appends one finding
/// and returns true, or appends none and returns false.
using FindInKernel = bool(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out);

// rules/idle_in_range.cpp
FindRule find_idle_in_range;
// rules/streams.cpp
FindRule find_exposed_wait, find_slower_together;
// rules/fusion.cpp
FindRule find_unfused_chain, find_attention_scores, find_small_graph_kernels;
// rules/capture.cpp
FindRule find_unsafe_during_capture, find_capture_obstacles;
// rules/host.cpp
FindRule find_launch_bound, find_sync_each_iteration, find_allocations_in_loop, find_allocator_growth,
    find_compilation;
// rules/copies.cpp
FindRule find_slow_copies, find_small_copies;
// rules/bytes.cpp
FindRule find_memory_bound, find_time_follows_bytes, find_slower_than_bytes, find_amplification,
    find_slower_than_roofs;
// rules/access.cpp
FindRule find_uncoalesced_loads, find_uncoalesced_stores;
FindInKernel bank_conflicts_of_kernel, local_memory_of_kernel;
// rules/arithmetic.cpp
FindRule find_fp32_math;
FindInKernel low_tensor_use_of_kernel, divergence_of_kernel, stalls_of_kernel;
// rules/parallelism.cpp
FindRule find_tail_wave, find_grid_under_one_wave;
FindInKernel low_occupancy_of_kernel;
// rules/graphs.cpp
FindRule find_graph_below_peak;
// rules/conditions.cpp
FindRule find_throttled, find_power_capped, find_cpu_limited, find_swapping, find_shared_gpu;

enum class Cause : std::uint8_t {
  idle,         ///< the host works while the GPU is idle
  launches,     ///< the host launches late, or waits
  allocations,  ///< and frees
  kept_memory,  ///< more in each iteration
  copies,       ///< between host and GPU
  streams,      ///< waits between streams
  traffic,      ///< a module moves more bytes than it must
  parallelism,  ///< the GPU is not full
  arithmetic,   ///< of a slow kind
  on_chip,      ///< shared and local memory
  lanes,        ///< threads of warps have nothing to do
  latency,      ///< warps wait, and no unit is busy
  graphs,       ///< kernels of a graph are short
  below_peak,   ///< a graph moves its bytes slowly
  any_of_gpu,   ///< GPU time that any other rule about the GPU explains better
  clocks,       ///< lowered by the GPU
  processors,   ///< too few, or a quota
  paging,       ///< pages from a disk
  sharing,      ///< of the GPU with other processes
  capture,      ///< calls that stream capture forbids
  summary,      ///< a statement about all modules
};

/// Data that a trace may lack.
enum class Need : std::uint8_t {
  none,
  host_times,
  loop,
  bytes,
  declared_bytes,
  loads,
  stores,
  conflicts,
  tensor,
  stalls,
  threads,  ///< active threads of warps
  limits,
  peaks,
};

/// A section of docs/findings.md.
enum class RuleTopic : std::uint8_t { of_host, of_bytes, of_kernels };

struct Rule {
  std::string_view id;
  FindRule* find = nullptr;
  Cause cause = Cause::summary;
  std::uint8_t rank = 0;  ///< within its cause; the lowest is the most specific
  RuleTopic topic = RuleTopic::of_kernels;
  std::vector<std::string_view> recordings;  ///< some that show it; empty: experimental
  std::array<Need, 2> needs{};

  /// Its time is compared with the time on the clock; of other rules with the GPU time where that is safer.
  [[nodiscard]] bool of_host() const noexcept { return topic == RuleTopic::of_host; }
  /// About clocks, processors, memory or other processes, not about the program: the opening has it.
  [[nodiscard]] bool limits_run() const noexcept { return cause >= Cause::clocks && cause <= Cause::sharing; }
  [[nodiscard]] bool experimental() const noexcept { return recordings.empty(); }
  /// In docs/findings.md.
  [[nodiscard]] std::string_view heading() const noexcept {
    constexpr std::array<std::string_view, 3> kHeadings{"The host and the GPU",
                                                        "Bytes (`--counters sampled` or `exact`)", "Kernels"};
    return kHeadings[static_cast<std::size_t>(topic)];
  }
};

/// All rules over a single trace. Findings of equal value are in this order.
[[nodiscard]] const std::vector<Rule>& rule_table();
/// Fails for an unknown id.
[[nodiscard]] const Rule& rule_named(std::string_view id);

/// What warps wait for, and the usual fix: a row for each stall of named_metrics.h that has one.
///
/// Reasons and fixes are those of Nsight Compute's documentation. Not in the table: Selected and Not
/// Selected, which are no waits; Math Pipe Throttle, which means that arithmetic limits the kernel; Misc.
/// docs/findings.md has the same table; a test compares them.
struct StallAdvice {
  std::string_view metric;  ///< "stall_long_scoreboard"
  const char* waits;        ///< follows "waits": "for loads from memory"
  const char* fix;          ///< a next step, without a full stop
  const char* code;         ///< "": none
};

[[nodiscard]] std::span<const StallAdvice> stall_advice() noexcept;
/// nullptr: not a stall, or without a row.
[[nodiscard]] const StallAdvice* find_stall_advice(std::string_view metric) noexcept;

/// A rule that lacked data.
struct CannotTell {
  std::string id;
  std::string needs;  ///< for people: "--counters exact --metrics memory"
};
[[nodiscard]] std::vector<CannotTell> rules_without_data(const FindingContext& context);

}  // namespace rangefinder
