// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/trace_files.h"

#include <cerrno>
#include <cstring>

#include "profiler/base/duration.h"
#include "profiler/output/atomic_file.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

constexpr std::int64_t kClockNs = 1'000'000'000;

}  // namespace

TraceFiles::TraceFiles(Recorder& recorder, const Options& options, const CuptiFunctions* cupti)
    : recorder_(recorder),
      options_(options),
      cupti_(cupti),
      kernels_(recorder.loss, options.communication),
      segments_({options.segment_bytes, options.max_bytes, options.keep_last}, recorder.loss),
      writer_(recorder, segments_, kernels_),
      flush_interval_(options.flush_ms * kNsPerMs) {}

bool TraceFiles::open(const std::string& folder, const Header& header, const std::vector<GpuRecord>& gpus) {
  // Allocate first: bad_alloc must not leave an empty folder.
  builder_ = std::make_unique<TraceBuilder>(recorder_, kernels_, writer_, header.base_unix_ns);
  if (options_.redact) builder_->omit_sources();
  // `rangefinder run` has prepared the folder: a trace in it is of another process of the same run.
  if (!segments_.open_folder(folder, options_.force && options_.run_pid == 0)) return false;
  bool begun = false;
  try {
    begun = begin(header, gpus);
  } catch (...) {
    segments_.remove_empty();
    throw;
  }
  if (!begun) segments_.remove_empty();
  return begun;
}

bool TraceFiles::begin(const Header& header, const std::vector<GpuRecord>& gpus) {
  base_unix_ns_ = header.base_unix_ns;
  base_monotonic_ns_ = header.base_monotonic_ns;
  last_clock_ns_ = last_summary_ns_ = header.base_unix_ns;
  flush_interval_.begin(header.base_unix_ns);
  writer_.set_header(header);
  for (const GpuRecord& gpu : gpus) {
    writer_.add_gpu(gpu);
    builder_->add_gpu(gpu);
  }
  if (!options_.record.empty()) {
    recording_ = std::make_unique<RecordingWriter>(options_.record, recorder_, cupti_);
    std::string about;
    write_line(about, header);
    for (const GpuRecord& gpu : gpus) write_line(about, gpu);
    recording_->about(about);
    builder_->record_to(*recording_);
  }
  // At once: an application that is killed now still leaves a trace with its header.
  return segments_.flush();
}

void TraceFiles::on_counters_refused(const std::string& reason) {
  Header header = writer_.header();
  header.counters = "refused";
  header.counters_reason = reason;
  writer_.set_header(header);
  segments_.rotate();
}

void TraceFiles::on_conditions(std::span<const ConditionRecord> records) {
  if (records.empty()) return;
  if (recording_) recording_->conditions(records);
  for (ConditionRecord record : records) {
    record.at_ns -= base_unix_ns_;
    writer_.write(record);
    conditions_.add(record);
  }
}

void TraceFiles::on_stacks(std::span<StackSampleRecord> records) {
  if (records.empty()) return;
  if (recording_) recording_->stacks(records);
  for (StackSampleRecord& record : records) {
    record.start_ns -= base_unix_ns_;
    record.end_ns -= base_unix_ns_;
    writer_.write(record);
  }
}

void TraceFiles::end_turn(const TickChunk& tick, const OwnCost& cost) {
  if (recording_) recording_->tick(tick);
  // All domains, also those without ranges: a domain that is only misused has no other line.
  while (domains_ < recorder_.domain_count()) writer_.add_domain(domains_++);
  builder_->retry_pending(tick.now_ns);
  const std::uint64_t records = writer_.records();
  // No heartbeat without new records: the trace of an idle application does not grow.
  if (tick.now_ns - last_clock_ns_ >= kClockNs && records != records_at_clock_) {
    writer_.write(ClockRecord{tick.now_ns - base_unix_ns_, tick.monotonic_ns - base_monotonic_ns_});
    last_clock_ns_ = tick.now_ns;
    records_at_clock_ = records;
  }
  if (records != 0) flush_interval_.begin_work(tick.now_ns);
  if (records != records_at_flush_ && flush_interval_.is_due(tick.now_ns)) flush(tick.now_ns);
  if (options_.summary_ms != 0 && tick.now_ns - last_summary_ns_ >= options_.summary_ms * kNsPerMs &&
      records != records_at_summary_) {
    write_summary(tick.now_ns, cost, false);
  }
}

void TraceFiles::flush_now(const TickChunk& tick, const OwnCost& cost) {
  flush(tick.now_ns);
  write_summary(tick.now_ns, cost, false);
}

void TraceFiles::flush(std::int64_t now_ns) {
  records_at_flush_ = writer_.records();
  flush_interval_.restart(now_ns);
  writer_.write(FlushRecord{now_ns - base_unix_ns_, records_at_flush_, recorder_.loss.snapshot()});
  segments_.flush();
}

SummaryInput TraceFiles::summary_input() const {
  return {
      .header = writer_.header(),
      .gpus = writer_.gpus(),
      .totals = builder_->totals(),
      .path_name =
          [this](std::uint32_t path) { return recorder_.names.text(recorder_.paths.node(path).name); },
      .path_parent = [this](std::uint32_t path) { return recorder_.paths.node(path).parent; },
      .kernel_name = [this](std::uint32_t name) { return &kernels_.name(name); },
      .loss = recorder_.loss.snapshot(),
      .samples = builder_->sharing(),
      .monitor = builder_->rates(),
      .conditions = &conditions_,
  };
}

LayerSummary TraceFiles::layer_summary() const {
  SummaryInput input = summary_input();
  input.final = true;
  return rangefinder::layer_summary(input);
}

void TraceFiles::write_summary(std::int64_t now_ns, const OwnCost& cost, bool final) {
  last_summary_ns_ = now_ns;
  records_at_summary_ = writer_.records();
  conditions_.end(now_ns - base_unix_ns_);
  SummaryInput input = summary_input();
  input.own_cost = cost;
  input.own_cost.held_ns = builder_->held_ns();
  input.final = final;
  input.duration_ns = static_cast<std::uint64_t>(now_ns - base_unix_ns_);
  // Only what is on disk: a reader that finds fewer lines has a trace that was cut.
  input.records = final ? writer_.records() : records_at_flush_;
  summary_ = summary_json(input);
  const std::string path = segments_.folder() + "/summary.json";
  summary_error_.clear();
  if (!write_atomically(path, summary_))
    summary_error_ = "cannot write " + path + ": " + std::strerror(errno);
}

void TraceFiles::finish(const EndFacts& end, const std::string& reason) {
  builder_->finish();
  if (recording_) recording_->end(end, reason);
  segments_.flush();
  EndRecord record;
  record.at_ns = end.now_ns - base_unix_ns_;
  record.reason = reason;
  record.records = writer_.counts();
  record.balance = builder_->launches().balance();
  const SampleSharing* const sharing = builder_->sharing();
  record.truth = sharing != nullptr ? sharing->truth() : builder_->totals().truth();
  record.loss = recorder_.loss.snapshot();
  record.own_cost = end.own_cost;
  record.own_cost.bytes_written = segments_.bytes_written();
  record.own_cost.held_ns = builder_->held_ns();
  segments_.lift_limit();
  writer_.write(record);
  segments_.flush();
  write_summary(end.now_ns, record.own_cost, true);
}

}  // namespace rangefinder
