// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/rows_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "schema/key_names.h"
#include "tools/analysis/queries/kernel_kinds.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson columns(const std::array<std::uint64_t, kSharedColumns>& bytes) {
  return {{"dram_read_bytes", bytes[kSharedDramRead]},
          {"dram_write_bytes", bytes[kSharedDramWrite]},
          {"l2_bytes", bytes[kSharedL2]}};
}

}  // namespace

OrderedJson module_row(const PathTotals& row, const TraceNames& trace, const RowValues& values) {
  OrderedJson out = OrderedJson::object();
  if (row.path != 0) {
    out["path"] = trace.path_text(row.path);
    out["depth"] = row.depth;
    out["calls"] = row.calls;
  }
  add_totals(out, row, values.bytes(row), values.context());
  add_source(out, trace.source_of(row.path));
  return out;
}

void add_source(OrderedJson& row, const SourceLines& source) {
  if (!source.of_class.empty()) row["class_source"] = source.of_class;
  if (!source.of_call.empty()) row["call_source"] = source.of_call;
}

OrderedJson samples_object(const TraceTotals& trace, const SampledTotals& sampled) {
  OrderedJson method;
  const auto& [read, write, l2] = sampled.sharing;
  method["dram_read_bytes"] = sharing_method_name(read.method);
  method["dram_write_bytes"] = sharing_method_name(write.method);
  method["l2_bytes"] = sharing_method_name(l2.method);
  OrderedJson out{{"method", std::move(method)},
                  {"count", sampled.samples.samples},
                  {"idle", sampled.samples.idle_samples},
                  {"all", columns(sampled.samples.bytes)},
                  {"unattributed", columns(sampled.samples.unattributed)}};
  std::array<std::uint64_t, kSharedColumns> estimated{};
  for (const SampledPath& path : sampled.paths) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) estimated[c] += path.exclusive[c].estimated_bytes;
  }
  if (estimated != decltype(estimated){}) out["estimated"] = columns(estimated);
  for (const InseparableGroup& group : sampled.inseparable) {
    OrderedJson paths = OrderedJson::array();
    for (const std::uint32_t path : group.paths) paths.push_back(trace.path_text(path));
    const auto& [group_read, group_write, group_l2] = group.sum;
    OrderedJson row{{"paths", std::move(paths)}};
    row.update(columns({group_read.bytes, group_write.bytes, group_l2.bytes}));
    out["inseparable"].push_back(std::move(row));
  }
  return out;
}

OrderedJson kernel_row(const KernelTotals& row, const KernelNameRecord* name, const RowValues& values) {
  OrderedJson out = OrderedJson::object();
  out["name"] = name != nullptr ? name->demangled : "(unknown)";
  if (name != nullptr) {
    out["mangled"] = name->mangled;
    out["library"] = name->from_library;
    if (const std::string_view unit = product_unit(name->demangled); !unit.empty()) out["unit"] = unit;
  }
  out["count"] = row.count;
  if (row.timed > 0) {
    out["total_ns"] = row.total_ns;
    out["mean_ns"] = row.total_ns / row.timed;
    out["min_ns"] = row.min_ns;
    out["max_ns"] = row.max_ns;
  }
  add_kernel_bytes(out, row, values.bytes(row));
  return out;
}

OrderedJson copy_row(const MemcpyTotals& row) {
  return {{"kind", to_text(row.kind)}, {"src", to_text(row.source)}, {"dst", to_text(row.destination)},
          {"count", row.count},        {"bytes", row.bytes},         {"total_ns", row.total_ns}};
}

OrderedJson loss_object(const std::array<std::uint64_t, kLossCauses.size()>& loss) {
  OrderedJson out = OrderedJson::object();
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (loss[i] > 0) out[kLossCauses[i].name] = loss[i];
  }
  return out;
}

OrderedJson gpu_object(const GpuRecord& gpu) {
  OrderedJson out{{"id", gpu.id},
                  {"name", gpu.name},
                  {"uuid", gpu.uuid},
                  {"compute_capability", {gpu.compute_major, gpu.compute_minor}},
                  {"sm_count", gpu.sm_count},
                  {"memory_bytes", gpu.memory_bytes},
                  {"l2_bytes", gpu.l2_bytes}};
  if (gpu.peak_dram_bytes_per_s > 0) out["peak_dram_bytes_per_s"] = gpu.peak_dram_bytes_per_s;
  return out;
}

OrderedJson process_object(const Header& header) {
  OrderedJson out{
      {"tool_version", header.tool_version}, {"pid", header.pid},         {"host", header.host},
      {"executable", header.executable},     {"command", header.command}, {"counters", header.counters}};
  if (header.driver_version != 0) out["driver_version"] = header.driver_version;
  if (!header.driver_release.empty()) out["driver_release"] = header.driver_release;
  if (header.runtime_version != 0) out["runtime_version"] = header.runtime_version;
  if (!header.counters_reason.empty()) out["counters_reason"] = header.counters_reason;
  if (!header.rank.empty()) out["rank"] = header.rank;
  if (header.ranks != 0) out["ranks"] = header.ranks;
  return out;
}

std::string dump_json(const OrderedJson& value) {
  return value.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string compact_json(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace rangefinder
