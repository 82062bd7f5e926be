// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/trace_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "profiler/counters/metrics/metric_sets.h"
#include "profiler/guest/log.h"
#include "schema/key_names.h"

namespace rangefinder {
namespace {

// Events that monitor mode omits between its windows, without counting them.
bool is_detail(EventKind kind) noexcept {
  return kind == EventKind::mark || kind == EventKind::sync || kind == EventKind::alloc ||
         kind == EventKind::free || kind == EventKind::event_record || kind == EventKind::event_wait ||
         kind == EventKind::hold;
}

std::uint64_t gpu_time_ns(const ExactLaunch& launch, double overhead_ns) noexcept {
  const double cycles = launch.values[kEngineCycles], cycles_per_s = launch.values[kEngineClock];
  if (cycles_per_s <= 0) return 0;
  return static_cast<std::uint64_t>(std::max(cycles / cycles_per_s * 1e9 - overhead_ns, 0.0) + 0.5);
}

}  // namespace

TraceBuilder::TraceBuilder(Recorder& recorder, KernelNames& kernels, TraceWriter& writer,
                           std::int64_t base_unix_ns)
    : recorder_(recorder),
      kernels_(kernels),
      writer_(writer),
      decoder_(base_unix_ns),
      graph_nodes_(recorder.paths),
      now_ns_(base_unix_ns) {}

void TraceBuilder::add_path(std::uint32_t path) {
  if (path == 0 || !known_paths_.add(path)) return;
  const PathNode node = recorder_.paths.node(path);
  add_path(node.parent);
  totals_.add_path({path, node.parent, node.domain, {}});
  if (sharing_ != nullptr) sharing_->add_path(path, node.parent);
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
  const bool of_graph = work.graph != 0 || work.graph_node != 0;
  // A record of a whole graph names no node: its bytes stay at the launch's path.
  const std::uint32_t graph = work.graph_node != 0 ? work.graph : LaunchTable::kSeveralGraphs;
  const auto origin = launches_.find(work.correlation, of_graph, of_graph ? graph : 0);
  if (!origin) return false;
  work.path = origin->path;
  work.range = origin->range;
  name_kernel(record, origin->kernel);
  if (work.graph_node == 0) return true;
  const LaunchOrigin* const made = graph_nodes_.find(work.graph_node);
  if (made == nullptr) {
    if (!metric_sets_.empty()) graph_nodes_.add_unseen(work.graph);
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
          if (!edges_.contains(record.work)) return;
          recorder_.loss.add(Loss::record_without_launch);
        }
        write(record);
      },
      pending.record);
}

