// SPDX-License-Identifier: Apache-2.0
#include "tools/export/csv_tables.h"

#include <string>

namespace rangefinder {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, const CsvTableShape& shape) {
  return folder / (std::string(shape.name) + ".csv");
}

using Id = CsvTableId;
// clang-format off
const std::vector<CsvTableShape> kTables{
    {Id::traces, "traces",
     {"trace", "host", "pid", "parent_pid", "rank", "executable", "command", "base_unix_ns", "last_ns",
      "tool_version", "driver_version", "driver_release", "runtime_version", "cupti_version", "counters",
      "counters_reason", "end_reason"}},
    {Id::gpus, "gpus",
     {"trace", "gpu", "name", "uuid", "compute_capability", "sm_count", "memory_bytes", "l2_bytes",
      "peak_dram_bytes_per_s", "sm_clock_khz", "memory_clock_khz", "mig"}},
    {Id::threads, "threads", {"trace", "thread", "name"}},
    {Id::streams, "streams", {"trace", "context", "stream", "gpu", "priority", "non_blocking", "is_default"}},
    {Id::modules, "modules", {"trace", "path", "parent_path", "depth", "name", "domain", "module"}},
    {Id::kernels, "kernels",
     {"trace", "start_ns", "end_ns", "duration_ns", "gpu", "context", "stream", "correlation", "module", "range",
      "graph", "graph_node", "captured", "kernel", "library", "grid_x", "grid_y", "grid_z", "block_x", "block_y",
      "block_z", "registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes", "local_bytes_per_thread"}},
    {Id::memcpys, "memcpys",
     {"trace", "start_ns", "end_ns", "duration_ns", "gpu", "context", "stream", "correlation", "module", "range",
      "graph", "graph_node", "captured", "direction", "source", "destination", "bytes", "async", "copies",
      "source_gpu", "destination_gpu"}},
    {Id::memsets, "memsets",
     {"trace", "start_ns", "end_ns", "duration_ns", "gpu", "context", "stream", "correlation", "module", "range",
      "graph", "graph_node", "captured", "memory", "bytes", "value"}},
    {Id::graphs, "graphs",
     {"trace", "start_ns", "end_ns", "duration_ns", "gpu", "context", "stream", "correlation", "module", "range",
      "graph", "graph_node", "captured"}},
    {Id::launches, "launches",
     {"trace", "start_ns", "end_ns", "duration_ns", "thread", "module", "range", "api", "correlation", "context",
      "result", "exact"}},
    {Id::exact, "exact",
     {"trace", "start_ns", "end_ns", "thread", "module", "range", "kind", "correlation", "counter_range", "gpu",
      "kernel", "launches", "kernels", "exclusive", "gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes",
      "metric_set", "unmeasured"}},
    {Id::metrics, "metrics", {"trace", "correlation", "counter_range", "metric_set", "metric", "value"}},
    {Id::syncs, "syncs",
     {"trace", "start_ns", "end_ns", "duration_ns", "thread", "module", "range", "api", "context", "stream",
      "event"}},
    {Id::allocations, "allocations",
     {"trace", "start_ns", "end_ns", "duration_ns", "thread", "module", "range", "api", "operation", "memory",
      "address", "bytes", "context", "stream", "pool"}},
    {Id::events, "events",
     {"trace", "start_ns", "end_ns", "duration_ns", "thread", "module", "range", "operation", "event", "stream",
      "context"}},
    {Id::captures, "captures",
     {"trace", "start_ns", "end_ns", "duration_ns", "thread", "module", "range", "step", "stream", "context",
      "graph", "result"}},
    {Id::overhead, "overhead", {"trace", "start_ns", "end_ns", "duration_ns", "thread", "what", "correlation"}},
    {Id::ranges, "ranges",
     {"trace", "range", "start_ns", "end_ns", "duration_ns", "kind", "thread", "end_thread", "domain", "name",
      "module", "category", "color", "payload", "payload_type"}},
    {Id::marks, "marks",
     {"trace", "at_ns", "thread", "domain", "name", "module", "range", "category", "color", "payload",
      "payload_type"}},
    {Id::samples, "samples",
     {"trace", "gpu", "start_ns", "end_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes", "pcie_read_bytes",
      "pcie_write_bytes", "nvlink_received_bytes", "nvlink_transmitted_bytes", "sm_active_pct",
      "engine_active_pct"}},
    {Id::loss, "loss", {"trace", "cause", "count", "meaning"}},
};
// clang-format on

}  // namespace

const std::vector<CsvTableShape>& csv_tables() {
  return kTables;
}

CsvTables::CsvTables(const std::filesystem::path& folder, Overwrite overwrite) : folder_(folder) {
  for (const CsvTableShape& shape : csv_tables()) {
    tables_.push_back(std::make_unique<CsvTable>(file_of(folder, shape), overwrite, shape.columns));
  }
}

std::vector<std::filesystem::path> CsvTables::commit() {
  std::vector<std::filesystem::path> out;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i]->commit();
    out.push_back(file_of(folder_, csv_tables()[i]));
  }
  return out;
}

}  // namespace rangefinder
