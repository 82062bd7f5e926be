// SPDX-License-Identifier: Apache-2.0
#include "tools/page/iteration_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/iteration_log.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

std::vector<TableColumn> IterationRows::columns() {
  std::vector<TableColumn> out = iteration_columns();
  out.insert(
      out.end(),
      {{"gpu_span_ns", "GPU span", Unit::ns, 0, "from the first start to the last end of its GPU work"},
       {"copies", "copies", Unit::count},
       {"syncs", "waits", Unit::count},
       {"dram_bytes", "DRAM", Unit::bytes, 0, "bytes of launches that were measured one by one"}});
  return out;
}

IterationRows::IterationRows(const Iterations& iterations, const Holds& holds, std::size_t limit)
    : iterations_(iterations), holds_(holds) {
  for (const Iteration& one : iterations_.instances) {
    if (rows_.size() == limit) break;
    IterationRow row;
    row.start_ns = one.start_ns;
    row.host_ns = one.end_ns - one.start_ns;
    rows_.push_back(row);
  }
}

void IterationRows::add(const SelectedRows& rows) {
  const auto add_record = [this](const auto& record, bool) { add(record); };
  rows.launches(kColumns, add_record);
  rows.each<SyncRecord>(kColumns, add_record);
  rows.work(kColumns, add_record);
}

IterationRow* IterationRows::at(std::size_t index) {
  if (index >= rows_.size()) return nullptr;
  return &rows_[index];
}

IterationRow* IterationRows::add_work(const GpuWork& work) {
  const std::size_t index = iterations_.of(work);
  IterationRow* const row = at(index);
  if (row == nullptr || !is_timed(work)) return row;
  row->gpu_start_ns =
      row->gpu_start_ns == kNoTime ? work.start_ns : std::min(row->gpu_start_ns, work.start_ns);
  row->gpu_end_ns = std::max(row->gpu_end_ns, work.end_ns);
  return row;
}

IterationRow* IterationRows::add_time(const GpuWork& work) {
  IterationRow* const row = add_work(work);
  if (row == nullptr || !is_timed(work)) return row;
  row->gpu_ns += duration_ns(work.start_ns, work.end_ns);
  busy_.add(static_cast<std::uint32_t>(row - rows_.data()), work.start_ns, work.end_ns);
  return row;
}

void IterationRows::add(const KernelRecord& kernel) {
  if (IterationRow* const row = add_time(kernel.work)) ++row->kernels;
}

void IterationRows::add(const MemcpyRecord& copy) {
  IterationRow* const row = add_work(copy.work);
  if (row == nullptr) return;
  row->copies += copy.count;
  row->copy_bytes += copy.bytes;
}

void IterationRows::add(const LaunchRecord& launch) {
  if (IterationRow* const row = at(iterations_.of(launch.host)); row != nullptr) ++row->launches;
}

void IterationRows::add(const ExactRecord& exact) {
  IterationRow* const row = at(iterations_.of(exact.launch.host));
  if (row == nullptr) return;
  if (!exact.is_counter_range) ++row->launches;
  if (!exact.measured || !exact.has_bytes) return;
  row->exact_launches += exact.is_counter_range ? exact.launches : 1;
  row->dram_bytes += exact.dram_read_bytes + exact.dram_write_bytes;
  row->l2_bytes += exact.l2_bytes;
}

void IterationRows::add(const SyncRecord& sync) {
  IterationRow* const row = at(iterations_.of(sync.host));
  if (row == nullptr || sync.host.end_ns < sync.host.start_ns) return;
  ++row->syncs;
  row->sync_ns += holds_.net_ns(sync.host);
}

std::uint64_t IterationRows::held_ns(std::size_t row) const noexcept {
  const Iteration& of = iterations_.instances[row];
  return holds_.within(of.thread, of.start_ns, of.end_ns);
}

OrderedJson IterationRows::table(OrderedJson& omitted) const {
  if (rows_.empty()) return nullptr;
  OrderedJson columns = OrderedJson::object();
  const std::vector<std::uint64_t> busy_ns = busy_.lengths(rows_.size());
  for (std::size_t i = 0; i < busy_ns.size(); ++i) {
    const IterationRow& row = rows_[i];
    columns["start_ns"].push_back(row.start_ns);
    const std::uint64_t held = held_ns(i);
    columns["host_ns"].push_back(row.host_ns - static_cast<TimeNs>(held));
    columns["held_ns"].push_back(held != 0 ? OrderedJson(held) : OrderedJson());
    const bool on_gpu = row.gpu_start_ns != kNoTime;
    columns["gpu_start_ns"].push_back(on_gpu ? OrderedJson(row.gpu_start_ns) : OrderedJson());
    columns["gpu_end_ns"].push_back(on_gpu ? OrderedJson(row.gpu_end_ns) : OrderedJson());
    columns["kernels"].push_back(row.kernels);
    columns["gpu_ns"].push_back(row.gpu_ns);
    columns["gpu_busy_ns"].push_back(busy_ns[i]);
    columns["launches"].push_back(row.launches);
    columns["copies"].push_back(row.copies);
    columns["copy_bytes"].push_back(row.copy_bytes);
    columns["syncs"].push_back(row.syncs);
    columns["sync_ns"].push_back(row.sync_ns);
    columns["exact_launches"].push_back(row.exact_launches);
    columns["dram_bytes"].push_back(row.exact_launches != 0 ? OrderedJson(row.dram_bytes) : OrderedJson());
    columns["l2_bytes"].push_back(row.exact_launches != 0 ? OrderedJson(row.l2_bytes) : OrderedJson());
  }
  omitted["iterations"] = iterations_.instances.size() - rows_.size();
  return {{"path", iterations_.path}, {"columns", std::move(columns)}};
}

}  // namespace rangefinder
