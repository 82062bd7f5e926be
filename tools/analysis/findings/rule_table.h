// SPDX-License-Identifier: Apache-2.0
//
// What is known about each rule apart from its code: the one list of rules.
//
//   rule ─▶ cause and rank      of several rules with one cause at one place, the lowest rank is shown
//        ─▶ recorded            a recording in tests/replay fires it; if none does, the rule is experimental
//        ─▶ needs               the data without which it cannot report anything
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

struct FindingContext;

enum class Cause : std::uint8_t {
  idle,         ///< the host works while the GPU is idle
  launches,     ///< the host launches late, or waits
  allocations,  ///< and frees
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
  capture,      ///< calls that it forbids
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
  threads,  ///< of a warp that are active
  limits,
  peaks,
};

struct RuleFacts {
  std::string_view id;
  Cause cause = Cause::summary;
  std::uint8_t rank = 0;  ///< within its cause; the lowest is the most specific
  bool recorded = false;
  bool of_host =
      false;  ///< compares with the time on the clock; false: with the GPU time where that is safer
  std::array<Need, 2> needs{};
};

/// All rules over a single trace, in the order of docs/findings.md.
[[nodiscard]] const std::vector<RuleFacts>& rule_table();
/// Fails for an unknown id.
[[nodiscard]] const RuleFacts& rule_facts(std::string_view id);

/// A rule that lacked data.
struct CannotTell {
  std::string id;
  std::string needs;  ///< for people: "--counters exact --metrics memory"
};
[[nodiscard]] std::vector<CannotTell> rules_without_data(const FindingContext& context);

}  // namespace rangefinder
