// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/holds.h"

#include <algorithm>

#include "profiler/base/duration.h"

namespace rangefinder {
namespace {

constexpr auto kEndsBefore = [](const Holds::Span& span, TimeNs time) { return span.end_ns < time; };

}  // namespace

void Holds::add(std::uint32_t thread, TimeNs start_ns, TimeNs end_ns) {
  if (start_ns == kNoTime || end_ns <= start_ns) return;
  std::deque<Span>& spans = threads_[thread];
  Span added{start_ns, end_ns};
  const auto first = std::lower_bound(spans.begin(), spans.end(), added.start_ns, kEndsBefore);
  auto last = first;
  for (; last != spans.end() && last->start_ns <= added.end_ns; ++last) {
    added.start_ns = std::min(added.start_ns, last->start_ns);
    added.end_ns = std::max(added.end_ns, last->end_ns);
  }
  spans.insert(spans.erase(first, last), added);
  if (spans.size() > max_) spans.pop_front();
}

std::uint64_t Holds::within(std::uint32_t thread, TimeNs from, TimeNs to) const noexcept {
  std::uint64_t sum = 0;
  const auto known = from == kNoTime ? threads_.end() : threads_.find(thread);
  if (known == threads_.end()) return 0;
  const std::deque<Span>& spans = known->second;
  auto span = std::lower_bound(spans.begin(), spans.end(), from, kEndsBefore);
  for (; span != spans.end() && span->start_ns < to; ++span)
    sum += duration_ns(std::max(from, span->start_ns), std::min(to, span->end_ns));
  return sum;
}

std::uint64_t Holds::net_ns(std::uint32_t thread, TimeNs from, TimeNs to) const noexcept {
  return duration_ns(from, to) - within(thread, from, to);
}

}  // namespace rangefinder
