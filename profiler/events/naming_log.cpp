// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/naming_log.h"

#include "profiler/events/name_table.h"
#include "profiler/guest/host_lock.h"

namespace rangefinder {

NamingLog::Key NamingLog::key_of(const Event& event) noexcept {
  switch (event.kind) {
    case EventKind::thread_name:
      return {event.kind, 0, event.thread.id};
    case EventKind::category_name:
      return {event.kind, event.nvtx.domain, event.nvtx.category};
    case EventKind::module_source:
      return {event.kind, 0, event.path};
    case EventKind::kernel_origin:  // one for each line of the program
      static_assert(NameTable::kMaxNames < std::uint32_t{1} << 19);
      return {event.kind, event.path,
              std::uint64_t{event.origin.kernel} << 45 | std::uint64_t{event.origin.file} << 26 |
                  (event.origin.line & 0x3FF'FFFF)};
    default:  // payload_schema
      return {event.kind, event.schema.domain, event.schema.id};
  }
}

bool NamingLog::add(std::uint32_t thread, const Event& event) noexcept {
  try {
    const HostLock lock(mutex_);
    if (!lock) return false;
    const Key key = key_of(event);
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      names_[known->second] = {thread, event};
      return true;
    }
    if (names_.size() == kMaxNames) return true;
    names_.push_back({thread, event});
    by_key_.emplace(key, names_.size() - 1);
    return true;
  } catch (...) {
    return false;
  }
}

std::vector<NamingLog::Entry> NamingLog::entries() {
  const HostLock lock(mutex_);
  if (!lock) return {};
  return names_;
}

}  // namespace rangefinder
