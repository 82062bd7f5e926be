// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_timeline.h"

#include <filesystem>

#include "tools/export/chrome_gpu.h"
#include "tools/export/chrome_host.h"
#include "tools/export/chrome_nvtx.h"
#include "tools/export/chrome_samples.h"

namespace rangefinder {

const std::string& ChromeNames::kernel(std::uint32_t name) {
  const auto [it, is_new] = kernels_.try_emplace(name);
  if (is_new) it->second = json_string(trace_.kernel_name(name).demangled);
  return it->second;
}

const std::string& ChromeNames::path(std::uint32_t path) {
  const auto [it, is_new] = paths_.try_emplace(path);
  if (is_new) it->second = json_string(trace_.path_text(path));
  return it->second;
}

const std::string& ChromeNames::own(std::uint32_t path) {
  const auto [it, is_new] = own_.try_emplace(path);
  if (is_new) it->second = json_string(trace_.own_name(path));
  return it->second;
}

const std::string& ChromeNames::text(std::uint32_t name) {
  const auto [it, is_new] = texts_.try_emplace(name);
  if (is_new) it->second = json_string(trace_.text(name));
  return it->second;
}

const std::string& ChromeNames::api(std::string_view api) {
  const auto it = apis_.find(api);
  return it != apis_.end() ? it->second : apis_.emplace(api, json_string(api)).first->second;
}

struct ChromeTimeline::Parts {
  explicit Parts(ChromeContext& context) : gpu(context), host(context), nvtx(context), samples(context) {}

  template <typename Other>
  void add(const Other&) {}
  void add(const KernelRecord& record) { gpu.add(record); }
  void add(const MemcpyRecord& record) { gpu.add(record); }
  void add(const MemsetRecord& record) { gpu.add(record); }
  void add(const GraphRecord& record) { gpu.add(record); }
  void add(const LaunchRecord& record) { host.add(record); }
  void add(const ExactRecord& record) {
    host.add(record);
    gpu.add(record);
  }
  void add(const SyncRecord& record) { host.add(record); }
  void add(const AllocRecord& record) { host.add(record); }
  void add(const EventRecord& record) { host.add(record); }
  void add(const CaptureRecord& record) { host.add(record); }
  void add(const OverheadRecord& record) { host.add(record); }
  void add(const RangeRecord& record) { nvtx.add(record); }
  void add(const MarkRecord& record) { nvtx.add(record); }
  void add(const SamplingRecord& record) { samples.add(record); }
  void add(const SamplesRecord& record) { samples.add(record); }

  ChromeGpu gpu;
  ChromeHost host;
  ChromeNvtx nvtx;
  ChromeSamples samples;
};

ChromeTimeline::ChromeTimeline(const TraceOutline& trace, const ChromeProcess& process,
                               const ChromeOptions& options, ChromeEvents& events, ChromeRows& rows)
    : context_{trace, process, options, events, rows, ChromeNames(trace)},
      parts_(std::make_unique<Parts>(context_)) {}

ChromeTimeline::~ChromeTimeline() = default;

void ChromeTimeline::line(const Line& line, const LinePlace&) {
  std::visit([this](const auto& record) { parts_->add(record); }, line);
}

// read_outline() has already reported the damage.
void ChromeTimeline::broken(std::string_view, const LinePlace&) {}

void ChromeTimeline::finish() {
  parts_->gpu.finish();
  parts_->samples.finish();
}

void write_chrome_trace(const TraceOutline& trace, const ChromeProcess& process, const ChromeOptions& options,
                        ChromeEvents& events, ChromeRows& rows, std::uint32_t sort_index) {
  const std::string program = std::filesystem::path(trace.header.executable).filename().string();
  const std::string rank = trace.header.rank.empty() ? "" : "rank " + trace.header.rank + ", ";
  const std::string where =
      " (" + rank + trace.header.host + ", process " + std::to_string(trace.header.pid) + ")";
  rows.process(process.host_pid, program + where, sort_index++);
  for (const GpuRecord& gpu : trace.gpus) {
    rows.process(process.first_gpu_pid + gpu.id,
                 "GPU " + std::to_string(gpu.id) + ": " + gpu.name + (rank.empty() ? "" : where),
                 sort_index++);
  }
  LineReader reader;
  ChromeTimeline timeline(trace, process, options, events, rows);
  (void)read_trace(trace.files, reader, timeline);
  timeline.finish();
}

}  // namespace rangefinder
