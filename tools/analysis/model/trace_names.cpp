// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace_names.h"

#include <algorithm>
#include <variant>

#include "tools/analysis/read/path_names.h"

namespace rangefinder {

void TraceNames::add(const Line& line) {
  if (const auto* const header_line = std::get_if<Header>(&line)) put(*header_line);
  if (const auto* const gpu_line = std::get_if<GpuRecord>(&line)) put(*gpu_line);
  if (const auto* const path = std::get_if<PathRecord>(&line)) paths.emplace(path->id, *path);
  if (const auto* const domain = std::get_if<DomainRecord>(&line)) domains.emplace(domain->id, domain->name);
  if (const auto* const name = std::get_if<KernelNameRecord>(&line)) kernel_names.emplace(name->id, *name);
  if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) configs.emplace(config->id, *config);
  if (const auto* const context = std::get_if<ContextRecord>(&line)) contexts[context->id] = *context;
  if (const auto* const stream = std::get_if<StreamRecord>(&line))
    streams[{stream->context, stream->id}] = *stream;
  if (const auto* const thread = std::get_if<ThreadRecord>(&line)) threads[thread->id] = thread->name;
  if (const auto* const hold = std::get_if<HoldRecord>(&line)) holds.add(*hold);
  if (const auto* const gap = std::get_if<GapRecord>(&line)) put(*gap);
  if (const auto* const sampling = std::get_if<SamplingRecord>(&line); sampling && sampling->interval_ns != 0)
    sample_intervals_ns.insert(sampling->interval_ns);
  if (const auto* const flush = std::get_if<FlushRecord>(&line)) loss = flush->loss;
  if (const auto* const end_line = std::get_if<EndRecord>(&line)) put(*end_line);
}

void TraceNames::put(const Header& line) {
  if (!std::exchange(has_header_, true)) header = line;
}

void TraceNames::put(const GpuRecord& line) {
  if (gpu(line.id) == nullptr) gpus.push_back(line);
}

void TraceNames::put(const GapRecord& line) {
  holds.add(line);
  gaps.push_back({line.start_ns, line.end_ns, std::string(line.cause)});
}

void TraceNames::put(const EndRecord& line) {
  end = line;
}

const std::string& TraceNames::own_name(std::uint32_t path) const {
  return path_name(paths, path);
}

std::uint32_t TraceNames::parent_of(std::uint32_t path) const {
  return path_parent(paths, path);
}

std::string TraceNames::path_text(std::uint32_t path) const {
  return rangefinder::path_text(paths, path);
}

const KernelNameRecord& TraceNames::kernel_name(std::uint32_t id) const {
  static const KernelNameRecord kNone{0, "(unknown)", "(unknown)", "unknown", ""};
  const auto at = kernel_names.find(id);
  return at == kernel_names.end() ? kNone : at->second;
}

const GpuRecord* TraceNames::gpu(std::uint32_t id) const {
  const auto at =
      std::find_if(gpus.begin(), gpus.end(), [id](const GpuRecord& known) { return known.id == id; });
  return at == gpus.end() ? nullptr : &*at;
}

}  // namespace rangefinder