bool TraceBuilder::all_joined() const {
  if (launches_.waiting() != 0) return false;
  return std::none_of(pending_.begin(), pending_.end(), [this](const Pending& pending) {
    return std::visit([this](const auto& record) { return edges_.contains(record.work); }, pending.record);
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
  write_pending_exact(pending_ns);
}

void TraceBuilder::write_pending_exact(std::int64_t pending_ns) {
  while (!pending_exact_.empty()) {
    const PendingExact& oldest = pending_exact_.front();
    if (!is_graph_known(oldest.launch) && now_ns_ - oldest.since_ns <= pending_ns) return;
    write_exact(oldest.launch);
    pending_exact_.pop_front();
  }
}

void TraceBuilder::expire_all() {
  for (Pending& pending : pending_) expire(pending);
  pending_.clear();
  write_pending_exact(-1);
}

void TraceBuilder::end_gap(std::int64_t start_ns, std::int64_t end_ns, std::string_view cause) {
  expire_all();
  edges_.end_gap(relative(end_ns));
  writer_.write(GapRecord{relative(start_ns), relative(end_ns), cause});
}

void TraceBuilder::finish() {
  expire_all();
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
  if (sharing_ == nullptr && sampling.interval_ns != 0) begin_sharing();
  sampling.at_ns = relative(sampling.at_ns);
  writer_.add_sampling(sampling);
}

void TraceBuilder::begin_sharing() {
  sharing_ = std::make_unique<SampleSharing>(l2_sizes_);
  for (std::uint32_t path = 1; path <= recorder_.paths.size(); ++path)
    sharing_->add_path(path, recorder_.paths.node(path).parent);
}

void TraceBuilder::on_context(const ContextRecord& context) {
  writer_.add_context(context);
}
void TraceBuilder::on_stream(const StreamRecord& stream) {
  writer_.add_stream(stream);
}

void TraceBuilder::on_launch(std::uint32_t thread, const Event& event) {
  if (edges_.in_gap(relative(event.start_ns))) return;
  const MonitorCycle::Place place = this->place(event);
  const bool launched = event.launch.result == 0;
  if (cycle_ != nullptr && launched) period_.add_launch(event.path, place == MonitorCycle::Place::inside);
  if (place == MonitorCycle::Place::outside) return;
  if ((event.flags & kLaunchExact) != 0) return put_exact(event, WorkKind::graph, 0);
  // Before the launch's line is written, as in on_exact().
  if (launched) expect_work_of(event, place == MonitorCycle::Place::edge);
  writer_.write(decoder_.launch(thread, event));
}

void TraceBuilder::expect_work_of(const Event& event, bool at_edge) {
  const ApiClass kind = EventDecoder::api_of(event).kind;
  // A copy or memset of 0 bytes has no record, and neither has a launch that was only captured.
  const bool is_copy = kind == ApiClass::memcpy || kind == ApiClass::memset;
  const bool expect_record =
      (event.flags & kLaunchWhileCapturing) == 0 && !(is_copy && event.launch.bytes == 0);
  edges_.note_launch(event.correlation);
  const LaunchOrigin origin{event.path, event.range, event.launch.kernel};
  if (at_edge) return launches_.put_at_edge(event.correlation, static_cast<WorkKind>(kind), origin);
  launches_.put(event.correlation, static_cast<WorkKind>(kind), origin, expect_record);
}

void TraceBuilder::on_range(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  if (cycle_ != nullptr && event.end_ns != kNoTime && event.end_ns >= event.start_ns)
    period_.add_range(event.path, static_cast<std::uint64_t>(event.end_ns - event.start_ns));
  if (place(event) == MonitorCycle::Place::outside) return;
  const RangeRecord range = decoder_.range(thread, event, extra);
  add_path(range.path);
  writer_.write(range);
  totals_.add(range);
}

void TraceBuilder::on_hold(std::uint32_t thread, const Event& event) {
  const HoldRecord hold = decoder_.hold(thread, event);
  if (logs_debug() && hold.end_ns - hold.start_ns >= kNsPerMs) {
    log_debug("thread " + std::to_string(thread) + " was held for " +
              std::to_string((hold.end_ns - hold.start_ns) / kNsPerMs) +
              " ms: " + std::string(to_text(hold.cause)));
  }
  if (hold.end_ns > hold.start_ns) held_ns_ += static_cast<std::uint64_t>(hold.end_ns - hold.start_ns);
  writer_.write(hold);
  totals_.add(hold);
}

void TraceBuilder::on_category(const Event& event) {
  const CategoryRecord category{event.nvtx.domain, event.nvtx.category,
                                std::string(recorder_.names.text(event.nvtx.name))};
  writer_.add_category(category);
  totals_.add_category(category);
}

void TraceBuilder::on_event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  if (is_detail(event.kind) && place(event) == MonitorCycle::Place::outside) return;
  switch (event.kind) {
    case EventKind::launch:
      return on_launch(thread, event);
    case EventKind::range:
    case EventKind::range_start_end:
      return on_range(thread, event, extra);
    case EventKind::mark:
      return writer_.write(decoder_.mark(thread, event, extra));
    case EventKind::sync:
      return writer_.write(decoder_.sync(thread, event));
    case EventKind::alloc:
    case EventKind::free:
      return writer_.write(decoder_.alloc(thread, event, extra));
    case EventKind::event_record:
    case EventKind::event_wait:
      return writer_.write(decoder_.cuda_event(thread, event));
    case EventKind::capture:
      return writer_.write(decoder_.capture(thread, event));
    case EventKind::thread_name:
      return writer_.name_thread(event.thread.id, std::string(recorder_.names.text(event.thread.name)));
    case EventKind::category_name:
      return on_category(event);
    case EventKind::payload_schema:
      return writer_.add_payload_schema(
          {event.schema.id, event.schema.domain, std::string(recorder_.names.text(event.schema.definition))});
    case EventKind::graph_node:
      return graph_nodes_.add(event.graph.node, event.graph.original,
                              {event.path, event.range, event.graph.kernel});
    case EventKind::hold:
      return on_hold(thread, event);
    case EventKind::none:
      return;
  }
}

void TraceBuilder::on_metric_set(const MetricSetRecord& set) {
  totals_.expect_exact_lines();
  MetricSet& known = metric_sets_[set.id];
  known.record = set;
  const auto find = [&](ExactMetric metric) {
    return static_cast<std::size_t>(
        std::find(set.metrics.begin(), set.metrics.end(), kExactMetricNames[metric]) - set.metrics.begin());
  };
  if (std::any_of(set.metrics.begin(), set.metrics.end(), counts_every_multiprocessor))
    known.overhead_ns += kMultiprocessorRangeNs;
  known.dram_read = find(kDramRead);
  known.dram_write = find(kDramWrite);
  known.l2 = find(kL2Bytes);
  known.has_bytes = std::max({known.dram_read, known.dram_write, known.l2}) < set.metrics.size();
  // The plain set of bytes has its own keys in every line, so it needs no metric_set line.
  const bool plain = known.has_bytes && set.metrics.size() == kExactMetrics;
  known.record.id = plain ? 0 : set.id;
  if (!plain) writer_.add_metric_set(set);
}

void TraceBuilder::read_values(const ExactLaunch& launch, ExactRecord& record) const {
  const auto at = metric_sets_.find(metric_set_id(launch.gpu, launch.group));
  record.gpu_ns = gpu_time_ns(launch, at == metric_sets_.end() ? kRangeOverheadNs : at->second.overhead_ns);
  if (at == metric_sets_.end()) return;
  const MetricSet& set = at->second;
  record.has_bytes = set.has_bytes;
  if (set.has_bytes) {
    record.dram_read_bytes = static_cast<std::uint64_t>(launch.values[set.dram_read]);
    record.dram_write_bytes = static_cast<std::uint64_t>(launch.values[set.dram_write]);
    record.l2_bytes = static_cast<std::uint64_t>(launch.values[set.l2]);
  }
  record.metric_set = set.record.id;
  if (record.metric_set != 0) {
    const auto* const first = launch.values.data();
    record.values.assign(first, first + std::min(set.record.metrics.size(), launch.values.size()));
  }
}

void TraceBuilder::on_exact(const ExactLaunch& launch) {
  if (edges_.in_gap(relative(launch.event.start_ns))) return;
  if (launch.event.launch.result != 0) {  // the call failed: no launch, no measurement
    writer_.write(decoder_.launch(launch.thread, launch.event));
    return;
  }
  // In order: a launch whose graph is known waits behind one whose is not.
  if (pending_exact_.empty() ? is_graph_known(launch) : launch.kind != WorkKind::graph)
    return write_exact(launch);
  if (pending_exact_.size() >= kMaxPendingExact) {
    write_exact(pending_exact_.front().launch);
    pending_exact_.pop_front();
  }
  pending_exact_.push_back({now_ns_, launch});
}

bool TraceBuilder::is_graph_known(const ExactLaunch& launch) const {
  return launch.kind != WorkKind::graph || launches_.graph_of(launch.event.correlation) != 0U;
}

void TraceBuilder::put_exact(const Event& event, WorkKind kind, std::uint64_t bytes) {
  const bool is_copy = kind == WorkKind::memcpy || kind == WorkKind::memset;
  const bool expect_record = !(is_copy && bytes == 0);  // a copy of 0 bytes has no record
  edges_.note_launch(event.correlation);
  launches_.put_exact(event.correlation, kind, {event.path, event.range, event.launch.kernel}, expect_record);
}

void TraceBuilder::write_exact(const ExactLaunch& launch) {
  ExactRecord record;
  record.launch = decoder_.launch(launch.thread, launch.event);
  record.kind = launch.kind;
  record.gpu = launch.gpu;
  if (launch.name != 0) record.name = kernels_.intern(recorder_.names.text(launch.name));
  record.grid = launch.grid;
  record.block = launch.block;
  record.bytes = launch.bytes;
  record.counter_range = launch.counter_range;
  record.is_counter_range = launch.is_counter_range;
  record.launches = launch.launches;
  record.kernels = launch.kernels;
  record.exclusive = launch.exclusive;
  record.measured = launch.outcome == CounterOutcome::measured && !shares_counter_range(record);
  record.reason = counter_outcome_text(launch.outcome);
  if (record.measured) read_values(launch, record);
  add_path(record.launch.host.path);
  // Put the launch into the table before its line is written: bad_alloc may lose a line, but no line may be
  // without its launch.
  if (!record.is_counter_range) {  // the launches of a range have lines of their own
    const auto graph =
        launch.kind == WorkKind::graph ? launches_.graph_of(launch.event.correlation) : std::nullopt;
    if (graph) {
      record.bytes_path = graph_nodes_.common_path(*graph);
      add_path(record.bytes_path);
    } else {
      put_exact(launch.event, launch.kind, launch.bytes);
    }
  }
  writer_.write(record);
  totals_.add(record);
}

}  // namespace rangefinder
