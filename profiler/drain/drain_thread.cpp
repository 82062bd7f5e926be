// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/drain_thread.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "profiler/attribution/layer_report.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/log.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/output/process_facts.h"
#include "profiler/output/summary.h"
#include "profiler/own_thread.h"
#include "schema/out_template.h"

namespace rangefinder {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::chrono::milliseconds kBusySleep{10};
constexpr std::chrono::milliseconds kQuietSleep{100};
constexpr std::int64_t kQuietAfterNs = 1'000'000'000;
/// A quiet program is asked for late records this often.
constexpr std::int64_t kQuietAskNs = 5'000'000'000;

std::uint64_t thread_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

bool append_line(const std::string& path, const std::string& line) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool whole = write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(file);
  return whole;
}

}  // namespace

DrainThread::DrainThread(Sources sources)
    : from_(std::move(sources)),
      drain_(from_.recorder, from_.options, from_.cupti == nullptr ? nullptr : &from_.cupti->functions) {}

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
  if (guarded(loss, [&] { opened = open(); }) && opened) {
    while (!stopping_.load(std::memory_order_acquire)) {
      const std::int64_t now_ns = clock_now_ns();
      from_.recorder.sleep_until_woken(now_ns - last_input_ns_ < kQuietAfterNs ? kBusySleep : kQuietSleep);
      (void)guarded(loss, [this] { turn(clock_now_ns()); });
    }
    // Before the last turn: threads that launch while the program exits are not followed any more.
    from_.recorder.silent.store(true, std::memory_order_relaxed);
    (void)guarded(loss, [this] { finish(); });
  }
  from_.recorder.silent.store(true, std::memory_order_relaxed);
  if (from_.buffers != nullptr) from_.buffers->close();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

bool DrainThread::open() {
  Header header = read_process_facts();
  header.driver_version = query_driver_version();
  if (from_.cupti != nullptr) {
    header.cupti_version = static_cast<std::int32_t>(from_.cupti->version);
    header.cupti_path = from_.cupti->path;
    // Only now that a context exists: a runtime that is asked earlier would initialise the driver itself.
    header.runtime_version = query_runtime_version();
  }
  header.counters = from_.exact != nullptr ? "exact" : from_.sampler != nullptr ? "sampled" : "off";
  const OutTemplateValues values{std::to_string(header.pid), header.host, header.rank};
  const ExpandedOut out =
      expand_out_template(from_.options.out, values, [](const char* name) { return std::getenv(name); });
  if (!out.problem.empty()) log_info(out.problem);
  if (!drain_.open(out.text, header, from_.cupti != nullptr ? query_gpus() : std::vector<GpuRecord>{})) {
    say_once(drain_.error() + ". The program runs on without being recorded.");
    return false;
  }
  last_input_ns_ = last_ask_ns_ = header.base_unix_ns;
  announce();
  return true;
}

void DrainThread::announce() {
  log_info("recording into " + drain_.folder());
  if (!from_.options.manifest.empty()) {
    char* const absolute = realpath(drain_.folder().c_str(), nullptr);
    (void)append_line(from_.options.manifest,
                      std::string(absolute != nullptr ? absolute : drain_.folder().c_str()) + "\n");
    std::free(absolute);
  }
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
  tell_chain_problem();
  ask_for_records(now_ns);
  if (read_rings() != 0) last_input_ns_ = now_ns;
  read_exact();
  read_samples();
  read_buffers();
  from_.recorder.threads.recycle();
  drain_.end_turn({clock_now_ns(), monotonic_now_ns()}, cost());
}

void DrainThread::tell_chain_problem() {
  // The tool is loaded at the first NVTX call, where nothing may be printed.
  const char* const problem = told_chain_problem_ ? nullptr : nvtx_chain_problem();
  if (problem == nullptr) return;
  told_chain_problem_ = true;
  say_once(problem);
}

std::size_t DrainThread::read_rings() {
  std::size_t events = 0;
  from_.recorder.threads.for_each([&](ThreadState& state) {
    EventRing& ring = state.ring();
    if (ring.empty()) return;
    const std::uint32_t thread = state.thread();
    if (std::find(named_threads_.begin(), named_threads_.end(), thread) == named_threads_.end()) {
      // Unless the application names the thread, it goes by the name the kernel knows.
      named_threads_.push_back(thread);
      Event name{};
      name.kind = EventKind::thread_name;
      name.c = thread;
      std::string comm = thread_comm(thread);
      if (comm.empty()) comm = state.first_comm();  // it has ended
      name.b = from_.recorder.names.intern(comm);
      drain_.on_event(thread, name, {});
    }
    events += ring.drain([&](const Event& event) {
      extra_.resize(event.extra_bytes);
      if (event.extra_bytes != 0) ring.extra(extra_.data(), extra_.size());
      drain_.on_event(thread, event, extra_);
    });
  });
  return events;
}

