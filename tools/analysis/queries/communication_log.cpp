// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/communication_log.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

constexpr std::string_view kNccl = "NCCL", kMpi = "MPI";
constexpr std::string_view kNcclPrefix = "nccl";

std::uint64_t count_of(const Dim3& size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

bool is_bytes(const std::string& name) {
  return name.find("bytes") != std::string::npos || name.find("Bytes") != std::string::npos;
}

}  // namespace

void CommunicationLog::add_names(const Line& line) {
  if (const auto* const domain = std::get_if<DomainRecord>(&line)) {
    if (domain->name == kNccl) domains_[domain->id] = kNccl;
    if (domain->name == kMpi) domains_[domain->id] = kMpi;
  } else if (const auto* const path = std::get_if<PathRecord>(&line)) {
    if (domains_.contains(path->domain)) paths_[path->id] = path->name;
  } else if (const auto* const schema = std::get_if<PayloadSchemaRecord>(&line)) {
    if (domains_.contains(schema->domain)) payloads_.add(*schema);
  }
}

void CommunicationLog::add(const SelectedRows& rows) {
  rows.other_lines([this](const Line& line) { add_names(line); });
  rows.ranges(kColumns, [this](const RangeRecord& range, bool begins) {
    if (begins) add_range(range);
  });
  rows.work(kColumns, [&](const auto& record, bool begins) {
    if (!begins) return;
    if constexpr (is_kernel_record<decltype(record)>) add_kernel(record, rows.names());
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(record)>, MemcpyRecord>) add_copy(record);
  });
}

void CommunicationLog::add_range(const RangeRecord& range) {
  const auto domain = domains_.find(range.domain);
  if (domain == domains_.end() || range.name != 0) return;
  const auto name = paths_.find(range.path);
  if (name == paths_.end()) return;
  // Another thread may have registered the schema; its events are written later.
  if (!finishing_ && range.extras.payload_schema != 0 && !payloads_.knows(range.domain, range.extras)) {
    undecoded_.push_back(range);
    return;
  }
  if (domain->second == kNccl) return add_nccl_range(range, name->second);
  CommunicationCall call;
  call.from_library = domain->second;
  call.operation = keep(name->second);
  fill_extras(call, range);
  calls_.push_back(call);
}

// Calls that move data have bytes; calls that set up communicators have none and are skipped.
void CommunicationLog::add_nccl_range(const RangeRecord& range, const std::string& name) {
  if (name == "ncclGroupStart" || name == "ncclGroupEnd") {
    edges_.push_back({range.id, range.thread, range.start_ns, name == "ncclGroupStart"});
    return;
  }
  CommunicationCall call;
  call.from_library = kNccl;
  fill_extras(call, range);
  if (!call.bytes) return;
  call.operation = keep(name.starts_with(kNcclPrefix) ? name.substr(kNcclPrefix.size()) : name);
  calls_.push_back(call);
}

void CommunicationLog::fill_extras(CommunicationCall& call, const RangeRecord& range) const {
  call.range = range.id;
  call.thread = range.thread;
  call.start_ns = range.start_ns;
  call.end_ns = range.end_ns;
  for (const PayloadEntry& entry : payloads_.entries(range.domain, range.extras)) {
    if (is_bytes(*entry.name)) call.bytes = call.bytes.value_or(0) + entry.value;
    if (*entry.name == "NCCL communicator ID") call.communicator = entry.value;
    if (*entry.name == "Reduction operation") call.reduction = entry.text;
  }
}

void CommunicationLog::add_kernel(const KernelRecord& kernel, const TraceNames& names,
                                  std::size_t iteration) {
  const GpuWork& work = kernel.work;
  const auto name = names.communication.find(kernel.name);
  const bool is_communication = name != names.communication.end();
  timeline_.add(work, !is_communication);
  if (!is_communication || !is_timed(work)) return;
  Collective one{work.start_ns, work.end_ns, work.gpu, name->second.operation, 0, work.context, work.stream};
  if (const auto config = names.configs.find(kernel.config); config != names.configs.end())
    one.threads = count_of(config->second.grid) * count_of(config->second.block);
  one.launch = work.graph == 0 ? 0 : work.correlation;
  one.node = node_number(work);
  one.path = work.path;
  one.iteration = iteration;
  kernels_.push_back({std::move(one), work.range, name->second.from_library});
}

void CommunicationLog::add_copy(const MemcpyRecord& copy) {
  if (!communicates(copy)) return;
  timeline_.add(copy.work, false);
  OperationTotals& totals = operations_[{"CUDA", "copy to another GPU", ""}];
  totals.copies += copy.count;
  totals.bytes += copy.bytes;
  if (is_timed(copy.work)) totals.gpu_ns += duration_ns(copy.work.start_ns, copy.work.end_ns);
}

