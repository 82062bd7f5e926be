// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/iteration_log.h"

#include <algorithm>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/duration_histogram.h"

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

void IterationLog::begin_chunk(const SelectedRows& rows) {
  holds_ = &rows.names().holds;
  rows.lines<GpuRecord>([this](const GpuRecord& gpu) { gpm_.add(gpu); });
  rows.lines<ConditionRecord>([this](const ConditionRecord& condition) {
    conditions_.add(condition);
    gpm_.add(condition);
  });
  if (!rows.names().has_gpm) return;  // the names are complete: iterations were found in them
  rows.all_work(kColumns, [this](const auto& record) {
    const std::size_t at = iterations_.of(record.work);
    gpm_.add_work(record.work, at < rows_.size() ? static_cast<std::uint32_t>(at) : DramSplit::kNoOwner);
  });
}

void IterationLog::add(const SelectedRows& rows) {
  begin_chunk(rows);
  const auto call = [this](const auto& record, bool) { add_call(record); };
  rows.launches(kColumns, call);
  rows.other_calls(kColumns, call);
  rows.ranges(kColumns, [this](const RangeRecord& range, bool begins) {
    if (begins) add_range(range);
  });
  rows.work(kColumns, [this](const auto& record, bool begins) { add_work(record, begins); });
}

void IterationLog::finish() {
  if (holds_ == nullptr) return;  // no chunk
  order_.finish([this](const BusyWork& next) { put_busy(next); });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Iteration& of = iterations_.instances[i];
    rows_[i].held_ns = holds_->within(of.thread, of.start_ns, of.end_ns);
    rows_[i].gap_ns = holds_->gap_ns(of.start_ns, of.end_ns);
    rows_[i].host_ns = duration_ns(of.start_ns, of.end_ns) - rows_[i].held_ns;
    if (rows_[i].seen) seen_.push_back(i);
  }
  add_wall_times();
  add_gpm();
  warm_up_ = find_warm_up();
}

void IterationLog::put_busy(const BusyWork& next) {
  busy_.add(next.at_ns, next.end_ns);
  End& end = ends_[next.key];
  if (next.end_ns >= end.ns) end = {next.end_ns, busy_.length_until(next.end_ns)};
}

/// An iteration's busy time is that from the end of the previous iterations to its own end, whoever launched
/// the work: it fits into the wall time, and the sum is the busy time of all.
void IterationLog::add_wall_times() {
  TimeNs done_ns = kNoTime;  // the previous iterations
  std::uint64_t done_busy_ns = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Iteration& of = iterations_.instances[i];
    TimeNs from_ns = of.start_ns, to_ns = of.end_ns;
    if (rows_[i].last_gpu_ns != kNoTime) to_ns = std::max(to_ns, rows_[i].last_gpu_ns);
    if (done_ns != kNoTime) from_ns = std::max(from_ns, done_ns);
    if (rows_[i].seen && (i == 0 || rows_[i - 1].seen)) {
      rows_[i].wall_ns = from_ns < to_ns ? holds_->net_ns(of.thread, from_ns, to_ns) : 0;
      add_conditions(rows_[i], from_ns, to_ns);
      rows_[i].from_ns = from_ns;
      rows_[i].to_ns = std::max(from_ns, to_ns);
    }
    done_ns = done_ns == kNoTime ? to_ns : std::max(done_ns, to_ns);
    rows_[i].busy_ns = ends_[i].busy_ns - std::min(done_busy_ns, ends_[i].busy_ns);
    if (rows_[i].wall_ns) rows_[i].busy_ns = std::min(rows_[i].busy_ns, *rows_[i].wall_ns);
    done_busy_ns = std::max(done_busy_ns, ends_[i].busy_ns);
  }
}

void IterationLog::add_conditions(IterationTotals& row, TimeNs from_ns, TimeNs to_ns) const {
  for (const auto& [subject, conditions] : conditions_.subjects()) {
    if (subject.of != ConditionOf::gpu) continue;
    const auto mean = [&](Condition condition) -> std::optional<double> {
      const HeldValues values =
          ConditionLog::within(conditions[static_cast<std::size_t>(condition)], from_ns, to_ns);
      return values.empty() ? std::nullopt : std::optional(values.mean());
    };
    const std::optional<double> mhz = mean(Condition::sm_mhz);
    if (!mhz || (row.sm_mhz && *row.sm_mhz <= *mhz)) continue;
    row.sm_mhz = mhz;
    row.power_w = mean(Condition::power_w);
  }
}

/// Of iterations all of whose work was counted, and whose error bound is at most 100 %.
void IterationLog::add_gpm() {
  constexpr double kAllCounted = 0.999;
  for (const auto& [iteration, share] : gpm_.shares([](std::uint32_t) { return DramSplit::kNoOwner; })) {
    if (share.counted_ns < kAllCounted * share.work_ns || share.error > share.bytes) continue;
    rows_[iteration].gpm_bytes = share.bytes;
    rows_[iteration].gpm_error = share.error;
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
