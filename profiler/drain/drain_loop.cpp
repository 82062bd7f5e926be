// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/drain_loop.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "profiler/activity/activity_callbacks.h"
#include "profiler/attribution/layer_report.h"
#include "profiler/base/duration.h"
#include "profiler/base/monotonic_clock.h"
#include "profiler/base/out_template.h"
#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/output/atomic_file.h"
#include "profiler/output/process_facts.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kLateRecordSleep{5};
/// As at a window's end.
constexpr std::uint32_t kGapPatienceMs = 5000;
constexpr unsigned kMaxTracesPerPid = 99;  // traces of successive processes with the same process id

/// Runs a step of the loop. False: it threw, which is counted.
template <typename Step>
bool guarded(LossLedger& loss, Step step) noexcept {
  try {
    step();
    return true;
  } catch (...) {
    loss.add(Loss::record_sink_errors);
    return false;
  }
}

}  // namespace

DrainLoop::DrainLoop(Sources sources)
    : from_(std::move(sources)),
      cost_({from_.callback_cost, from_.buffers, from_.exact, from_.sampler, from_.conditions, from_.stacks}),
      schedule_(from_.options.flush_ms * kNsPerMs),
      trace_(from_.recorder, from_.options, from_.cupti == nullptr ? nullptr : &from_.cupti->functions),
      conditions_(from_.conditions, trace_),
      stacks_(from_.stacks, trace_),
      rings_(from_.recorder, trace_, is_late()),
      node_records_(from_.recorder.loss) {}

bool DrainLoop::start() noexcept {
  from_.recorder.graphs.begin_reading();  // before the first launch of the window
  return start_own_thread(
      "rangefinder", [](void* self) { static_cast<DrainLoop*>(self)->run(); }, this);
}

void DrainLoop::run() noexcept {
  LossLedger& loss = from_.recorder.loss;
  bool opened = false;
  if (!guarded(loss, [&] { opened = open(); }))
    (void)guarded(loss, [this] { report_failure("out of memory"); });
  if (opened) {
    while (!progress_.ending()) {
      rings_.sleep(
          schedule_.time_to_sleep(clock_now_ns(), cycle_ ? std::optional(cycle_->next_ns()) : std::nullopt));
      (void)guarded(loss, [this] { turn(clock_now_ns()); });
      (void)guarded(loss, [this] { follow_gap(); });
    }
    if (progress_.end().window_end_ns != 0) (void)guarded(loss, [this] { wait_for_late_records(); });
    // Before the last turn: threads that launch while the process exits are no longer recorded.
    if (!more_windows()) from_.recorder.silent.store(true, std::memory_order_relaxed);
    (void)guarded(loss, [this] { finish(); });
  }
  if (!more_windows()) {
    from_.recorder.silent.store(true, std::memory_order_relaxed);
    if (from_.buffers != nullptr) from_.buffers->close();
  }
  from_.recorder.record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
  from_.recorder.graphs.end_reading();
  progress_.note_ended();
}

Header DrainLoop::header() const {
  Header header = read_process_facts(from_.options.redact);
  header.driver_version = query_driver_version();
  if (from_.cupti != nullptr) {
    header.cupti_version = static_cast<std::int32_t>(from_.cupti->version);
    header.cupti_path = from_.cupti->path;
    // Only now that a context exists: an earlier query would make the runtime initialise the driver.
    header.runtime_version = query_runtime_version();
  }
  header.counters = from_.exact != nullptr     ? "exact"
                    : from_.sampler != nullptr ? "sampled"
                    : from_.options.gpm        ? "gpm"
                                               : "off";
  if (from_.options.monitor.on() && from_.cupti != nullptr) {
    header.monitor_window_ns = static_cast<std::uint64_t>(from_.options.monitor.window_ns);
    header.monitor_period_ns = static_cast<std::uint64_t>(from_.options.monitor.period_ns);
  }
  std::int64_t begin_ns = from_.begin_ns;
  if (from_.begin == Begin::when_ready) begin_ns = std::max(begin_ns, clock_now_ns());
  if (begin_ns != 0) {
    header.base_monotonic_ns -= header.base_unix_ns - begin_ns;
    header.base_unix_ns = begin_ns;
  }
  return header;
}

