// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/trace_writer.h"

#include "schema/write_line.h"

namespace rangefinder {

template <typename Record>
void TraceWriter::line(const Record& record) {
  write_line(segments_.text(), record);
  segments_.line_done();
}

template <typename Record>
void TraceWriter::event(const Record& record, Kind kind) {
  line(record);
  ++counts_[kind];
}

void TraceWriter::begin() {
  segments_.commit();
  if (!segments_.begin_segment_if_needed()) return;
  paths_.clear();
  domains_.clear();
  names_.clear();
  kernel_names_.clear();
  configs_.clear();
  written_sets_.clear();
  stack_lines_.clear();
  written_threads_.clear();
  written_streams_.clear();
  write_fixed_lines();
}

void TraceWriter::write_fixed_lines() {
  header_.segment = segments_.segment();
  line(header_);
  for (const GpuRecord& gpu : gpus_) line(gpu);
  for (const ContextRecord& context : contexts_) line(context);
  for (const auto& [gpu, sampling] : samplings_) line(sampling);
  for (const CategoryRecord& category : categories_) {
    need_domain(category.domain);
    line(category);
  }
  for (const PayloadSchemaRecord& schema : schemas_) {
    need_domain(schema.domain);
    line(schema);
  }
}

void TraceWriter::add_gpu(const GpuRecord& gpu) {
  begin();
  gpus_.push_back(gpu);
  line(gpu);
}

// A GPU that the driver did not list still gets a line if it is used.
void TraceWriter::need_gpu(std::uint32_t gpu) {
  for (const GpuRecord& known : gpus_) {
    if (known.id == gpu) return;
  }
  GpuRecord& unknown = gpus_.emplace_back();
  unknown.id = gpu;
  unknown.name = "unknown";
  line(unknown);
}

void TraceWriter::add_context(const ContextRecord& context) {
  begin();
  need_gpu(context.gpu);
  if (contexts_.size() >= kMaxKept) return line(context);  // not repeated in later segments
  contexts_.push_back(context);
  line(context);
}

std::vector<GpuRecord> TraceWriter::used_gpus() const {
  std::vector<GpuRecord> out;
  for (const GpuRecord& gpu : gpus_) {
    if (std::any_of(contexts_.begin(), contexts_.end(),
                    [&gpu](const ContextRecord& context) { return context.gpu == gpu.id; }))
      out.push_back(gpu);
  }
  return out;
}

void TraceWriter::add_domain(std::uint32_t domain) {
  begin();
  need_domain(domain);
}

void TraceWriter::add_stream(const StreamRecord& stream) {
  if (streams_.size() >= kMaxKept) streams_.clear();  // readers accept work on a stream without a line
  streams_[stream.id] = stream;
}

void TraceWriter::add_category(const CategoryRecord& category) {
  begin();
  need_domain(category.domain);
  if (categories_.size() < kMaxKept) categories_.push_back(category);
  line(category);
}

void TraceWriter::add_payload_schema(const PayloadSchemaRecord& schema) {
  begin();
  need_domain(schema.domain);
  if (schemas_.size() < kMaxKept) schemas_.push_back(schema);
  line(schema);
}

void TraceWriter::add_metric_set(const MetricSetRecord& set) {
  if (metric_sets_.size() < kMaxKept) metric_sets_[set.id] = set;
}

void TraceWriter::add_sampling(const SamplingRecord& sampling) {
  begin();
  samplings_[sampling.gpu] = sampling;
  line(sampling);
}

void TraceWriter::name_thread(std::uint32_t thread, const std::string& name) {
  if (const auto at = threads_.find(thread); at != threads_.end() && at->second == name) return;
  if (threads_.size() >= kMaxKept) threads_.clear();
  threads_[thread] = name;
  written_threads_.erase(thread);  // so that a new line carries the new name
}

void TraceWriter::add_module_source(std::uint32_t path, std::uint64_t module, const PathSource& source) {
  const auto before = sources_.find(path);
  sources_.add(path, module, source);
  // Its line was written before the module was called: a range of the same name, or of another module.
  if (!paths_.contains(path) || sources_.find(path) == before) return;
  begin();
  if (paths_.contains(path)) write_source(path);
}

void TraceWriter::add_kernel_origin(std::uint32_t path, const GeneratedKernel& origin) {
  const std::uint32_t kernel = kernels_.intern(recorder_.names.text(origin.kernel));
  if (kernel == kOtherKernel || origins_kept_ >= kMaxKept) return;
  std::vector<Origin>& of_kernel = origins_[kernel];
  const Origin added{path, origin};
  if (std::find(of_kernel.begin(), of_kernel.end(), added) != of_kernel.end()) return;
  of_kernel.push_back(added);
  ++origins_kept_;
  if (!kernel_names_.contains(kernel)) return;
  begin();
  if (kernel_names_.contains(kernel)) write_origin(kernel, added);
}

void TraceWriter::need_domain(std::uint32_t domain) {
  if (domain == 0 || !domains_.add(domain)) return;
  line(DomainRecord{domain, std::string(recorder_.names.text(recorder_.domain_name(domain)))});
}

void TraceWriter::need_path(std::uint32_t path) {
  if (path == 0 || !paths_.add(path)) return;
  const PathNode node = recorder_.paths.node(path);
  need_path(node.parent);
  need_domain(node.domain);
  line(PathRecord{path, node.parent, node.domain, std::string(recorder_.names.text(node.name))});
  write_source(path);
}

std::string TraceWriter::text_of(std::uint32_t name) const {
  return name == 0 ? std::string() : std::string(recorder_.names.text(name));
}

void TraceWriter::write_source(std::uint32_t path) {
  const auto source = sources_.find(path);
  if (!source) return;
  line(ModuleSourceRecord{path, text_of(source->class_file), source->class_line, text_of(source->call_file),
                          source->call_line});
}

void TraceWriter::write_origin(std::uint32_t kernel, const Origin& origin) {
  const auto& [path, of] = origin;
  need_path(path);
  line(KernelOriginRecord{kernel, path, text_of(of.operators), text_of(of.file), of.line});
}

void TraceWriter::need_name(std::uint32_t name) {
  if (name == 0 || !names_.add(name)) return;
  line(NameRecord{name, std::string(recorder_.names.text(name))});
}

void TraceWriter::need_thread(std::uint32_t thread) {
  // A program may make threads for days: then lines are repeated.
  if (written_threads_.size() >= kMaxKept) written_threads_.clear();
  if (thread == 0 || !written_threads_.try_emplace(thread, true).second) return;
  const auto name = threads_.find(thread);
  line(ThreadRecord{thread, name == threads_.end() ? std::string() : name->second});
}

void TraceWriter::need_kernel_name(std::uint32_t name) {
  if (name == 0 || !kernel_names_.add(name)) return;
  line(kernels_.name(name));
  if (const auto origins = origins_.find(name); origins != origins_.end()) {
    for (const Origin& origin : origins->second) write_origin(name, origin);
  }
}

void TraceWriter::need_config(std::uint32_t config) {
  if (config != 0 && configs_.add(config)) line(kernels_.config(config));
}

void TraceWriter::need_stream(std::uint32_t stream) {
  const auto at = streams_.find(stream);
  if (at != streams_.end() && written_streams_.try_emplace(stream, true).second) line(at->second);
}

void TraceWriter::need_metric_set(std::uint32_t set) {
  const auto at = metric_sets_.find(set);
  if (at != metric_sets_.end() && written_sets_.add(set)) line(at->second);
}

void TraceWriter::need_work(const GpuWork& work) {
  begin();
  need_gpu(work.gpu);
  need_path(work.path);
  need_stream(work.stream);
}

void TraceWriter::need_host(const HostWork& host) {
  begin();
  need_path(host.path);
  need_thread(host.thread);
}

void TraceWriter::write(const KernelRecord& record) {
  need_work(record.work);
  need_kernel_name(record.name);
  need_config(record.config);
  event(record, kKernel);
}

void TraceWriter::write(const MemcpyRecord& record) {
  need_work(record.work);
  event(record, kMemcpy);
}

void TraceWriter::write(const MemsetRecord& record) {
  need_work(record.work);
  event(record, kMemset);
}

void TraceWriter::write(const GraphRecord& record) {
  need_work(record.work);
  event(record, kGraph);
}

void TraceWriter::write(const LaunchRecord& record) {
  need_host(record.host);
  event(record, kLaunch);
}

void TraceWriter::write(const ExactRecord& record) {
  need_host(record.launch.host);
  need_gpu(record.gpu);
  need_kernel_name(record.name);
  need_metric_set(record.metric_set);
  event(record, kExact);
}

void TraceWriter::write(const SamplesRecord& record) {
  begin();
  event(record, kSamples);
}

void TraceWriter::write(const MonitorRecord& record) {
  begin();
  need_path(record.path);
  event(record, kMonitor);
}

void TraceWriter::write(const SyncRecord& record) {
  need_host(record.host);
  event(record, kSync);
}

void TraceWriter::write(const AllocRecord& record) {
  need_host(record.host);
  event(record, record.is_free ? kFree : kAlloc);
}

void TraceWriter::write(const EventRecord& record) {
  need_host(record.host);
  event(record, record.wait ? kStreamWait : kEventRecord);
}

void TraceWriter::write(const CaptureRecord& record) {
  need_host(record.host);
  event(record, kCapture);
}

void TraceWriter::write(const OverheadRecord& record) {
  begin();
  need_thread(record.thread);
  event(record, kOverhead);
}

void TraceWriter::write(const HoldRecord& record) {
  begin();
  need_thread(record.thread);
  event(record, kHold);
}

void TraceWriter::write(const HostFunctionRecord& record) {
  need_work(record.wait);
  need_thread(record.thread);
  event(record, kHostFunction);
}

void TraceWriter::write(const GapRecord& record) {
  begin();
  event(record, kGap);
}

void TraceWriter::write(const ConditionRecord& record) {
  begin();
  if (record.subject == ConditionOf::gpu) need_gpu(record.id);
  event(record, kCondition);
}

void TraceWriter::write(const StackSampleRecord& record) {
  begin();
  need_thread(record.thread);
  for (const StackSample& sample : record.samples)
    stack_lines_.need(sample.stack, [this](const auto& found) { line(found); });
  event(record, kStackSample);
}

void TraceWriter::write(const RangeRecord& record) {
  begin();
  need_path(record.path);
  need_domain(record.domain);
  need_name(record.name);
  need_thread(record.thread);
  need_thread(record.end_thread);
  event(record, kRange);
}

void TraceWriter::write(const MarkRecord& record) {
  begin();
  need_path(record.path);
  need_domain(record.domain);
  need_name(record.name);
  need_thread(record.thread);
  event(record, kMark);
}

void TraceWriter::write(const ClockRecord& record) {
  begin();
  line(record);
}

void TraceWriter::write(const FlushRecord& record) {
  begin();
  line(record);
}

void TraceWriter::write(const EndRecord& record) {
  begin();
  line(record);
}

std::vector<std::pair<std::string, std::uint64_t>> TraceWriter::counts() const {
  static constexpr std::array<const char*, kKinds> kNames{
      "kernel",        "memcpy", "memset",    "graph",        "launch",      "exact",   "samples",  "monitor",
      "sync",          "alloc",  "free",      "event_record", "stream_wait", "capture", "overhead", "hold",
      "host_function", "gap",    "condition", "stack_sample", "range",       "mark"};
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (counts_[i] != 0) out.emplace_back(kNames[i], counts_[i]);
  }
  return out;
}

std::uint64_t TraceWriter::records() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : counts_) sum += n;
  return sum;
}

}  // namespace rangefinder
