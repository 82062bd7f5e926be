// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/salvage_ledger.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// The kind of work that a call launches, from its name. The profiler records no other calls.
WorkKind kind_of(std::string_view api) {
  if (api.starts_with("cuGraphLaunch")) return WorkKind::graph;
  if (api.starts_with("cuMemcpy")) return WorkKind::memcpy;
  if (api.starts_with("cuMemset")) return WorkKind::memset;
  return WorkKind::kernel;
}

std::size_t index_of(WorkKind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

void SalvageLedger::add(const Line& line) {
  const std::string_view kind = line_kind(line);
  if (is_event(kind)) {
    auto count = lines_.find(kind);
    if (count == lines_.end()) count = lines_.emplace(kind, 0).first;
    ++count->second;
  }
  std::visit([this](const auto& record) { count(record); }, line);
  fold_.add(line);
}

void SalvageLedger::count(const LaunchRecord& launch) {
  count_host(launch.host);
  if (launch.result != 0) return;  // a failed call launches nothing
  const auto thread = capturing_.find(launch.host.thread);
  const bool captured = thread != capturing_.end() && thread->second != 0;
  (captured ? captured_ : launched_)[index_of(kind_of(launch.api))].insert(launch.correlation);
  all_launched_.insert(launch.correlation);
}

void SalvageLedger::count(const ExactRecord& exact) {
  count_host(exact.launch.host);
  if (exact.is_counter_range) {
    counter_ranges_[exact.counter_range].described += std::uint64_t{exact.launches} + 1;
    return;
  }
  ++exact_[index_of(exact.kind)];
  all_launched_.insert(exact.launch.correlation);
  if (exact.kind == WorkKind::kernel) exact_kernels_.insert(exact.launch.correlation);
  if (exact.counter_range != 0) ++counter_ranges_[exact.counter_range].launches;
}

void SalvageLedger::count(const KernelRecord& record) {
  kernel_records_.insert(record.work.correlation);
  count_work(record.work);
}

void SalvageLedger::count_work(const GpuWork& work) {
  use_range(work.range);
  recorded_.insert(work.correlation);
  if (!all_launched_.contains(work.correlation)) ++waiting_[work.correlation];
  if (work.start_ns == kNoTime) ++untimed_;
  last_ns_ = std::max(last_ns_, work.end_ns);
}

void SalvageLedger::count_host(const HostWork& host) {
  use_range(host.range);
  last_ns_ = std::max(last_ns_, host.end_ns);
}

void SalvageLedger::count(const RangeRecord& range) {
  open_ranges_.erase(range.id);
  ranges_.insert(range.id);
  last_ns_ = std::max({last_ns_, range.start_ns, range.end_ns});
}

void SalvageLedger::count(const CaptureRecord& capture) {
  count_host(capture.host);
  std::uint32_t& open = capturing_[capture.host.thread];
  if (capture.step == CaptureStep::begin) {
    ++open;
  } else if (capture.step == CaptureStep::end && open != 0) {
    --open;
  }
}

void SalvageLedger::count(const FlushRecord& flush) {
  loss_ = flush.loss;
  last_ns_ = std::max(last_ns_, flush.at_ns);
}

void SalvageLedger::use_range(std::uint64_t range) {
  if (range != 0 && !ranges_.contains(range)) open_ranges_.insert(range);
}

std::uint64_t SalvageLedger::open_counter_ranges() const {
  std::uint64_t open = 0;
  for (const auto& [number, range] : counter_ranges_) open += range.described == range.launches + 1 ? 0 : 1;
  return open;
}

EndRecord SalvageLedger::end(const OwnCost& own_cost) {
  fold_.finish();
  EndRecord end;
  end.at_ns = last_ns_;
  end.reason = "salvaged";
  end.records.assign(lines_.begin(), lines_.end());
  end.truth = totals_.totals.truth();
  end.own_cost = own_cost;
  std::uint64_t without_record = exact_kernels_.size() - exact_kernels_.count_shared(kernel_records_);
  for (std::size_t i = 0; i < kKinds; ++i) {
    LaunchBalance& balance = end.balance[i];
    const std::uint64_t seen = launched_[i].count_shared(recorded_);
    balance.recorded = seen + captured_[i].count_shared(recorded_);
    balance.exact = exact_[i];
    balance.lost = launched_[i].size() - seen;
    balance.launched = balance.recorded + balance.exact + balance.lost;
    without_record += balance.lost;
  }
  std::uint64_t orphans = 0;
  for (const auto& [correlation, records] : waiting_)
    orphans += all_launched_.contains(correlation) ? 0 : records;

  end.loss = loss_;
  const auto raise_to = [&](Loss cause, std::uint64_t n) {
    std::uint64_t& loss = end.loss[static_cast<std::size_t>(cause)];
    loss = std::max(loss, n);
  };
  raise_to(Loss::launch_without_record, without_record);
  raise_to(Loss::record_without_launch, orphans);
  raise_to(Loss::gpu_work_untimed, untimed_);
  raise_to(Loss::nvtx_unclosed, open_ranges_.size());
  end.loss[static_cast<std::size_t>(Loss::lines_not_written)] +=
      refused_ + std::max(unreadable_, missing_) + open_counter_ranges();
  return end;
}

}  // namespace rangefinder
