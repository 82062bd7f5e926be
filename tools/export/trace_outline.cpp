// SPDX-License-Identifier: Apache-2.0
#include "tools/export/trace_outline.h"

#include <algorithm>

#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/path_names.h"
#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

const std::string kUnknown = "(unknown)";

class OutlineVisitor final : public TraceVisitor {
 public:
  explicit OutlineVisitor(TraceOutline& out) : out_(out) {}

  void line(const Line& line, const LinePlace& place) override {
    beginning_.line(line, place);
    std::visit([this](const auto& record) { take(record); }, line);
  }

  void broken(std::string_view error, const LinePlace& place) override {
    beginning_.broken(error, place);  // after the header, read_damage reports it
  }

 private:
  template <typename Other>
  void take(const Other&) {}

  void take(const Header& header) {
    if (!std::exchange(has_header_, true)) out_.header = header;
  }
  void take(const GpuRecord& gpu) {
    const auto less = [](const GpuRecord& known, std::uint32_t id) { return known.id < id; };
    const auto at = std::lower_bound(out_.gpus.begin(), out_.gpus.end(), gpu.id, less);
    if (at == out_.gpus.end() || at->id != gpu.id) out_.gpus.insert(at, gpu);
  }
  void take(const ContextRecord& context) { out_.contexts.emplace(context.id, context); }
  void take(const StreamRecord& stream) {
    out_.streams.emplace(std::pair(stream.context, stream.id), stream);
  }
  void take(const ThreadRecord& thread) { out_.threads[thread.id] = thread.name; }
  void take(const DomainRecord& domain) { out_.domains.emplace(domain.id, domain.name); }
  void take(const CategoryRecord& category) {
    out_.categories.emplace(std::pair(category.domain, category.id), category.name);
  }
  void take(const NameRecord& name) { out_.names.emplace(name.id, name.text); }
  void take(const PathRecord& path) { out_.paths.emplace(path.id, path); }
  void take(const KernelNameRecord& name) { out_.kernel_names.emplace(name.id, name); }
  void take(const LaunchConfigRecord& config) { out_.configs.emplace(config.id, config); }
  void take(const MetricSetRecord& set) { out_.metric_sets.emplace(set.id, set); }

  void take(const KernelRecord& kernel) { take_work(kernel.work); }
  void take(const MemcpyRecord& copy) { take_work(copy.work); }
  void take(const MemsetRecord& memset) { take_work(memset.work); }
  void take(const GraphRecord& graph) { take_work(graph.work); }
  void take_work(const GpuWork& work) {
    if (!is_timed(work)) {
      ++out_.untimed;
      return;
    }
    out_.worked.insert(work.correlation);
    see(work.start_ns, work.end_ns);
  }

  void take(const LaunchRecord& launch) {
    out_.launched.insert(launch.correlation);
    see(launch.host.start_ns, launch.host.end_ns);
  }
  void take(const ExactRecord& exact) {
    if (!exact.is_counter_range) out_.launched.insert(exact.launch.correlation);
    see(exact.launch.host.start_ns, exact.launch.host.end_ns);
  }
  void take(const SyncRecord& record) { see(record.host.start_ns, record.host.end_ns); }
  void take(const AllocRecord& record) { see(record.host.start_ns, record.host.end_ns); }
  void take(const EventRecord& record) { see(record.host.start_ns, record.host.end_ns); }
  void take(const CaptureRecord& record) { see(record.host.start_ns, record.host.end_ns); }
  void take(const OverheadRecord& record) { see(record.start_ns, record.end_ns); }
  void take(const HoldRecord& record) { see(record.start_ns, record.end_ns); }
  void take(const GapRecord& record) { see(record.start_ns, record.end_ns); }
  void take(const RangeRecord& record) { see(record.start_ns, record.end_ns); }
  void take(const MarkRecord& record) { see(record.at_ns, record.at_ns); }
  void take(const SamplesRecord& samples) {
    out_.has_samples = true;
    for (const SampleRun& run : samples.runs) see(run.start_ns, run.end_ns);
  }
  void take(const FlushRecord& flush) {
    see(flush.at_ns, flush.at_ns);
    out_.loss = flush.loss;
  }
  void take(const EndRecord& end) {
    see(end.at_ns, end.at_ns);
    out_.end = end;
  }

  void see(TimeNs start, TimeNs end) {
    if (start != kNoTime) out_.first_ns = std::min(out_.first_ns, start);
    if (end != kNoTime) out_.last_ns = std::max(out_.last_ns, end);
  }

  TraceOutline& out_;
  TraceBeginning beginning_;
  bool has_header_ = false;
};

}  // namespace

const GpuRecord* TraceOutline::gpu(std::uint32_t id) const noexcept {
  for (const GpuRecord& known : gpus) {
    if (known.id == id) return &known;
  }
  return nullptr;
}

const KernelNameRecord& TraceOutline::kernel_name(std::uint32_t id) const {
  static const KernelNameRecord kNone{0, kUnknown, kUnknown, "unknown", ""};
  const auto it = kernel_names.find(id);
  return it == kernel_names.end() ? kNone : it->second;
}

const std::string& TraceOutline::own_name(std::uint32_t path) const {
  return path_name(paths, path);
}

const std::string& TraceOutline::text(std::uint32_t name) const {
  const auto it = names.find(name);
  return it == names.end() ? kUnknown : it->second;
}

std::uint32_t TraceOutline::parent_of(std::uint32_t path) const {
  return path_parent(paths, path);
}

std::string TraceOutline::path_text(std::uint32_t path) const {
  return rangefinder::path_text(paths, path);
}

std::string TraceOutline::thread_name(std::uint32_t thread) const {
  const auto it = threads.find(thread);
  return it == threads.end() || it->second.empty() ? "thread " + std::to_string(thread) : it->second;
}

std::string TraceOutline::domain_name(std::uint32_t domain) const {
  if (domain == 0) return {};
  const auto it = domains.find(domain);
  return it == domains.end() ? kUnknown : it->second;
}

TraceOutline read_outline(const TraceFolder& files) {
  TraceOutline out;
  out.files = with_recorded_paths(files);
  if (files.segments.empty()) {
    throw Missing(files.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                  "  An export needs the trace: copy its trace-*.ndjson files next to the summary.");
  }
  LineReader reader;
  OutlineVisitor visitor(out);
  out.read = read_trace(out.files, reader, visitor);
  TraceBeginning::end(files, out.read);
  if (out.end) out.loss = out.end->loss;
  return out;
}

}  // namespace rangefinder
