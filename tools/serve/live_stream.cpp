// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/live_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/page/page_columns.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kHeartbeatMs = 1'000;

std::vector<TableColumn> live_columns() {
  return {{"path", "module"},
          {"gpu_ms_per_s", "GPU ms/s", Unit::number, 0,
           "milliseconds of kernels per second; overlapping kernels all count"},
          {"share", "share", Unit::share, 0, "share of the GPU time of all modules"},
          {"launches_per_s", "launches/s", Unit::number},
          {"dram_gb_per_s", "DRAM GB/s", Unit::number},
          {"l2_gb_per_s", "L2 GB/s", Unit::number},
          {"peak_share", "of DRAM peak", Unit::share}};
}

OrderedJson row_of(const LiveRow& row) {
  OrderedJson out{{"path", row.path},
                  {"gpu_ms_per_s", row.gpu_ms_per_s},
                  {"share", row.share},
                  {"launches_per_s", row.launches_per_s}};
  if (row.dram_gb_per_s) out["dram_gb_per_s"] = *row.dram_gb_per_s;
  if (row.l2_gb_per_s) out["l2_gb_per_s"] = *row.l2_gb_per_s;
  if (row.peak_share) out["peak_share"] = *row.peak_share;
  return out;
}

}  // namespace

LiveStream::LiveStream(const TracedProcess& process, int every_ms, std::shared_ptr<std::atomic<int>> open,
                       int max_open, std::size_t max_rows)
    : pid_(process.pid), max_rows_(max_rows), open_(std::move(open)) {
  if (open_->fetch_add(1) >= max_open) {
    open_->fetch_sub(1);
    throw Missing("too many live pages are open: close one");
  }
  try {
    client_ = std::make_unique<ControlClient>(process.path);
    client_->send({{"command", "subscribe"}, {"every_ms", every_ms}});
  } catch (...) {
    open_->fetch_sub(1);
    throw;
  }
}

LiveStream::~LiveStream() {
  open_->fetch_sub(1);
}

std::string LiveStream::message(const nlohmann::json& event) {
  std::vector<LiveRow> rows = rates_.all_rows(LiveOrder::gpu_time);
  OrderedJson out{{"event", event.value("event", "")},
                  {"state", event.value("state", "")},
                  {"seconds", rates_.seconds()},
                  {"lost", rates_.lost()},
                  {"left_out", rows.size() - std::min(rows.size(), max_rows_)}};
  if (const auto window = event.find("window"); window != event.end() && window->is_object()) {
    out["window"] = window->value("number", std::uint64_t{0});
    out["folder"] = window->value("folder", "");
    out["window_lost"] = window->value("lost", std::uint64_t{0});
  }
  rows.resize(std::min(rows.size(), max_rows_));
  out["columns"] = columns_json(live_columns(), {"share", "peak_share"});
  out["rows"] = OrderedJson::array();
  for (const LiveRow& row : rows) out["rows"].push_back(row_of(row));
  rates_.clear();
  return "data: " + compact_json(out) + "\n\n";
}

std::optional<std::string> LiveStream::next() {
  if (gone_) return std::nullopt;
  try {
    const auto event = client_->receive(kHeartbeatMs);
    if (!event) return ":\n\n";
    if (!event->contains("event")) return std::string();
    rates_.add(pid_, *event);
    return message(*event);
  } catch (const Missing&) {
    gone_ = true;
    return "event: gone\ndata: {}\n\n";
  }
}

}  // namespace rangefinder
