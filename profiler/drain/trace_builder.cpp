// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/trace_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace rangefinder {

TraceBuilder::TraceBuilder(Recorder& recorder, KernelNames& kernels, TraceWriter& writer,
                           std::int64_t base_unix_ns)
    : recorder_(recorder),
      kernels_(kernels),
      writer_(writer),
      base_unix_ns_(base_unix_ns),
      now_ns_(base_unix_ns) {}

TimeNs TraceBuilder::relative(std::int64_t unix_ns) const noexcept {
  return unix_ns == kNoTime ? kNoTime : unix_ns - base_unix_ns_;
}

HostWork TraceBuilder::host_of(std::uint32_t thread, const Event& event) const noexcept {
  return {relative(event.start_ns), relative(event.end_ns), thread, event.path, event.range};
}

void TraceBuilder::add_path(std::uint32_t path) {
  if (path == 0 || !known_paths_.add(path)) return;
  const PathNode node = recorder_.paths.node(path);
  add_path(node.parent);
  totals_.add_path({path, node.parent, node.domain, {}});
  if (cycle_ != nullptr) rates_.add_path(path, node.parent);
}

template <typename Record>
void TraceBuilder::write(const Record& record) {
  add_path(record.work.path);
  writer_.write(record);
  totals_.add(record);
  if (cycle_ != nullptr) period_.add(record);
  if (sharing_ != nullptr) sharing_->add(record);
}

MonitorCycle::Place TraceBuilder::place(const Event& event) const noexcept {
  if (cycle_ == nullptr) return MonitorCycle::Place::inside;
  // A range that was never closed lasts until now.
  return cycle_->place(event.start_ns, event.end_ns == kNoTime ? now_ns_ : event.end_ns);
}

void TraceBuilder::end_period(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t window_ns) {
  for (const MonitorRecord& record : period_.end(relative(start_ns), relative(end_ns), window_ns)) {
    add_path(record.path);
    writer_.write(record);
    rates_.add(record);
  }
}

template <typename Record>
void TraceBuilder::name_kernel([[maybe_unused]] Record& record, [[maybe_unused]] std::uint32_t name) {
  if constexpr (std::is_same_v<Record, KernelRecord>) {
    if (name != 0) record.name = kernels_.intern(recorder_.names.text(name));
  }
}

template <typename Record>
bool TraceBuilder::join(Record& record) {
  GpuWork& work = record.work;
  const auto origin = launches_.find(work.correlation, work.graph != 0 || work.graph_node != 0);
  if (!origin) return false;
  work.path = origin->path;
  work.range = origin->range;
  name_kernel(record, origin->kernel);
  if (work.graph_node == 0) return true;
  const LaunchOrigin* const made = graph_nodes_.find(work.graph_node);
  if (made == nullptr) {
    recorder_.loss.add(Loss::graph_nodes_unseen);
    return true;
  }
  name_kernel(record, made->kernel);
  if (made->path != 0) {
    work.path = made->path;
    work.range = made->range;
    work.captured = true;
  }
  return true;
}

template <typename Record>
void TraceBuilder::on_work(Record record) {
  if (record.work.start_ns == kNoTime) {
    recorder_.loss.add(Loss::gpu_work_untimed);
    if (record.work.graph != 0) ++untimed_graph_work_;
  }
  record.work.start_ns = relative(record.work.start_ns);
  record.work.end_ns = relative(record.work.end_ns);
  if (join(record)) {
    write(record);
    return;
  }
  if (pending_.size() >= kMaxPending) {
    expire(pending_.front());
    pending_.pop_front();
  }
  pending_.push_back({now_ns_, record});
}

void TraceBuilder::expire(Pending& pending) {
  std::visit(
      [this](auto& record) {
        if (!join(record)) {
          if (!is_of_window(record.work)) return;
          recorder_.loss.add(Loss::record_without_launch);
        }
        write(record);
      },
      pending.record);
}

void TraceBuilder::note_launch(std::uint32_t correlation) noexcept {
  // Correlation ids rise and wrap around. Events of several threads arrive out of order.
  if (!first_correlation_ || static_cast<std::int32_t>(correlation - *first_correlation_) < 0)
    first_correlation_ = correlation;
}

