// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/drain_thread.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "profiler/attribution/layer_report.h"
#include "profiler/base/duration.h"
#include "profiler/base/monotonic_clock.h"
#include "profiler/base/out_template.h"
#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"
#include "profiler/guest/thread_cpu.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/output/atomic_file.h"
#include "profiler/output/process_facts.h"
#include "profiler/output/summary.h"

namespace rangefinder {
namespace {

/// A thread that emits this many events between two reads would fill its first ring while the disk or CUPTI
/// takes 80 ms.
constexpr std::size_t kBusyEvents = EventRing::kSlots / 8;
constexpr std::int64_t kFirstRequestNs = 100 * kNsPerMs;  // in an interactive window

}  // namespace

DrainThread::DrainThread(Sources sources)
    : from_(std::move(sources)),
      cost_before_(cost_of_all_windows()),
      drain_(from_.recorder, from_.options, from_.cupti == nullptr ? nullptr : &from_.cupti->functions),
      node_records_(from_.recorder.loss) {}

bool DrainThread::start() noexcept {
  return start_own_thread(
      "rangefinder", [](void* self) { static_cast<DrainThread*>(self)->run(); }, this);
}

bool DrainThread::guarded(LossLedger& loss, const std::function<void()>& step) noexcept {
  try {
    step();
    return true;
  } catch (...) {
    loss.add(Loss::record_sink_errors);
    return false;
  }
}

void DrainThread::run() noexcept {
  LossLedger& loss = from_.recorder.loss;
  bool opened = false;
  if (!guarded(loss, [&] { opened = open(); }))
    (void)guarded(loss, [this] { report_failure("out of memory"); });
  if (opened) {
    while (!stopping_.load(std::memory_order_acquire)) {
      sleep();
      (void)guarded(loss, [this] { turn(clock_now_ns()); });
    }
    if (window_end_ns_ != 0) (void)guarded(loss, [this] { wait_for_late_records(); });
    // Before the last turn: threads that launch while the process exits are no longer recorded.
    if (!more_windows()) from_.recorder.silent.store(true, std::memory_order_relaxed);
    (void)guarded(loss, [this] { finish(); });
  }
  if (!more_windows()) {
    from_.recorder.silent.store(true, std::memory_order_relaxed);
    if (from_.buffers != nullptr) from_.buffers->close();
  }
  from_.recorder.record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

bool DrainThread::open() {
  Header header = read_process_facts(from_.options.redact);
  header.driver_version = query_driver_version();
  if (from_.cupti != nullptr) {
    header.cupti_version = static_cast<std::int32_t>(from_.cupti->version);
    header.cupti_path = from_.cupti->path;
    // Only now that a context exists: an earlier query would make the runtime initialise the driver.
    header.runtime_version = query_runtime_version();
  }
  header.counters = from_.exact != nullptr ? "exact" : from_.sampler != nullptr ? "sampled" : "off";
  if (from_.options.monitor.on() && from_.cupti != nullptr) {
    header.monitor_window_ns = static_cast<std::uint64_t>(from_.options.monitor.window_ns);
    header.monitor_period_ns = static_cast<std::uint64_t>(from_.options.monitor.period_ns);
  }
  const OutTemplateValues values{std::to_string(header.pid), header.host, header.rank};
  if (from_.begin_ns != 0 || from_.begins_when_ready) {
    const std::int64_t begin_ns =
        from_.begins_when_ready ? std::max(from_.begin_ns, clock_now_ns()) : from_.begin_ns;
    header.base_monotonic_ns -= header.base_unix_ns - begin_ns;
    header.base_unix_ns = begin_ns;
  }
  const std::string& requested_out = from_.out.empty() ? from_.options.out : from_.out;
  const ExpandedOut out =
      expand_out_template(requested_out, values, [](const char* name) { return std::getenv(name); });
  if (!out.problem.empty()) log_info(out.problem);
  const std::vector<GpuRecord> gpus = from_.cupti != nullptr ? query_gpus() : std::vector<GpuRecord>{};
  if (!open_trace(out.text, names_process(requested_out), header, gpus)) {
    report_failure(drain_.error());
    return false;
  }
  last_input_ns_ = last_request_ns_ = header.base_unix_ns;
  if (header.monitor_period_ns != 0) begin_cycle();
  if (from_.late) {
    drain_.begin_late();
    last_request_ns_ -= from_.options.flush_ms * kNsPerMs - kFirstRequestNs;
    for (NamingLog::Entry& entry : from_.recorder.naming.entries()) {
      entry.event.range = 0;  // a range of an earlier window has no line in this trace
      drain_.on_event(entry.thread, entry.event, {});
    }
  }
  if (from_.begins_when_ready) begin_when_due();
  announce();
  return true;
}

void DrainThread::turn(std::int64_t now_ns) {
  if (has_refusal_.exchange(false, std::memory_order_acquire)) {
    std::string reason;
    {
      const std::lock_guard lock(mutex_);
      reason = refusal_;
    }
    drain_.on_counters_refused(reason);
  }
  report_chain_problem();
  from_.recorder.clock.calibrate();
  request_records(now_ns);
  if (read_rings() != 0) last_input_ns_ = now_ns;
  read_exact();
  read_samples();
  read_buffers();
  if (from_.cupti != nullptr && (!cycle_ || cycle_->open()))
    node_records_.look(from_.cupti->functions, drain_.untimed_graph_work(), now_ns);
  if (cycle_ && !stopping_.load(std::memory_order_relaxed)) follow_cycle(false);
  from_.recorder.threads.recycle();
  const std::uint64_t requested = write_requested_.load(std::memory_order_acquire);
  const TickChunk tick{clock_now_ns(), monotonic_now_ns()};
  drain_.end_turn(tick, cost());
  if (requested != written_) {
    written_ = requested;
    drain_.flush_now(tick, cost());
  }
  notify_progress();
}

void DrainThread::report_chain_problem() {
  // Reported here: the chained tool is loaded at the first NVTX call, where nothing may be printed.
  const char* const problem = chain_problem_reported_ ? nullptr : nvtx_chain_problem();
  if (problem == nullptr) return;
  chain_problem_reported_ = true;
  say_once(problem);
}

std::size_t DrainThread::read_rings() {
  const std::int64_t from_ns = record_from_ns_.load(std::memory_order_acquire);
  if (from_.late && from_ns == 0) return 0;
  std::size_t events = 0;
  note_rings_read(monotonic_now_ns());
  from_.recorder.threads.for_each([&](ThreadState& state) {
    EventRing& ring = state.ring();
    if (ring.empty()) return;
    const std::uint32_t thread = state.thread();
    if (std::find(named_threads_.begin(), named_threads_.end(), thread) == named_threads_.end()) {
      // Unless the application names the thread, its name is the one in /proc (comm).
      named_threads_.push_back(thread);
      Event name{};
      name.kind = EventKind::thread_name;
      name.thread.id = thread;
      std::string comm = thread_comm(thread);
      if (comm.empty()) comm = state.first_comm();  // the thread has ended
      name.thread.name = from_.recorder.names.intern(comm);
      drain_.on_event(thread, name, {});
    }
    const std::size_t read = ring.drain([&](const Event& event) {
      if (!is_of_window(event, from_ns)) return;
      extra_.resize(event.extra_bytes);
      if (event.extra_bytes != 0) ring.extra(extra_.data(), extra_.size());
      drain_.on_event(thread, event, extra_);
    });
    if (read >= kBusyEvents) from_.recorder.threads.enlarge(state);
    events += read;
  });
  return events;
}

void DrainThread::read_exact() {
  if (from_.exact == nullptr) return;
  const std::int64_t from_ns = record_from_ns_.load(std::memory_order_acquire);
  from_.exact->tick(clock_now_ns());
  exact_.clear();
  from_.exact->take(exact_);
  std::erase_if(exact_, [&](const ExactLaunch& launch) { return !is_of_window(launch.event, from_ns); });
  announce_metric_sets();  // after take(): the sets of all taken launches exist by then
  if (!exact_.empty()) drain_.on_exact(exact_);
}

void DrainThread::announce_metric_sets() {
  for (std::uint32_t gpu = 0; gpu < ExactProfiler::kMaxGpus; ++gpu) {
    const CounterConfig* const config = from_.exact->config(gpu);
    if (config == nullptr) continue;
    if (std::find(gpus_with_sets_.begin(), gpus_with_sets_.end(), gpu) != gpus_with_sets_.end()) continue;
    gpus_with_sets_.push_back(gpu);
    const auto& groups = config->plan().groups;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      drain_.on_metric_set({metric_set_id(gpu, group), groups[group].name, groups[group].metrics});
    }
  }
}

void DrainThread::read_samples() {
  if (from_.sampler == nullptr) return;
  from_.sampler->take([this](const PmRecord& record) { drain_.on_samples(record); });
}

void DrainThread::read_buffers() {
  if (from_.buffers == nullptr) return;
  from_.buffers->make_ready();
  // Bounded: an application that launches faster than we write would keep us in this loop.
  for (std::size_t taken = 0; taken < from_.buffers->capacity(); ++taken) {
    const FilledBuffer buffer = from_.buffers->next();
    if (buffer.data == nullptr) return;
    (void)guarded(from_.recorder.loss, [&] { drain_.on_activity(buffer.data, buffer.valid_bytes); });
    from_.buffers->give_back(buffer);
    (void)read_rings();  // a busy thread fills its ring while we decode 2 MiB of records
  }
}

OwnCost DrainThread::cost() const {
  OwnCost cost = cost_of_all_windows();
  cost.launch_callbacks -= cost_before_.launch_callbacks;
  cost.exact_ns -= cost_before_.exact_ns;
  cost.exact_batches -= cost_before_.exact_batches;
  cost.sampler_cpu_ns -= cost_before_.sampler_cpu_ns;
  cost.samples -= cost_before_.samples;
  cost.drain_cpu_ns = thread_cpu_ns();
  cost.drain_longest_ns = static_cast<std::uint64_t>(longest_gap_ns_);
  cost.flush_longest_ns = static_cast<std::uint64_t>(longest_flush_ns_);
  cost.bytes_written = drain_.bytes_written();
  return cost;
}

void DrainThread::finish() {
  const std::int64_t now_ns = window_end_ns_ != 0 ? window_end_ns_ : clock_now_ns();
  from_.recorder.threads.for_each([&](ThreadState& state) { state.close_all(now_ns); });
  nvtx_close_all(now_ns);
  if (from_.cupti != nullptr) flush_last_records();
  last_request_ns_ = 0;
  turn(clock_now_ns());
  if (cycle_) follow_cycle(true);
  EndFacts end;
  end.now_ns = clock_now_ns();
  end.own_cost = cost();
  const auto loss = from_.recorder.loss.snapshot();
  std::copy_n(loss.begin(), end.loss.size(), end.loss.begin());
  drain_.finish(end, reason_);
  written_ = write_requested_.load(std::memory_order_acquire);
  notify_progress();
  if (!drain_.summary_error().empty()) say_once(drain_.summary_error() + ". The trace has no summary.");
  report();
}

void DrainThread::report() {
  if (from_.options.report.empty()) return;
  const std::string text = layer_report(drain_.layer_summary(), {.folder = drain_.folder()});
  if (from_.options.report == "stderr") {
    (void)!write(STDERR_FILENO, text.data(), text.size());
  } else if (!write_atomically(from_.options.report, text)) {
    say_once("cannot write the report to " + from_.options.report);
  }
}

void DrainThread::stop(const char* reason, std::uint32_t patience_ms) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_.load(std::memory_order_relaxed)) {
      reason_ = reason;
      stopping_.store(true, std::memory_order_release);
    }
    hurry_.store(true, std::memory_order_release);
  }
  from_.recorder.wake_drain();
  std::unique_lock lock(mutex_);
  ended_changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [this] { return ended_; });
}

}  // namespace rangefinder