bool DrainLoop::open() {
  const Header header = this->header();
  const OutTemplateValues values{std::to_string(header.pid), header.host, header.rank};
  const std::string& requested = from_.out.empty() ? from_.options.out : from_.out;
  const ExpandedOut out =
      expand_out_template(requested, values, [](const char* name) { return std::getenv(name); });
  if (!out.problem.empty()) log_info(out.problem);
  if (!open_trace(out.text, names_process(requested), header)) {
    report_failure(trace_.error());
    return false;
  }
  schedule_.begin(header.base_unix_ns);
  progress_.note_flush(header.base_unix_ns);
  if (header.monitor_period_ns != 0) begin_cycle();
  if (is_late()) {
    trace_.builder().begin_late();
    for (const NamingLog::Entry& entry : from_.recorder.naming.entries())
      trace_.builder().on_event(entry.thread, entry.event, {});
  }
  if (from_.begin == Begin::when_ready) begin_when_due();
  conditions_.begin();
  stacks_.begin();
  announce();
  return true;
}

bool DrainLoop::open_trace(const std::string& folder, bool names_process, const Header& header) {
  const std::vector<GpuRecord> gpus = from_.cupti != nullptr ? query_gpus() : std::vector<GpuRecord>{};
  bool opened = trace_.open(folder, header, gpus);
  // The process id was used before: by this process before an exec, or in another container, where process
  // ids are small numbers.
  for (unsigned number = 2; names_process && !opened && trace_.occupied() && number <= kMaxTracesPerPid;
       ++number)
    opened = trace_.open(folder + "-" + std::to_string(number), header, gpus);
  // `rangefinder run` has prepared the folder, so a trace in it is of a process of the same run, parent or
  // child.
  if (!opened && trace_.occupied() && from_.options.run_pid != 0)
    opened = trace_.open(folder + "/pid=" + std::to_string(header.pid), header, gpus);
  return opened;
}

void DrainLoop::report_failure(const std::string& reason) {
  if (!is_late()) say_once(reason + ". The application continues without being recorded.");
  progress_.update([&](Progress& now) { now.error = reason; });
}

void DrainLoop::begin_when_due() {
  for (std::int64_t left_ns = 0; (left_ns = from_.begin_ns - clock_now_ns()) > 0 && !progress_.ending();)
    from_.recorder.sleep_until_woken(std::chrono::nanoseconds(left_ns));
  begin_recording();
}

void DrainLoop::begin_recording() noexcept {
  // Fails if the window was closed meanwhile.
  std::int64_t never = Recorder::kNever;
  const bool begun = from_.recorder.record_until_ns.compare_exchange_strong(never, Recorder::kAlways);
  // Read the clock only now: for work that begins after this, all threads record events and CUPTI's records
  // are on.
  const std::int64_t now_ns = from_.recorder.clock.now_ns();
  rings_.begin(now_ns);
  if (from_.begin == Begin::when_ready && begun)
    progress_.update([&](Progress& now) { now.begin_ns = now_ns; });
}

void DrainLoop::announce() {
  log_info((is_late() ? "a window records into " : "recording into ") + trace_.folder());
  char* const absolute = realpath(trace_.folder().c_str(), nullptr);
  const std::string folder = absolute != nullptr ? absolute : trace_.folder();
  std::free(absolute);
  if (!from_.options.manifest.empty()) (void)append_line(from_.options.manifest, folder + "\n");
  progress_.update([&](Progress& now) {
    now.folder = folder;
    now.opened = true;
  });
}

void DrainLoop::turn(std::int64_t now_ns, bool all_records) {
  const std::uint64_t request = progress_.open_request();
  if (const auto reason = progress_.take_refusal()) {
    trace_.on_counters_refused(*reason);
    // --counters auto: NVML needs no permission for its sum.
    if (!from_.options.counters_requested && from_.conditions != nullptr) from_.conditions->count_dram();
  }
  report_chain_problem();
  from_.recorder.clock.calibrate();
  const bool flush = progress_.take_flush_request();
  if (uses_cupti() && schedule_.begin_request(now_ns, all_records || flush || request != 0))
    request_records();
  if (rings_.read() != 0) schedule_.note_input(now_ns);
  if (!away_) {
    read_exact();
    read_samples();
    read_buffers();
  }
  if (uses_cupti() && (!cycle_ || cycle_->open()))
    node_records_.restart_if_leaking(from_.cupti->functions, trace_.builder().untimed_graph_work(), now_ns);
  if (cycle_ && !progress_.ending()) follow_cycle(false);
  conditions_.turn(!cycle_ || cycle_->open(), from_.recorder.loss);
  stacks_.turn(!cycle_ || cycle_->open(), from_.recorder.loss);
  from_.recorder.threads.recycle();
  const TickChunk tick{clock_now_ns(), monotonic_now_ns()};
  trace_.end_turn(tick, cost());
  if (request != 0) trace_.flush_now(tick, cost());
  if (flush) trace_.flush(tick.now_ns);
  progress_.note_flush(trace_.flushed_ns());
  notify_progress(request);
}