bool TraceBuilder::is_of_window(const GpuWork& work) const noexcept {
  const bool before =
      late_ && (!first_correlation_ || static_cast<std::int32_t>(work.correlation - *first_correlation_) < 0);
  // CUPTI maps the GPU's clock to the host's, which is not exact.
  constexpr TimeNs kClockErrorNs = 200'000;
  const bool after =
      window_end_ns_ && work.start_ns != kNoTime && work.start_ns >= *window_end_ns_ - kClockErrorNs;
  return !before && !after;
}

bool TraceBuilder::all_joined() const {
  if (launches_.waiting() != 0) return false;
  return std::none_of(pending_.begin(), pending_.end(), [this](const Pending& pending) {
    return std::visit([this](const auto& record) { return is_of_window(record.work); }, pending.record);
  });
}

void TraceBuilder::retry_pending(std::int64_t now_ns) {
  now_ns_ = now_ns;
  if (sharing_ != nullptr) sharing_->advance(relative(now_ns) - kSharingDelayNs);
  // Exact lines arrive in batches, and no batch ends while a kernel runs.
  const std::int64_t pending_ns = metric_sets_.empty() ? kPendingNs : kPendingExactNs;
  // In order of arrival, so that the oldest record stays in front.
  std::size_t left = pending_.size();
  while (left-- > 0) {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    const bool joined = std::visit([this](auto& record) { return join(record); }, pending.record);
    if (joined) {
      std::visit([this](const auto& record) { write(record); }, pending.record);
    } else if (now_ns - pending.since_ns > pending_ns) {
      expire(pending);
    } else {
      pending_.push_back(std::move(pending));
    }
  }
  pending_.shrink();
}

void TraceBuilder::finish() {
  for (Pending& pending : pending_) expire(pending);
  pending_.clear();
  if (sharing_ != nullptr) sharing_->finish();
  launches_.close();
  std::uint64_t lost = launches_.exact_without_record();
  for (const LaunchBalance& balance : launches_.balance()) lost += balance.lost;
  recorder_.loss.set(Loss::launch_without_record, lost);
  recorder_.loss.set(Loss::launch_slots_overwritten, launches_.overwritten());
}

// CUPTI ends every counter range with a kernel of its own that idles for 40 us. It has the
// correlation id of the application's call in progress.
bool TraceBuilder::is_of_counter_range(const KernelActivity& kernel) const noexcept {
  return !metric_sets_.empty() && kernel.name != nullptr && std::strcmp(kernel.name, "WaitNs") == 0 &&
         kernel.config.grid == Dim3{1, 1, 1} && kernel.config.block == Dim3{1, 1, 1};
}

void TraceBuilder::on_kernel(const KernelActivity& kernel) {
  if (is_of_counter_range(kernel)) return;
  KernelRecord record;
  record.work = kernel.work;
  record.name = kernels_.intern_pointer(kernel.name);
  record.config = kernels_.intern(kernel.config);
  on_work(record);
}

void TraceBuilder::on_memcpy(MemcpyRecord copy) {
  on_work(copy);
}
void TraceBuilder::on_memset(MemsetRecord memset) {
  on_work(memset);
}

void TraceBuilder::on_graph(GraphRecord graph) {
  on_work(graph);
}

void TraceBuilder::on_overhead(OverheadRecord overhead, void* details) {
  std::free(details);
  overhead.start_ns = relative(overhead.start_ns);
  overhead.end_ns = relative(overhead.end_ns);
  writer_.write(overhead);
}

void TraceBuilder::on_samples(SamplesRecord samples) {
  for (SampleRun& run : samples.runs) {
    run.start_ns = relative(run.start_ns);
    run.end_ns = relative(run.end_ns);
  }
  writer_.write(samples);
  if (sharing_ != nullptr) sharing_->add(samples);
}

void TraceBuilder::on_samples(SamplingRecord sampling) {
  if (sharing_ == nullptr && sampling.interval_ns != 0) sharing_ = std::make_unique<SampleSharing>();
  sampling.at_ns = relative(sampling.at_ns);
  writer_.add_sampling(sampling);
}

void TraceBuilder::on_context(const ContextRecord& context) {
  writer_.add_context(context);
}
void TraceBuilder::on_stream(const StreamRecord& stream) {
  writer_.add_stream(stream);
}

}  // namespace rangefinder
