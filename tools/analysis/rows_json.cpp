// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/rows_json.h"

#include "schema/key_names.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

void add_counters(Json& out, const CounterTotals& counters) {
  if (counters.measured > 0) {
    out["dram_read_bytes"] = counters.dram_read_bytes;
    out["dram_write_bytes"] = counters.dram_write_bytes;
    out["l2_bytes"] = counters.l2_bytes;
    out["bytes_source"] = "exact";
    out["measured_launches"] = counters.measured;
  }
  if (counters.unmeasured > 0) out["unmeasured_launches"] = counters.unmeasured;
}

}  // namespace

Json module_row(const PathTotals& row, const std::string& path) {
  Json out = Json::object();
  if (row.path != 0) {
    out["path"] = path;
    out["depth"] = row.depth;
    out["calls"] = row.calls;
  }
  out["kernels"] = row.kernels;
  // Kernels that nothing timed have an unknown duration, not none.
  const bool by_record = row.activity_kernels > 0;
  const bool by_counter = row.counters.measured_kernels > 0;
  if (by_record || by_counter || row.kernels == 0) {
    out["gpu_ns"] = row.gpu_ns;
    out["gpu_ns_exclusive"] = row.gpu_ns_exclusive;
  }
  if (by_record) out["gpu_busy_ns"] = row.gpu_busy_ns;
  out["host_ns"] = row.host_ns;
  if (by_record || by_counter)
    out["time_source"] = !by_counter ? "activity" : !by_record ? "counter" : "mixed";
  add_counters(out, row.counters);
  if (row.declared_bytes > 0) out["declared_bytes"] = row.declared_bytes;
  Json copies = Json::object();
  for (std::size_t i = 0; i < kCopyKinds; ++i) {
    if (row.memcpy_bytes[i] > 0) copies[std::string(kCopyKindNames[i])] = row.memcpy_bytes[i];
  }
  if (!copies.empty()) out["memcpy_bytes"] = std::move(copies);
  return out;
}

Json kernel_row(const KernelTotals& row, const KernelNameRecord* name) {
  Json out = Json::object();
  out["name"] = name != nullptr ? name->demangled : "(unknown)";
  if (name != nullptr) {
    out["mangled"] = name->mangled;
    out["library"] = name->library;
  }
  out["count"] = row.count;
  if (row.timed > 0) {
    out["total_ns"] = row.total_ns;
    out["mean_ns"] = row.total_ns / row.timed;
    out["min_ns"] = row.min_ns;
    out["max_ns"] = row.max_ns;
  }
  add_counters(out, row.counters);
  return out;
}

Json copy_row(const MemcpyTotals& row) {
  return {{"kind", to_text(row.kind)}, {"src", to_text(row.source)}, {"dst", to_text(row.destination)},
          {"count", row.count},        {"bytes", row.bytes},         {"total_ns", row.total_ns}};
}

Json loss_object(const std::array<std::uint64_t, kLossCauses.size()>& loss) {
  Json out = Json::object();
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (loss[i] > 0) out[kLossCauses[i].name] = loss[i];
  }
  return out;
}

Json gpu_object(const GpuRecord& gpu) {
  Json out{{"id", gpu.id},
           {"name", gpu.name},
           {"uuid", gpu.uuid},
           {"compute_capability", {gpu.compute_major, gpu.compute_minor}},
           {"sm_count", gpu.sm_count},
           {"memory_bytes", gpu.memory_bytes},
           {"l2_bytes", gpu.l2_bytes}};
  if (gpu.peak_dram_bytes_per_s > 0) out["peak_dram_bytes_per_s"] = gpu.peak_dram_bytes_per_s;
  return out;
}

Json process_object(const Header& header) {
  Json out{{"tool_version", header.tool_version}, {"pid", header.pid},         {"host", header.host},
           {"executable", header.executable},     {"command", header.command}, {"counters", header.counters}};
  if (!header.counters_reason.empty()) out["counters_reason"] = header.counters_reason;
  if (!header.rank.empty()) out["rank"] = header.rank;
  return out;
}

std::string dump_json(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rangefinder
