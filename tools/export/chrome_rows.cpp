// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_rows.h"

#include <algorithm>

namespace rangefinder {

void ChromeRows::process(std::uint32_t pid, const std::string& name, std::uint32_t sort_index) {
  // Any row of the process is valid here; thread 0 of process 0 would be the idle task.
  const ChromeRow row{pid, pid};
  events_.metadata(row, "process_name", name);
  events_.sort_index(row, "process_sort_index", sort_index);
}

ChromeRow ChromeRows::make_row(std::uint32_t pid, std::uint32_t wanted_tid, const std::string& name) {
  const bool is_free =
      wanted_tid != 0 && wanted_tid < kFirstOwnTid && !used_tids_.contains({pid, wanted_tid});
  const ChromeRow row{pid, is_free ? wanted_tid : next_tid_++};
  used_tids_.emplace(row.pid, row.tid);
  events_.metadata(row, "thread_name", name);
  return row;
}

ChromeRow ChromeRows::thread(std::uint32_t pid, std::uint32_t thread, const std::string& name) {
  const auto it = threads_.find({pid, thread});
  if (it != threads_.end()) return it->second;
  return threads_.emplace(std::pair(pid, thread), make_row(pid, thread, name)).first->second;
}

ChromeRows::Lane* ChromeRows::free_lane(const RowKey& key, TimeNs start_ns) {
  if (last_ == nullptr || key != last_key_) {
    last_ = &lanes_[key];  // nodes of a map never move
    last_key_ = key;
  }
  const auto is_free = [&](const Lane& lane) { return lane.last_end_ns <= start_ns; };
  const auto lane = std::find_if(last_->begin(), last_->end(), is_free);
  if (lane != last_->end()) return &*lane;
  return last_->size() == kMaxLanes ? &last_->back() : nullptr;
}

ChromeRows::Lane& ChromeRows::add_lane(const RowKey& key, std::uint32_t wanted_tid, const std::string& name) {
  const auto at = static_cast<std::uint32_t>(last_->size());
  const std::string number = at == 0 ? "" : " (" + std::to_string(at + 1) + ")";
  last_->push_back({make_row(key.pid, at == 0 ? wanted_tid : 0, name + number)});
  // Order: streams by number, then the lanes of each stream, then its modules.
  if (key.kind == RowKind::stream || key.kind == RowKind::annotation) {
    const std::uint32_t below =
        key.kind == RowKind::annotation ? static_cast<std::uint32_t>(kMaxLanes) + key.level : at;
    events_.sort_index(last_->back().row, "thread_sort_index", key.number % 65'536 * 512 + below);
  }
  return last_->back();
}

}  // namespace rangefinder
