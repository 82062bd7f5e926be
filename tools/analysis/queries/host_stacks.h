// SPDX-License-Identifier: Apache-2.0
//
// The functions in which host threads spent a time in question, as samples of their stacks show them.
//
//   samples in idle host code ─▶ StackTimes ─▶ host_functions()   by function, the one with most time first
//                                           └▶ main_function()    the first, with its share of that time, and
//                                                                 the second, if it has at least half of that
//
// stack_places.h says which line of a stack is named. Shares are of the samples in that time, so they add up
// to 1. Of a function's lines the one with most samples is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/model/stack_names.h"
#include "tools/analysis/queries/stack_places.h"
#include "tools/analysis/queries/stack_samples.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// Fewer samples name no function.
inline constexpr std::uint64_t kMinStackSamples = 10;

/// The samples of a time in question, by stack.
class StackTimes {
 public:
  struct Time {
    std::uint64_t samples = 0, ns = 0;
  };
  void add(const StackMoment& moment);
  /// By stack, unordered.
  [[nodiscard]] const std::unordered_map<std::uint32_t, Time>& stacks() const noexcept { return stacks_; }
  [[nodiscard]] const Time& all() const noexcept { return all_; }
  [[nodiscard]] bool names_functions() const noexcept { return all_.samples >= kMinStackSamples; }

 private:
  std::unordered_map<std::uint32_t, Time> stacks_;
  Time all_;
};

struct HostFunction {
  StackState state = StackState::runs;  ///< what it does
  std::string function;                 ///< "decode_image"
  std::string file;                     ///< empty: unknown
  std::uint32_t line = 0;               ///< with most samples; 0: unknown
  std::string waits_in;  ///< "threading.py:327 wait"; empty: it does not wait inside of a library
  std::string loader;    ///< StackState::waits_for_workers: the class that waits; empty: unknown
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;       ///< of the samples that are named for it
  std::uint64_t self_ns = 0;  ///< of `ns`, in its own lines, not in what they call

  /// "decode_image", "import in load"
  [[nodiscard]] std::string title() const;
  /// "data.py:41 decode_image", "import in data.py:41 load", "data.py:41 next_batch, in threading.py:327
  /// wait"
  [[nodiscard]] std::string text() const;
  /// "data.py:41"; empty without a file.
  [[nodiscard]] std::string source() const;
};

/// Most time first. Empty for fewer than kMinStackSamples.
[[nodiscard]] std::vector<HostFunction> host_functions(const StackNames& names, const StackTimes& times);

/// The function with most of a time.
struct MainFunction {
  HostFunction function;
  std::optional<HostFunction> second;  ///< with at least half as much time
  StackTimes::Time all;                ///< of the samples in the time in question

  [[nodiscard]] double share(const HostFunction& of) const noexcept;
  /// "data.py:41 decode_image (62 % of that time)"; of few samples "(62 % of that time, of 212 samples)". The
  /// second follows: "data.py:41 decode_image (44 % of that time), data.py:52 crop (31 %)".
  [[nodiscard]] std::string text() const;
  /// A sentence without a full stop about workers of a DataLoader; empty if it waits for none.
  [[nodiscard]] std::string note() const;
};
[[nodiscard]] std::optional<MainFunction> main_function(const StackNames& names, const StackTimes& times);

/// {function, file, line, waits_in, share, samples, all_samples, second}; `second` is the same of the second
/// function.
[[nodiscard]] nlohmann::ordered_json function_json(const MainFunction& main);

/// A row for each function, and a remark with the number of samples.
[[nodiscard]] Table function_table(std::string name, const StackNames& names, const StackTimes& times);

}  // namespace rangefinder