void DrainLoop::report_chain_problem() {
  // Reported here: the chained tool is loaded at the first NVTX call, where nothing may be printed.
  const char* const problem = chain_problem_reported_ ? nullptr : nvtx_chain_problem();
  if (problem == nullptr) return;
  chain_problem_reported_ = true;
  say_once(problem);
}

void DrainLoop::request_records() {
  // CUPTI returns complete records into the pool's queue, on this thread. It does not wait for GPU work.
  const std::int64_t begin_ns = monotonic_now_ns();
  from_.cupti->functions.ActivityFlushAll(0);
  longest_flush_ns_ = std::max(longest_flush_ns_, monotonic_now_ns() - begin_ns);
  if (const std::size_t dropped = dropped_records(from_.cupti->functions); dropped != 0)
    from_.recorder.loss.add(Loss::cupti_dropped_records, dropped);
}

void DrainLoop::flush_last_records() {
  const std::int64_t begin_ns = monotonic_now_ns();
  from_.cupti->functions.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  log_info("the last activity records were flushed in " +
           std::to_string((monotonic_now_ns() - begin_ns) / 1000) + " us");
  rings_.skip_gap();
}

void DrainLoop::read_exact() {
  if (from_.exact == nullptr) return;
  from_.exact->tick(clock_now_ns());
  exact_.clear();
  from_.exact->take(exact_);
  std::erase_if(exact_, [&](const ExactLaunch& launch) { return !rings_.is_of_window(launch.event); });
  announce_metric_sets();  // after take(): the sets of all taken launches exist by then
  if (!exact_.empty()) trace_.builder().on_exact(exact_);
}

void DrainLoop::announce_metric_sets() {
  for (std::uint32_t gpu = 0; gpu < ExactProfiler::kMaxGpus; ++gpu) {
    const CounterConfig* const config = from_.exact->config(gpu);
    if (config == nullptr) continue;
    if (std::find(gpus_with_sets_.begin(), gpus_with_sets_.end(), gpu) != gpus_with_sets_.end()) continue;
    gpus_with_sets_.push_back(gpu);
    const auto& groups = config->plan().groups;
    for (std::size_t group = 0; group < groups.size(); ++group)
      trace_.builder().on_metric_set({metric_set_id(gpu, group), groups[group].name, groups[group].metrics});
  }
}

void DrainLoop::read_samples() {
  if (from_.sampler == nullptr) return;
  from_.sampler->take([this](const PmRecord& record) { trace_.builder().on_samples(record); });
}

void DrainLoop::read_buffers() {
  if (from_.buffers == nullptr) return;
  from_.buffers->make_ready();
  TraceBuilder& builder = trace_.builder();
  // Bounded: an application that launches faster than we write would keep us in this loop.
  for (std::size_t taken = 0; taken < from_.buffers->capacity(); ++taken) {
    const FilledBuffer buffer = from_.buffers->next();
    if (buffer.data == nullptr) return;
    (void)guarded(from_.recorder.loss, [&] {
      if (auto* const recording = trace_.recording()) recording->activity(buffer.data, buffer.valid_bytes);
      builder.on_decoded(decode_activity(from_.cupti->functions, buffer.data, buffer.valid_bytes, builder));
    });
    from_.buffers->give_back(buffer);
    (void)rings_.read();  // a busy thread fills its ring while we decode 2 MiB of records
  }
}

void DrainLoop::begin_cycle() {
  cycle_.emplace(
      from_.options.monitor, clock_now_ns(),
      [this](bool on) { switch_work_records(from_.cupti->functions, from_.options.graphs, on); },
      clock_now_ns);
  trace_.builder().monitor(*cycle_);
}

void DrainLoop::follow_cycle(bool last) {
  const std::int64_t begin_ns = cycle_->period_begin_ns();
  const std::int64_t now_ns = last ? end_ns() : clock_now_ns();
  std::uint64_t window_ns = cycle_->window_ns(now_ns);
  if (!last) {
    if (cycle_->turn() == MonitorCycle::Change::period_ended)
      trace_.builder().end_period(begin_ns, cycle_->period_begin_ns(), window_ns);
    return;
  }
  // Every window has the same weight in the rates, so a short last one must not count.
  if (window_ns < static_cast<std::uint64_t>(from_.options.monitor.window_ns) / 2) window_ns = 0;
  trace_.builder().end_period(begin_ns, std::max(now_ns, begin_ns), window_ns);
}

std::int64_t DrainLoop::end_ns() const noexcept {
  const std::int64_t window_end_ns = progress_.end().window_end_ns;
  return window_end_ns != 0 ? window_end_ns : clock_now_ns();
}

