// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class TimeCheck final : public TraceCheck {
 public:
  void line(const Line& line, ProblemLog& problems) override {
    problems_ = &problems;
    std::visit([this](const auto& record) { check(record); }, line);
  }

  void finish(const TraceFacts& facts, ProblemLog& problems) override {
    if (facts.whole && facts.is_final && untimed_ > facts.lost(Loss::gpu_work_untimed)) {
      problems.add_at(facts.folder, "untimed",
                      std::to_string(untimed_) + " pieces of GPU work have no times, the ledger counts " +
                          std::to_string(facts.lost(Loss::gpu_work_untimed)));
    }
  }

 private:
  template <typename Other>
  void check(const Other&) {}

  void order(TimeNs start, TimeNs end) {
    if (end >= start) return;
    problems_->add("time", "ends at " + std::to_string(end) + " ns, before its start at " +
                               std::to_string(start) + " ns");
  }

  void check_work(const GpuWork& work) {
    const bool has_start = work.start_ns != kNoTime;
    const bool has_end = work.end_ns != kNoTime;
    if (has_start != has_end) problems_->add("time", "has only one of start and end");
    if (!has_start && !has_end) ++untimed_;
    if (has_start && has_end) order(work.start_ns, work.end_ns);
  }
  void check_host(const HostWork& host) { order(host.start_ns, host.end_ns); }

  void check(const KernelRecord& record) { check_work(record.work); }
  void check(const MemcpyRecord& record) { check_work(record.work); }
  void check(const MemsetRecord& record) { check_work(record.work); }
  void check(const GraphRecord& record) { check_work(record.work); }
  void check(const LaunchRecord& record) { check_host(record.host); }
  void check(const ExactRecord& record) { check_host(record.launch.host); }
  void check(const SyncRecord& record) { check_host(record.host); }
  void check(const AllocRecord& record) { check_host(record.host); }
  void check(const EventRecord& record) { check_host(record.host); }
  void check(const CaptureRecord& record) { check_host(record.host); }
  void check(const OverheadRecord& record) { order(record.start_ns, record.end_ns); }
  void check(const HoldRecord& record) { order(record.start_ns, record.end_ns); }
  void check(const GapRecord& record) { order(record.start_ns, record.end_ns); }
  void check(const RangeRecord& record) {
    if (record.end_ns != kNoTime) order(record.start_ns, record.end_ns);
  }

  ProblemLog* problems_ = nullptr;
  std::uint64_t untimed_ = 0;
};

}  // namespace

std::unique_ptr<TraceCheck> make_time_check() {
  return std::make_unique<TimeCheck>();
}

}  // namespace rangefinder
