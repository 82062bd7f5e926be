// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/iteration_log.h"

#include <algorithm>

#include "tools/analysis/tables/median.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMinForWarmUp = 3;
constexpr double kWarmUpMedians = 3;

}  // namespace

void IterationLog::line(const Line& line) {
  if (const auto* const hold = std::get_if<HoldRecord>(&line)) return holds_.add(*hold);
  if (const auto* const gap = std::get_if<GapRecord>(&line)) return holds_.add(*gap);
  if (const auto* const range = std::get_if<RangeRecord>(&line)) {
    static_cast<void>(row(iterations_.of_range(range->id)));
  } else if (const GpuWork* const work = gpu_work(line)) {
    const std::size_t at = iterations_.of(*work);
    if (IterationTotals* const of = row(at)) {
      if (std::holds_alternative<KernelRecord>(line)) ++of->kernels;
      if (const auto* const copy = std::get_if<MemcpyRecord>(&line)) of->copy_bytes += copy->bytes;
      add_time(*of, at, *work, line);
    }
  } else if (const HostWork* const host = host_call(line)) {
    if (IterationTotals* const of = row(iterations_.of(*host))) add(*of, *host, line);
  }
}

void IterationLog::rest(const Line& line) {
  const GpuWork* const work = gpu_work(line);
  if (work == nullptr) return;
  const std::size_t at = iterations_.of(*work);
  if (IterationTotals* const of = row(at)) add_time(*of, at, *work, line);
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
void IterationLog::add_time(IterationTotals& row, std::size_t at, const GpuWork& work, const Line& line) {
  if (!is_timed(work)) return;
  row.last_gpu_ns = row.last_gpu_ns == kNoTime ? work.end_ns : std::max(row.last_gpu_ns, work.end_ns);
  if (!std::holds_alternative<KernelRecord>(line) && !std::holds_alternative<GraphRecord>(line)) return;
  row.gpu_ns += duration_ns(work.start_ns, work.end_ns);
  busy_.add(static_cast<std::uint32_t>(at), work.start_ns, work.end_ns);
}

void IterationLog::add(IterationTotals& row, const HostWork& host, const Line& line) const {
  if (launch_of(line) != nullptr) ++row.launches;
  if (std::holds_alternative<SyncRecord>(line)) row.sync_ns += holds_.net_ns(host);
  const auto* const exact = std::get_if<ExactRecord>(&line);
  if (exact == nullptr || shares_counter_range(*exact)) return;
  const bool known = exact->measured && exact->has_bytes;
  ++(known ? row.measured : row.unmeasured);
  if (!known) return;
  row.dram_read_bytes += exact->dram_read_bytes;
  row.dram_write_bytes += exact->dram_write_bytes;
  row.l2_bytes += exact->l2_bytes;
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