void DrainThread::read_exact() {
  if (from_.exact == nullptr) return;
  from_.exact->tick(clock_now_ns());
  exact_.clear();
  from_.exact->take(exact_);
  announce_metric_sets();  // after that: what was taken was measured with sets that are there by now
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
  samples_.clear();
  from_.sampler->take(samples_);
  if (!samples_.empty()) drain_.on_samples(samples_);
}

void DrainThread::read_buffers() {
  if (from_.buffers == nullptr) return;
  // Not until none is left: a program that launches faster than we write would keep us here.
  for (std::uint32_t taken = 0; taken < from_.options.buffers; ++taken) {
    const FilledBuffer buffer = from_.buffers->next();
    if (buffer.data == nullptr) return;
    (void)guarded(from_.recorder.loss, [&] { drain_.on_activity(buffer.data, buffer.valid_bytes); });
    from_.buffers->give_back(buffer);
  }
}

void DrainThread::ask_for_records(std::int64_t now_ns) {
  if (from_.cupti == nullptr) return;
  const bool quiet = now_ns - last_input_ns_ > kQuietAfterNs;
  if (now_ns - last_ask_ns_ < (quiet ? kQuietAskNs : from_.options.flush_ms * kNsPerMs)) return;
  last_ask_ns_ = now_ns;
  // Hands back what is complete, into the pool's queue, on this thread; waits for no GPU work.
  from_.cupti->functions.ActivityFlushAll(0);
  std::size_t dropped = 0;
  if (from_.cupti->functions.ActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS &&
      dropped != 0) {
    from_.recorder.loss.add(Loss::cupti_dropped_records, dropped);
  }
}

OwnCost DrainThread::cost() const {
  OwnCost cost = from_.cost ? from_.cost() : OwnCost{};
  cost.drain_cpu_ns = thread_cpu_ns();
  cost.bytes_written = drain_.bytes_written();
  if (from_.buffers != nullptr) {
    cost.activity_buffers_peak = from_.buffers->peak_in_flight();
    cost.activity_buffer_bytes = BufferPool::kBufferBytes;
  }
  if (from_.exact != nullptr) {
    cost.exact_ns = from_.exact->held_ns();
    cost.exact_batches = from_.exact->batches();
  }
  if (from_.sampler != nullptr) {
    cost.sampler_cpu_ns = from_.sampler->cpu_ns();
    cost.samples = from_.sampler->samples();
  }
  return cost;
}

void DrainThread::finish() {
  const std::int64_t now_ns = clock_now_ns();
  from_.recorder.threads.for_each([&](ThreadState& state) { state.close_all(now_ns); });
  nvtx_close_all(now_ns);
  if (from_.cupti != nullptr) from_.cupti->functions.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  last_ask_ns_ = 0;
  turn(now_ns);
  EndChunk end;
  end.now_ns = clock_now_ns();
  end.own_cost = cost();
  end.loss = from_.recorder.loss.snapshot();
  drain_.finish(end, reason_);
  report();
}

void DrainThread::report() {
  if (from_.options.report.empty()) return;
  const nlohmann::json summary = nlohmann::json::parse(drain_.summary(), nullptr, false);
  const std::string text = layer_report(summary, {.folder = drain_.folder()});
  if (from_.options.report == "stderr") {
    (void)!write(STDERR_FILENO, text.data(), text.size());
  } else if (!write_atomically(from_.options.report, text)) {
    say_once("cannot write the report to " + from_.options.report);
  }
}

void DrainThread::stop(const char* reason, std::uint32_t patience_ms) noexcept {
  if (!stopping_.load(std::memory_order_relaxed)) {
    reason_ = reason;
    stopping_.store(true, std::memory_order_release);
  }
  from_.recorder.wake_drain();
  std::unique_lock lock(mutex_);
  ended_changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [this] { return ended_; });
}

void DrainThread::tell_refusal(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    refusal_ = reason;
  } catch (...) {
  }
  has_refusal_.store(true, std::memory_order_release);
}

}  // namespace rangefinder
