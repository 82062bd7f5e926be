// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/condition_log.h"

#include <algorithm>
#include <iterator>

namespace rangefinder {

void ConditionLog::add(const ConditionRecord& record) {
  last_ns_ = std::max(last_ns_, record.at_ns);
  auto& series = subjects_[{record.subject, record.id}];
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (record.values[i]) series[i].push_back({record.at_ns, *record.values[i]});
  }
}

HeldValues ConditionLog::within(const Series& series, TimeNs first_ns, TimeNs last_ns) {
  HeldValues out;
  auto at = std::upper_bound(series.begin(), series.end(), first_ns,
                             [](TimeNs time, const Point& point) { return time < point.at_ns; });
  if (at != series.begin()) --at;
  for (; at != series.end() && (out.empty() || at->at_ns <= last_ns); ++at)
    out.set(std::max(at->at_ns, first_ns), at->value);
  out.end(last_ns);
  return out;
}

}  // namespace rangefinder
