// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/joined_work.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tools/analysis/model/selected_rows.h"

namespace rangefinder {

std::string_view JoinedWork::interned(std::string_view api) {
  if (api == last_api_) return last_api_;
  auto at = apis_.find(api);
  if (at == apis_.end()) at = apis_.emplace(api).first;
  return last_api_ = *at;
}

void JoinedWork::put(const LaunchRecord& launch, std::uint64_t l2_bytes) {
  if (launch.correlation == 0) return;
  if (slots_.empty()) slots_.resize(kSlots);
  Slot& slot = slots_[launch.correlation % kSlots];
  constexpr std::uint64_t kMaxLength = std::numeric_limits<std::uint32_t>::max();
  slot.correlation = launch.correlation;
  slot.thread = launch.host.thread;
  slot.start_ns = launch.host.start_ns;
  slot.length_ns =
      static_cast<std::uint32_t>(std::min(elapsed_ns(launch.host.start_ns, launch.host.end_ns), kMaxLength));
  slot.held_ns = static_cast<std::uint32_t>(std::min(holds_.within(launch.host), kMaxLength));
  slot.used = false;
  slot.after_sync = synced_threads_.erase(launch.host.thread) != 0;
  slot.l2_bytes = l2_bytes;
  slot.api = interned(launch.api);
}

void JoinedWork::put(const LaunchRecord& launch) {
  if (launch.result == 0) put(launch, 0);
}

void JoinedWork::put(const ExactRecord& exact) {
  const bool one_kernel = exact.kind == WorkKind::kernel && exact.measured && exact.has_bytes;
  if (!exact.is_counter_range) put(exact.launch, one_kernel ? exact.l2_bytes : 0);
}

void JoinedWork::add(const KernelRecord& kernel) {
  WorkEvent event;
  event.work = kernel.work;
  event.name = kernel.name;
  event.config = kernel.config;
  add(std::move(event));
}

void JoinedWork::add(const MemcpyRecord& copy) {
  WorkEvent event;
  event.kind = WorkKind::memcpy;
  event.work = copy.work;
  event.copy = copy.kind;
  event.source = copy.source;
  event.destination = copy.destination;
  event.async = copy.async;
  event.bytes = copy.bytes;
  add(std::move(event));
}

void JoinedWork::add(const MemsetRecord& memset) {
  WorkEvent event;
  event.kind = WorkKind::memset;
  event.work = memset.work;
  event.bytes = memset.bytes;
  add(std::move(event));
}

void JoinedWork::line(const Line& line) {
  std::visit(
      [this](const auto& record) {
        using Record = std::remove_cvref_t<decltype(record)>;
        if constexpr (std::is_same_v<Record, HoldRecord>) holds_.add(record);
        if constexpr (std::is_same_v<Record, SyncRecord>) synced_threads_.insert(record.host.thread);
        if constexpr (requires { this->put(record); }) put(record);
        if constexpr (requires { record.work; } && !std::is_same_v<Record, GraphRecord>) add(record);
      },
      line);
}

void JoinedWork::add(const SelectedRows& rows) {
  rows.lines<HoldRecord>([this](const HoldRecord& hold) { holds_.add(hold); });
  rows.calls(kColumns, [this](const auto& call) {
    if constexpr (requires { this->put(call); }) {
      put(call);
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(call)>, SyncRecord>) {
      synced_threads_.insert(call.host.thread);
    }
  });
  rows.work(kColumns, [this](const auto& record, bool begins) {
    if constexpr (!is_graph_record<decltype(record)>) {
      if (begins) add(record);
    }
  });
}

void JoinedWork::add(WorkEvent event) {
  if (event.work.start_ns == kNoTime || event.work.end_ns < event.work.start_ns) return;
  if (!slots_.empty()) {
    Slot& slot = slots_[event.work.correlation % kSlots];
    if (slot.correlation == event.work.correlation && slot.correlation != 0) {
      event.launch_start_ns = slot.start_ns;
      event.launch_end_ns = static_cast<TimeNs>(static_cast<std::uint64_t>(slot.start_ns) + slot.length_ns);
      event.thread = slot.thread;
      event.api = slot.api;
      event.held_ns = slot.held_ns;
      event.l2_bytes = event.kind == WorkKind::kernel && event.work.graph == 0 ? slot.l2_bytes : 0;
      event.after_sync = slot.after_sync;
      event.first_of_launch = !std::exchange(slot.used, true);
    }
  }
  event.at_ns = event.work.start_ns;
  order_.add(event, sink_);
}

void JoinedWork::finish() {
  order_.finish(sink_);
}

}  // namespace rangefinder
