// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <unordered_map>
#include <variant>

#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class StackCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    if (const auto* const stack = std::get_if<StackRecord>(&line)) check(*stack);
    if (const auto* const samples = std::get_if<StackSampleRecord>(&line)) check(*samples);
  }

 private:
  void check(const StackRecord& stack) {
    if (stack.caller >= stack.id) {
      problems_.add("stack", "stack " + std::to_string(stack.id) + " has caller " +
                                 std::to_string(stack.caller) + ", which is not smaller");
      return;
    }
    const auto caller = depths_.find(stack.caller);
    const std::uint32_t above = caller == depths_.end() ? 0 : caller->second;
    // The first line of an id counts; identity_check.cpp compares the others.
    const auto at = depths_.emplace(stack.id, std::min(above + 1, kMaxStackDepth + 1)).first;
    if (at->second > kMaxStackDepth) {
      problems_.add("stack", "stack " + std::to_string(stack.id) + " has more than " +
                                 std::to_string(kMaxStackDepth) + " levels");
    }
  }

  /// A line has at most one problem: each of its samples may be wrong.
  void check(const StackSampleRecord& record) const {
    constexpr std::uint64_t kNsPerUs = 1'000;
    if (record.end_ns < record.start_ns) return;  // TimeCheck reports it
    const auto length_ns = static_cast<std::uint64_t>(record.end_ns - record.start_ns);
    // The times of samples that are one element of a line are exact to half an interval.
    const std::uint64_t early_us = record.interval_ns / kNsPerUs / 2;
    std::uint32_t last_us = 0;
    for (const StackSample& sample : record.samples) {
      const bool ordered = sample.after_us + early_us >= last_us,
                 inside = sample.after_us * kNsPerUs <= length_ns;
      if (!ordered || !inside) {
        return problems_.add("stack", "a sample " + std::to_string(sample.after_us) + " us after the start " +
                                          (ordered ? "is after the end of its line"
                                                   : "follows one at " + std::to_string(last_us) + " us"));
      }
      last_us = sample.after_us;
    }
  }

  std::unordered_map<std::uint32_t, std::uint32_t> depths_;  // by id; kMaxStackDepth + 1: too deep
};

}  // namespace

std::unique_ptr<TraceCheck> make_stack_check(ProblemLog& problems) {
  return std::make_unique<StackCheck>(problems);
}

}  // namespace rangefinder
