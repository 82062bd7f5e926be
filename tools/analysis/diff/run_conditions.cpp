// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/run_conditions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "profiler/base/duration.h"
#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

/// Two runs of one program differ by less.
constexpr double kMinDifference = 0.03;

struct MeanOf {
  Condition condition;
  const char* key;
  const char* title;
  const char* unit;
};
constexpr MeanOf kMeans[]{{Condition::sm_mhz, "sm_mhz", "SM clock under load", "MHz"},
                          {Condition::memory_mhz, "memory_mhz", "memory clock under load", "MHz"},
                          {Condition::power_w, "power_w", "power under load", "W"}};
struct PartOf {
  Condition condition;
  const char* key;
  const char* title;
};
constexpr PartOf kParts[]{{Condition::power_capped_ms, "power_capped", "clock lowered for power"},
                          {Condition::thermal_capped_ms, "thermal_capped", "clock lowered for heat"}};

std::optional<double> value_of(const RunConditions& of, const char* key) {
  const auto at = of.find(key);
  return at == of.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

std::string signed_percent(double part) {
  return (part > 0 ? "+" : "") + percent_text(part);
}

RunConditions run_conditions(const ConditionLog& log, TimeNs first_ns, TimeNs last_ns) {
  RunConditions sums;
  std::map<std::string, double> gpus;  // with a value, by key
  const auto add = [&](const char* key, double value) {
    sums[key] += value;
    gpus[key] += 1;
  };
  for (const auto& [subject, series] : log.subjects()) {
    if (subject.of != ConditionOf::gpu) continue;
    const auto within = [&](Condition condition) {
      return ConditionLog::within(series[static_cast<std::size_t>(condition)], first_ns, last_ns);
    };
    for (const MeanOf& mean : kMeans)
      if (const HeldValues values = within(mean.condition); !values.empty()) add(mean.key, values.mean());
    const double span_ms =
        static_cast<double>(std::max<TimeNs>(last_ns - first_ns, 1)) / static_cast<double>(kNsPerMs);
    for (const PartOf& part : kParts)
      if (const HeldValues values = within(part.condition); !values.empty())
        add(part.key, std::min(1.0, static_cast<double>(values.growth()) / span_ms));
  }
  for (auto& [key, sum] : sums) sum /= gpus[key];
  return sums;
}

std::vector<std::string> condition_differences(const RunConditions& a, const RunConditions& b) {
  std::vector<std::string> out;
  for (const MeanOf& mean : kMeans) {
    const auto of_a = value_of(a, mean.key), of_b = value_of(b, mean.key);
    if (!of_a || !of_b || *of_a <= 0) continue;
    const double change = (*of_b - *of_a) / *of_a;
    if (std::abs(change) <= kMinDifference) continue;
    out.push_back(std::string(mean.title) + ": " +
                  count_text(static_cast<std::uint64_t>(std::llround(*of_a))) + " and " +
                  count_text(static_cast<std::uint64_t>(std::llround(*of_b))) + " " + mean.unit + " (" +
                  signed_percent(change) + ")");
  }
  for (const PartOf& part : kParts) {
    const auto of_a = value_of(a, part.key), of_b = value_of(b, part.key);
    if (!of_a || !of_b || std::abs(*of_b - *of_a) <= kMinDifference) continue;
    out.push_back(std::string(part.title) + ": " + percent_text(*of_a) + " and " + percent_text(*of_b) +
                  " of the time");
  }
  return out;
}

std::optional<double> clock_ratio(const RunConditions& a, const RunConditions& b) {
  const auto of_a = value_of(a, "sm_mhz"), of_b = value_of(b, "sm_mhz");
  if (!of_a || !of_b || *of_a <= 0 || *of_b <= 0) return {};
  const double ratio = *of_b / *of_a;
  return std::abs(ratio - 1) > kMinDifference ? std::optional(ratio) : std::nullopt;
}

}  // namespace rangefinder