void CommunicationLog::add_span(const GpuSpan& span) {
  CommunicationOverlap& overlap = overlaps_[span.gpu];
  overlap.span_ns += span.ns();
  if (span.kernels != 0) overlap.compute_ns += span.ns();
  if (span.copies == 0) return;  // "copies" are communication kernels here: see add_kernel()
  overlap.communication_ns += span.ns();
  if (span.kernels == 0) overlap.exposed_ns += span.ns();
}

void CommunicationLog::finish() {
  timeline_.finish();
  finishing_ = true;
  for (const RangeRecord& range : undecoded_) add_range(range);
  undecoded_.clear();
  std::erase_if(overlaps_, [](const auto& entry) { return entry.second.communication_ns == 0; });
  join_groups();
  join_kernels();
  count_replays();
  count_calls();
}

/// A call outside a group launches its own work. The end of a group launches the work of the calls inside.
/// Older versions of NCCL open and close a group within each ncclSend and ncclRecv.
void CommunicationLog::join_groups() {
  struct Step {
    std::uint32_t thread;
    TimeNs start_ns;
    const GroupEdge* edge;  // nullptr: `call`
    std::size_t call;
  };
  std::vector<Step> steps;
  for (const GroupEdge& edge : edges_) steps.push_back({edge.thread, edge.start_ns, &edge, 0});
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].from_library == kNccl) steps.push_back({calls_[i].thread, calls_[i].start_ns, nullptr, i});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tie(a.thread, a.start_ns) < std::tie(b.thread, b.start_ns);
  });
  std::vector<std::size_t> pending;
  std::uint32_t thread = 0;
  int depth = 0;
  for (const Step& step : steps) {
    if (step.thread != thread) {
      pending.clear();
      depth = 0;
      thread = step.thread;
    }
    if (step.edge == nullptr) {
      if (depth == 0) pending.clear();
      pending.push_back(step.call);
      if (depth == 0) calls_of_range_[calls_[step.call].range] = pending;
    } else if (step.edge->opens) {
      // A group that opens within the previous call belongs to that call.
      if (depth == 0 && !pending.empty() && calls_[pending.back()].end_ns <= step.start_ns) pending.clear();
      ++depth;
    } else if (depth = std::max(depth - 1, 0); depth == 0) {
      calls_of_range_[step.edge->range] = pending;
      pending.clear();
    }
  }
}

void CommunicationLog::join_kernels() {
  for (const Kernel& kernel : kernels_) {
    Collective collective = kernel.one;
    std::set<std::string> operations, reductions;
    if (const auto calls = calls_of_range_.find(kernel.range);
        kernel.range != 0 && calls != calls_of_range_.end()) {
      for (const std::size_t place : calls->second) {
        operations.insert(*calls_[place].operation);
        if (calls_[place].reduction != nullptr) reductions.insert(*calls_[place].reduction);
        collective.communicator = calls_[place].communicator;
      }
    }
    if (!operations.empty()) collective.operation.clear();
    for (const std::string& operation : operations)
      collective.operation += (collective.operation.empty() ? "" : "+") + operation;
    if (collective.operation.empty()) collective.operation = "(not known)";
    const std::string reduction = reductions.size() == 1 ? *reductions.begin() : "";
    OperationTotals& totals = operations_[{kernel.from_library, collective.operation, reduction}];
    ++totals.kernels;
    totals.gpu_ns += duration_ns(collective.start_ns, collective.end_ns);
    collectives_.push_back(std::move(collective));
  }
  std::stable_sort(collectives_.begin(), collectives_.end(),
                   [](const Collective& a, const Collective& b) { return a.start_ns < b.start_ns; });
}

/// A call runs once, a captured one at each launch of its graph.
void CommunicationLog::count_replays() {
  struct Launches {
    std::uint32_t last = 0;
    std::uint64_t count = 0;
  };
  std::unordered_map<std::uint64_t, Launches> launches;  // of each range
  for (const Kernel& kernel : kernels_) {
    if (kernel.one.launch == 0 || kernel.range == 0) continue;
    Launches& of_range = launches[kernel.range];
    if (std::exchange(of_range.last, kernel.one.launch) != kernel.one.launch) ++of_range.count;
  }
  runs_.assign(calls_.size(), 1);
  for (const auto& [range, of_range] : launches) {
    const auto calls = calls_of_range_.find(range);
    if (calls == calls_of_range_.end()) continue;
    for (const std::size_t place : calls->second) runs_[place] = of_range.count;
  }
}

void CommunicationLog::count_calls() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const CommunicationCall& call = calls_[i];
    OperationTotals& totals =
        operations_[{call.from_library, *call.operation, call.reduction == nullptr ? "" : *call.reduction}];
    ++totals.calls;
    totals.host_ns += duration_ns(call.start_ns, call.end_ns);
    if (!call.bytes) continue;
    ++totals.calls_with_bytes;
    totals.bytes += *call.bytes * runs_[i];
  }
}

}  // namespace rangefinder
