// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace_names.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "tools/analysis/model/path_names.h"

namespace rangefinder {

void TraceNames::add(const Line& line) {
  if (const auto* const head = std::get_if<Header>(&line); head && !std::exchange(has_header_, true))
    header = *head;
  if (const auto* const one = std::get_if<GpuRecord>(&line)) {
    // Ids rise from 0. A damaged trace has thousands, so they are not searched for each.
    const bool is_new = gpus.empty() || one->id > gpus.back().id || gpu(one->id) == nullptr;
    if (is_new) gpus.push_back(*one);
  }
  if (const auto* const path = std::get_if<PathRecord>(&line)) paths.emplace(path->id, *path);
  // The last one counts: the profiler may learn a module's own lines after those of a module of that name.
  if (const auto* const source = std::get_if<ModuleSourceRecord>(&line); source && source->path != 0)
    sources.insert_or_assign(source->path, SourceLines(*source));
  if (const auto* const origin = std::get_if<KernelOriginRecord>(&line)) origins.add(*origin);
  if (const auto* const domain = std::get_if<DomainRecord>(&line)) domains.emplace(domain->id, domain->name);
  if (const auto* const name = std::get_if<KernelNameRecord>(&line)) add_kernel_name(*name);
  if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) configs.emplace(config->id, *config);
  if (const auto* const context = std::get_if<ContextRecord>(&line)) contexts[context->id] = *context;
  if (const auto* const stream = std::get_if<StreamRecord>(&line))
    streams[{stream->context, stream->id}] = *stream;
  if (const auto* const thread = std::get_if<ThreadRecord>(&line)) threads[thread->id] = thread->name;
  if (const auto* const frame = std::get_if<FrameRecord>(&line)) stacks.add(*frame);
  if (const auto* const stack = std::get_if<StackRecord>(&line)) stacks.add(*stack);
  if (const auto* const hold = std::get_if<HoldRecord>(&line)) holds.add(*hold);
  if (const auto* const gap = std::get_if<GapRecord>(&line)) {
    holds.add(*gap);
    gaps.push_back({gap->start_ns, gap->end_ns, std::string(gap->cause)});
  }
  if (const auto* const condition = std::get_if<ConditionRecord>(&line))
    has_gpm = has_gpm || condition->values[static_cast<std::size_t>(Condition::dram_mib)].has_value();
  if (const auto* const sampling = std::get_if<SamplingRecord>(&line)) {
    if (sampling->interval_ns != 0) sample_intervals_ns.insert(sampling->interval_ns);
    if (sampling->interval_ns == 0 && sampling->reason != "stop") sampling_ended = sampling->reason;
  }
  if (const auto* const flush = std::get_if<FlushRecord>(&line)) loss = flush->loss;
  if (const auto* const last = std::get_if<EndRecord>(&line)) end = *last;
}

void TraceNames::add_kernel_name(const KernelNameRecord& name) {
  if (!kernel_names.emplace(name.id, name).second) return;
  std::optional<CommunicationKernel> known = communication_kernel(name.demangled);
  if (!known && !files.communication.empty()) {
    if (!communication_pattern_) communication_pattern_.emplace(files.communication);
    if (communication_pattern_->is_in(name.demangled))
      known = {kNamedCommunication, "--communication", communication_operation(name.demangled)};
  }
  if (!known && name.from_library == kNamedCommunication)
    known = {kNamedCommunication, name.evidence, communication_operation(name.demangled)};
  if (known) communication.emplace(name.id, std::move(*known));
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

const SourceLines& TraceNames::source_of(std::uint32_t path) const {
  static const SourceLines kUnknown;
  const auto at = sources.find(path);
  return at == sources.end() ? kUnknown : at->second;
}

const GpuRecord* TraceNames::gpu(std::uint32_t id) const {
  if (id < gpus.size() && gpus[id].id == id) return &gpus[id];
  const auto at = std::find_if(gpus.begin(), gpus.end(), [id](const GpuRecord& gpu) { return gpu.id == id; });
  return at == gpus.end() ? nullptr : &*at;
}

}  // namespace rangefinder
