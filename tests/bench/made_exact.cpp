// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/made_exact.h"

#include <algorithm>
#include <utility>

#include "tests/bench/made_names.h"

namespace rangefinder::bench {
namespace {

// By so much gpu_ns of a kernel is below its record's duration (schema/README.md).
constexpr TimeNs kBelowRecordNs = 970;
constexpr TimeNs kMinGpuNs = 200;

void measure(ExactRecord& exact, const MadeWork& work) {
  exact.measured = true;
  if (has_gpu_time(exact)) {
    const TimeNs gpu_ns = work.end_ns - work.start_ns - kBelowRecordNs;
    exact.gpu_ns = static_cast<std::uint64_t>(std::max(gpu_ns, kMinGpuNs));
  }
  exact.dram_read_bytes = work.moved[kSharedDramRead];
  exact.dram_write_bytes = work.moved[kSharedDramWrite];
  exact.l2_bytes = work.moved[kSharedL2];
}

}  // namespace

ExactRecord MadeExact::launch(const LaunchRecord& launch, const MadeWork& work) {
  ++launches_;
  ExactRecord exact;
  exact.launch = launch;
  exact.kind = work.kind;
  exact.name = work.name;
  if (work.kind == WorkKind::kernel) {
    const LaunchConfigRecord config = made_config(work.config);
    exact.grid = config.grid;
    exact.block = config.block;
  }
  exact.bytes = work.bytes;
  exact.bytes_path = work.bytes_path;
  if (shares(launch.host.range)) {
    share(exact, work);
  } else {
    measure(exact, work);
  }
  return exact;
}

void MadeExact::share(ExactRecord& exact, const MadeWork& work) {
  if (!open_) {
    open_.emplace();
    open_->is_counter_range = true;
    open_->counter_range = launches_;
    open_->launch.host = exact.launch.host;
    open_->launch.context = exact.launch.context;
    open_work_ = {.start_ns = work.start_ns};
  }
  open_->launch.host.end_ns = exact.launch.host.end_ns;
  ++open_->launches;
  if (work.kind == WorkKind::kernel || work.kind == WorkKind::graph) ++open_->kernels;
  open_work_.end_ns = work.end_ns;
  for (std::size_t c = 0; c < kSharedColumns; ++c) open_work_.moved[c] += work.moved[c];
  exact.counter_range = open_->counter_range;
}

std::optional<ExactRecord> MadeExact::end_range() {
  if (open_) measure(*open_, open_work_);
  return std::exchange(open_, std::nullopt);
}

}  // namespace rangefinder::bench
