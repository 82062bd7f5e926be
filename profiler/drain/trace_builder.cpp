// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/trace_builder.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "profiler/guest/log.h"
#include "schema/key_names.h"

namespace rangefinder {

TraceBuilder::TraceBuilder(Recorder& recorder, KernelNames& kernels, TraceWriter& writer,
                           std::int64_t base_unix_ns)
    : recorder_(recorder),
      kernels_(kernels),
      writer_(writer),
      decoder_(base_unix_ns),
      exact_(recorder, kernels, launches_),
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
std::optional<LaunchTable::Found> TraceBuilder::launch_of(Record& record) {
  GpuWork& work = record.work;
  if constexpr (std::is_same_v<Record, GraphRecord>) {
    if (record.launcher != 0) {
      const auto launch = launches_.find_device_launch(record.launcher, work.graph, work.start_ns);
      if (launch) work.correlation = launch->correlation;
      return launch;
    }
  }
  const bool of_graph = work.graph != 0 || work.graph_node != 0;
  if (of_graph && work.correlation == 0) {
    const auto launch = launches_.find_body(work.graph, work.start_ns);
    if (launch) work.correlation = launch->correlation;
    return launch;
  }
  // A record of a whole graph names no node: its bytes stay at the launch's path.
  const std::uint32_t graph = work.graph_node != 0 ? work.graph : LaunchTable::kSeveralGraphs;
  return launches_.find(work.correlation, of_graph, of_graph ? graph : 0);
}

template <typename Record>
bool TraceBuilder::join(Record& record) {
  GpuWork& work = record.work;
  const auto launch = launch_of(record);
  if (!launch) return false;
  work.path = launch->path;
  work.range = launch->range;
  name_kernel(record, launch->kernel);
  if (work.graph_node == 0) return true;
  const NodeOrigin made = launch->graph != nullptr
                              ? launch->graph->at(static_cast<std::uint32_t>(work.graph_node))
                              : recorder_.graphs.origin(work.graph_node);
  if (!made.known) {
    recorder_.loss.add(Loss::graph_nodes_unseen);
    return true;
  }
  name_kernel(record, made.kernel);
  if (made.path != 0) {
    work.path = made.path;
    work.range = made.range;
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
  const std::int64_t pending_ns = !exact_.in_use() ? kPendingNs : kPendingExactNs;
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
  write_exact_lines(pending_ns);
}

void TraceBuilder::expire_all() {
  for (Pending& pending : pending_) expire(pending);
  pending_.clear();
  write_exact_lines(-1);
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
  return exact_.in_use() && kernel.name != nullptr && std::strcmp(kernel.name, "WaitNs") == 0 &&
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

void TraceBuilder::on_host_function(HostFunctionRecord function) {
  function.wait.start_ns = relative(function.wait.start_ns);
  function.wait.end_ns = relative(function.wait.end_ns);
  if (function.wait.graph_node != 0) {
    struct Node {
      GpuWork work;
    } node{function.wait};
    (void)join(node);  // the launch's event came long before the node's end
    function.wait = node.work;
  }
  add_path(function.wait.path);
  writer_.write(function);
}

void TraceBuilder::on_overhead(OverheadRecord overhead, void* details) {
  std::free(details);
  overhead.start_ns = relative(overhead.start_ns);
  overhead.end_ns = relative(overhead.end_ns);
  writer_.write(overhead);
}

void TraceBuilder::on_decoded(const DecodeResult& result) noexcept {
  if (result.unknown != 0) recorder_.loss.add(Loss::records_corrupt, result.unknown);
  if (result.corrupt) recorder_.loss.add(Loss::records_corrupt);
}

void TraceBuilder::on_samples(const PmRecord& record) {
  if (recording_ != nullptr) recording_->samples(record);
  std::visit([this](const auto& one) { add(one); }, record);
}

void TraceBuilder::add(SamplesRecord samples) {
  for (SampleRun& run : samples.runs) {
    run.start_ns = relative(run.start_ns);
    run.end_ns = relative(run.end_ns);
  }
  writer_.write(samples);
  if (sharing_ != nullptr) sharing_->add(samples);
}

void TraceBuilder::add(SamplingRecord sampling) {
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
  const bool expect_record = (event.flags & kLaunchCaptured) == 0 && !(is_copy && event.launch.bytes == 0);
  edges_.note_launch(event.correlation);
  const auto work = static_cast<WorkKind>(kind);
  const LaunchOrigin origin{event.path, event.range, event.launch.kernel};
  GraphLaunch graph = graph_launch(event, work);
  // The body of a conditional node need not run.
  if (at_edge || (graph.graph != nullptr && graph.graph->has_bodies()))
    return launches_.put_at_edge(event.correlation, work, origin, std::move(graph));
  launches_.put(event.correlation, work, origin, expect_record, std::move(graph));
}

GraphLaunch TraceBuilder::graph_launch(const Event& event, WorkKind kind) {
  if (kind != WorkKind::graph) return {};
  return {event.launch.bytes != 0 ? recorder_.graphs.find(event.launch.bytes) : nullptr,
          relative(event.start_ns)};
}

// Old recordings: executables are unknown, and a record's graph is its executable.
void TraceBuilder::on_graph_node(const Event& event) {
  const NodeOrigin origin{event.path, event.graph.kernel, event.range, true, true};
  recorder_.graphs.node_created(old_graphs_, event.graph.node, origin);
  if (event.graph.original != 0)
    recorder_.graphs.node_cloned(old_graphs_, event.graph.node, event.graph.original);
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
  const std::int64_t ns = hold.end_ns - hold.start_ns;
  if (logs_debug() && ns >= kNsPerMs)
    log_debug("thread " + std::to_string(thread) + " was held for " + std::to_string(ns / kNsPerMs) +
              " ms: " + std::string(to_text(hold.cause)));
  if (ns > 0) held_ns_ += static_cast<std::uint64_t>(ns);
  writer_.write(hold);
  totals_.add(hold);
}

void TraceBuilder::on_category(const Event& event) {
  const CategoryRecord category{event.nvtx.domain, event.nvtx.category,
                                std::string(recorder_.names.text(event.nvtx.name))};
  writer_.add_category(category);
  totals_.add_category(category);
}

void TraceBuilder::record(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  if (event.kind == EventKind::launch && EventDecoder::api_of(event).kind == ApiClass::graph) {
    if (const auto graph = recorder_.graphs.find(event.launch.bytes)) recording_->launched(*graph);
  }
  recording_->event(thread, event, extra);
}

void TraceBuilder::on_event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  if (omits_sources_ && has_source_lines(event.kind)) return;
  if (recording_ != nullptr) record(thread, event, extra);
  if (MonitorCycle::omits(event.kind) && place(event) == MonitorCycle::Place::outside) return;
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
    case EventKind::kernel_origin:
      return writer_.add_kernel_origin(event.path, event.origin);
    case EventKind::module_source:
      return writer_.add_module_source(
          event.path, event.source.module,
          {event.source.class_file, event.source.class_line, event.source.call_file, event.source.call_line});
    case EventKind::graph_node:
      return on_graph_node(event);
    case EventKind::hold:
      return on_hold(thread, event);
    case EventKind::none:
      return;
  }
}

void TraceBuilder::put_exact(const Event& event, WorkKind kind, std::uint64_t bytes) {
  const bool is_copy = kind == WorkKind::memcpy || kind == WorkKind::memset;
  const bool expect_record = !(is_copy && bytes == 0);  // a copy of 0 bytes has no record
  edges_.note_launch(event.correlation);
  GraphLaunch graph = graph_launch(event, kind);
  const bool may_run_nothing = graph.graph != nullptr && graph.graph->has_bodies();
  launches_.put_exact(event.correlation, kind, {event.path, event.range, event.launch.kernel},
                      expect_record && !may_run_nothing, std::move(graph));
}

void TraceBuilder::on_metric_set(const MetricSetRecord& set) {
  if (recording_ != nullptr) recording_->metric_set(set);
  totals_.expect_exact_lines();
  launches_.expect_exact();
  if (const auto line = exact_.add(set)) writer_.add_metric_set(*line);
}

void TraceBuilder::on_exact(std::span<const ExactLaunch> launches) {
  if (recording_ != nullptr) recording_->exact(launches);
  for (const ExactLaunch& launch : launches) add(launch);
}

void TraceBuilder::add(const ExactLaunch& launch) {
  if (edges_.in_gap(relative(launch.event.start_ns))) return;
  if (launch.event.launch.result != 0) {  // the call failed: no launch, no measurement
    writer_.write(decoder_.launch(launch.thread, launch.event));
    return;
  }
  if (!exact_.waits(launch)) return write_exact(launch);
  exact_.put(launch, now_ns_);
  if (exact_.waiting() > kMaxPendingExact) write_exact(exact_.pop());
}

void TraceBuilder::write_exact_lines(std::int64_t pending_ns) {
  while (exact_.waiting() != 0 && exact_.is_due(now_ns_ - pending_ns)) write_exact(exact_.pop());
}

void TraceBuilder::write_exact(const ExactLaunch& launch) {
  ExactRecord record = exact_.record(launch, decoder_);
  add_path(record.launch.host.path);
  // Put the launch into the table before its line is written: bad_alloc may lose a line, but no line may be
  // without its launch.
  if (!record.is_counter_range) {  // the launches of a range have lines of their own
    if (launch.kind == WorkKind::graph && launches_.graph_of(launch.event.correlation)) {
      record.bytes_path = exact_.common_path(launch.event.correlation);
      add_path(record.bytes_path);
    } else {
      put_exact(launch.event, launch.kind, launch.bytes);
    }
  }
  writer_.write(record);
  totals_.add(record);
}

}  // namespace rangefinder