// Work launched before the window's end may still run: waits for its records.
void DrainLoop::wait_for_late_records() {
  const DrainProgress::End& end = progress_.end();
  trace_.builder().end_window(end.window_end_ns);
  rings_.end(end.window_end_ns);
  wait_for_records(away_ ? 0 : end.patience_ms);
}

void DrainLoop::wait_for_records(std::uint32_t patience_ms) {
  const std::int64_t deadline_ns = monotonic_now_ns() + patience_ms * kNsPerMs;
  // At least twice: calls that were in progress at the end emit their events a little later.
  for (int turns = 0; turns < 2 || (!trace_.builder().all_joined() && monotonic_now_ns() < deadline_ns);
       ++turns) {
    if (progress_.exiting()) return;
    from_.recorder.sleep_until_woken(kLateRecordSleep);
    turn(clock_now_ns(), true);
  }
}

void DrainLoop::follow_gap() {
  switch (progress_.gap()) {
    case Gap::requested: {
      // Read the clock only now: no launch that began later has been read.
      const std::int64_t start_ns = from_.recorder.clock.now_ns();
      trace_.builder().begin_gap(start_ns);
      return progress_.begin_gap(start_ns);
    }
    case Gap::quiet:
      return leave_cupti();
    case Gap::over:
    case Gap::kept:
      end_gap(from_.recorder.clock.now_ns());
      return progress_.move_gap(Gap::none);
    default:
      return;
  }
}

void DrainLoop::leave_cupti() {
  wait_for_records(kGapPatienceMs);
  if (progress_.exiting()) return;
  flush_last_records();
  turn(clock_now_ns());
  away_ = true;
  progress_.move_gap(Gap::away);
}

void DrainLoop::finish() {
  const std::int64_t now_ns = end_ns();
  from_.recorder.threads.for_each([&](ThreadState& state) { state.close_all(now_ns); });
  nvtx_close_all(now_ns);
  if (uses_cupti()) flush_last_records();
  stacks_.end();
  turn(clock_now_ns(), true);
  conditions_.end();
  if (const Gap gap = progress_.gap(); gap != Gap::none && gap != Gap::requested) end_gap(now_ns);
  if (cycle_) follow_cycle(true);
  EndFacts end;
  end.now_ns = clock_now_ns();
  end.own_cost = cost();
  const auto loss = from_.recorder.loss.snapshot();
  std::copy_n(loss.begin(), end.loss.size(), end.loss.begin());
  trace_.finish(end, progress_.end().reason);
  notify_progress(progress_.open_request());
  if (!trace_.summary_error().empty()) say_once(trace_.summary_error() + ". The trace has no summary.");
  report();
}

void DrainLoop::notify_progress(std::uint64_t fulfilled) {
  if (!write_error_reported_ && !trace_.error().empty()) {
    write_error_reported_ = true;
    say_once(trace_.error() + ". The application continues; lost lines are counted.");
  }
  progress_.update([&](Progress& now) {
    now.records = trace_.records();
    now.bytes_written = trace_.bytes_written();
    if (fulfilled == 0) return;
    now.written = fulfilled;
    now.summary = trace_.summary();
  });
}

void DrainLoop::report() {
  if (from_.options.report.empty()) return;
  const std::string text = layer_report(trace_.layer_summary(), {.folder = trace_.folder()});
  if (from_.options.report == "stderr") {
    (void)!write(STDERR_FILENO, text.data(), text.size());
  } else if (!write_atomically(from_.options.report, text)) {
    say_once("cannot write the report to " + from_.options.report);
  }
}

OwnCost DrainLoop::cost() const {
  OwnCost cost = cost_.of_window();
  cost.drain_longest_ns = static_cast<std::uint64_t>(rings_.longest_gap_ns());
  cost.flush_longest_ns = static_cast<std::uint64_t>(longest_flush_ns_);
  cost.bytes_written = trace_.bytes_written();
  return cost;
}

std::uint64_t DrainLoop::request_write() noexcept {
  const std::uint64_t number = progress_.request_write();
  from_.recorder.wake_drain();
  return number;
}

void DrainLoop::end_window(const char* reason, std::int64_t end_ns, std::uint32_t patience_ms) noexcept {
  progress_.request_end({reason, end_ns, patience_ms});
  from_.recorder.wake_drain();
}

void DrainLoop::stop(const char* reason, std::uint32_t patience_ms) noexcept {
  progress_.request_end({.reason = reason});
  from_.recorder.wake_drain();
  progress_.wait_until_ended(patience_ms);
}

}  // namespace rangefinder
