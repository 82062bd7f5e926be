// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/launched_work.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rangefinder {

std::string_view LaunchedWork::interned(std::string_view api) {
  if (api == last_api_) return last_api_;
  auto at = apis_.find(api);
  if (at == apis_.end()) at = apis_.emplace(api).first;
  return last_api_ = *at;
}

void LaunchedWork::put(const LaunchRecord& launch, const Holds& holds, std::uint64_t l2_bytes) {
  if (launch.correlation == 0) return;
  if (slots_.empty()) slots_.resize(kSlots);
  Slot& slot = slots_[launch.correlation % kSlots];
  constexpr std::uint64_t kMaxLength = std::numeric_limits<std::uint32_t>::max();
  slot.correlation = launch.correlation;
  slot.thread = launch.host.thread;
  slot.start_ns = launch.host.start_ns;
  slot.length_ns =
      static_cast<std::uint32_t>(std::min(elapsed_ns(launch.host.start_ns, launch.host.end_ns), kMaxLength));
  slot.held_ns = static_cast<std::uint32_t>(std::min(holds.within(launch.host), kMaxLength));
  slot.used = false;
  slot.after_sync = !synced_threads_.empty() && synced_threads_.erase(launch.host.thread) != 0;
  slot.l2_bytes = l2_bytes;
  slot.api = interned(launch.api);
}

void LaunchedWork::add(const LaunchRecord& launch, const Holds& holds) {
  if (launch.result == 0) put(launch, holds, 0);
}

void LaunchedWork::add(const ExactRecord& exact, const Holds& holds) {
  const bool one_kernel = exact.kind == WorkKind::kernel && exact.measured && exact.has_bytes;
  if (!exact.is_counter_range) put(exact.launch, holds, one_kernel ? exact.l2_bytes : 0);
}

bool LaunchedWork::add_launch(WorkEvent& event) {
  if (event.work.start_ns == kNoTime || event.work.end_ns < event.work.start_ns) return false;
  event.at_ns = event.work.start_ns;
  if (slots_.empty()) return true;
  Slot& slot = slots_[event.work.correlation % kSlots];
  if (slot.correlation != event.work.correlation || slot.correlation == 0) return true;
  event.launch_start_ns = slot.start_ns;
  event.launch_end_ns = static_cast<TimeNs>(static_cast<std::uint64_t>(slot.start_ns) + slot.length_ns);
  event.thread = slot.thread;
  event.api = slot.api;
  event.held_ns = slot.held_ns;
  event.l2_bytes = event.kind == WorkKind::kernel && event.work.graph == 0 ? slot.l2_bytes : 0;
  event.after_sync = slot.after_sync;
  event.first_of_launch = !std::exchange(slot.used, true);
  return true;
}

}  // namespace rangefinder
