// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/iteration_log.h"

#include <algorithm>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/tables/median.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMinForWarmUp = 3;
constexpr double kWarmUpMedians = 3;

}  // namespace

Table iteration_facts(const Iterations& iterations) {
  Table out;
  out.single = true;
  out.in = kOnlyJson;
  out.columns = {{"iteration_path", "iteration", Unit::text}, {"iteration_rule", "found by", Unit::text}};
  if (iterations.path.empty()) return out;
  out.add({Cell(CellValue(iterations.path)), Cell(CellValue(std::string(rule_key(iterations.rule))))});
  return out;
}

void IterationLog::add(const SelectedRows& rows) {
  rows.lines<HoldRecord>([this](const HoldRecord& hold) { holds_.add(hold); });
  rows.lines<GapRecord>([this](const GapRecord& gap) { holds_.add(gap); });
  const auto call = [&](const auto& record, bool) { add_call(record, rows.names().holds); };
  rows.launches(kColumns, call);
  rows.each<SyncRecord>(kColumns, call);
  rows.each<AllocRecord>(kColumns, call);
  rows.each<EventRecord>(kColumns, call);
  rows.each<CaptureRecord>(kColumns, call);
  rows.ranges(kColumns, [this](const RangeRecord& range, bool begins) {
    if (begins) static_cast<void>(row(iterations_.at(range.start_ns)));
  });
  rows.work(kColumns, [this](const auto& record, bool begins) { add_work(record, begins); });
}

void IterationLog::finish() {
  seen_.clear();
  const std::vector<std::uint64_t> busy_ns = busy_.lengths(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Iteration& of = iterations_.instances[i];
    rows_[i].busy_ns = busy_ns[i];
    rows_[i].held_ns = holds_.within(of.thread, of.start_ns, of.end_ns);
    rows_[i].gap_ns = holds_.gap_ns(of.start_ns, of.end_ns);
    rows_[i].host_ns = duration_ns(of.start_ns, of.end_ns) - rows_[i].held_ns;
    if (rows_[i].seen) seen_.push_back(i);
  }
  add_wall_times();
  warm_up_ = find_warm_up();
}

void IterationLog::add_wall_times() {
  TimeNs done_ns = kNoTime;  // the previous iterations
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Iteration& of = iterations_.instances[i];
    TimeNs from_ns = of.start_ns, to_ns = of.end_ns;
    if (rows_[i].last_gpu_ns != kNoTime) to_ns = std::max(to_ns, rows_[i].last_gpu_ns);
    if (done_ns != kNoTime) from_ns = std::max(from_ns, done_ns);
    if (rows_[i].seen && (i == 0 || rows_[i - 1].seen)) {
      rows_[i].wall_ns = from_ns < to_ns ? holds_.net_ns(of.thread, from_ns, to_ns) : 0;
    }
    done_ns = done_ns == kNoTime ? to_ns : std::max(done_ns, to_ns);
  }
}

/// Marks the iteration as seen; nullptr: outside all iterations.
IterationTotals* IterationLog::row(std::size_t index) {
  if (index >= rows_.size()) return nullptr;
  rows_[index].seen = true;
  return &rows_[index];
}

/// GPU time as in the module table: of kernels, and of graphs recorded as a whole.
template <typename Record>
void IterationLog::add_work(const Record& record, bool begins) {
  const GpuWork& work = record.work;
  const std::size_t at = iterations_.of(work);
  IterationTotals* const row = this->row(at);
  if (row == nullptr) return;
  if (begins && is_kernel(record)) ++row->kernels;
  if constexpr (std::is_same_v<Record, MemcpyRecord>) row->copy_bytes += begins ? record.bytes : 0;
  if (!is_timed(work)) return;
  row->last_gpu_ns = row->last_gpu_ns == kNoTime ? work.end_ns : std::max(row->last_gpu_ns, work.end_ns);
  if (!is_kernel(record) && !is_graph(record)) return;
  row->gpu_ns += duration_ns(work.start_ns, work.end_ns);
  busy_.add(static_cast<std::uint32_t>(at), work.start_ns, work.end_ns);
}

template <typename Record>
void IterationLog::add_call(const Record& record, const Holds& holds) {
  if constexpr (std::is_same_v<Record, ExactRecord>) {
    if (record.is_counter_range) return;
    IterationTotals* const row = this->row(iterations_.of(record.launch.host));
    if (row == nullptr) return;
    ++row->launches;
    if (shares_counter_range(record)) return;
    const bool known = record.measured && record.has_bytes;
    ++(known ? row->measured : row->unmeasured);
    if (!known) return;
    row->dram_read_bytes += record.dram_read_bytes;
    row->dram_write_bytes += record.dram_write_bytes;
    row->l2_bytes += record.l2_bytes;
  } else {
    IterationTotals* const row = this->row(iterations_.of(record.host));
    if (row == nullptr) return;
    if constexpr (std::is_same_v<Record, LaunchRecord>) ++row->launches;
    if constexpr (std::is_same_v<Record, SyncRecord>) row->sync_ns += holds.net_ns(record.host);
  }
}

std::size_t IterationLog::find_warm_up() const {
  if (rows_.size() < kMinForWarmUp || seen_.empty()) return 0;
  std::vector<double> host, gpu;
  for (const std::size_t i : seen_) {
    host.push_back(static_cast<double>(rows_[i].host_ns));
    gpu.push_back(static_cast<double>(rows_[i].gpu_ns));
  }
  const double slow_host = kWarmUpMedians * median_of(host), slow_gpu = kWarmUpMedians * median_of(gpu);
  const auto slow = [&](const IterationTotals& row) {
    return static_cast<double>(row.host_ns) > slow_host || static_cast<double>(row.gpu_ns) > slow_gpu;
  };
  std::size_t out = 1;
  while (out < rows_.size() && rows_[out].seen && slow(rows_[out])) ++out;
  // At least one iteration is needed for statistics.
  return seen_.back() < out ? 0 : out;
}

}  // namespace rangefinder
