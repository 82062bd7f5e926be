// SPDX-License-Identifier: Apache-2.0
#include "tools/page/work_breakdown.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "schema/key_names.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The `limit` rows with the longest total time, longest first.
template <typename Map>
std::vector<typename Map::const_iterator> heaviest(const Map& sums, std::size_t limit) {
  std::vector<typename Map::const_iterator> out;
  for (auto at = sums.begin(); at != sums.end(); ++at) out.push_back(at);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    const auto key = [](const auto& row) { return std::make_pair(row->second.total_ns, row->second.count); };
    return key(a) != key(b) ? key(a) > key(b) : a->first < b->first;
  });
  if (out.size() > limit) out.resize(limit);
  return out;
}

OrderedJson kernel_modules(const WorkBreakdown& all, const PageLimits& limits, const PageIndices& indices,
                           OrderedJson& omitted) {
  OrderedJson out{{"kernel", OrderedJson::array()},   {"module", OrderedJson::array()},
                  {"count", OrderedJson::array()},    {"timed", OrderedJson::array()},
                  {"total_ns", OrderedJson::array()}, {"min_ns", OrderedJson::array()},
                  {"max_ns", OrderedJson::array()}};
  const auto rows = heaviest(all.by_path, limits.kernel_modules);
  for (const auto& row : rows) {
    out["kernel"].push_back(indices.kernel(row->first.first));
    out["module"].push_back(indices.module(row->first.second));
    out["count"].push_back(row->second.count);
    out["timed"].push_back(row->second.timed);
    out["total_ns"].push_back(row->second.total_ns);
    out["min_ns"].push_back(row->second.min_ns);
    out["max_ns"].push_back(row->second.max_ns);
  }
  omitted["kernel_modules"] = all.by_path.size() - rows.size();
  return out;
}

OrderedJson dim(const Dim3& size) {
  return {size.x, size.y, size.z};
}

OrderedJson config_json(const LaunchConfigRecord& config) {
  OrderedJson out{{"grid", dim(config.grid)}, {"block", dim(config.block)}};
  if (config.cluster.x != 0) out["cluster"] = dim(config.cluster);
  out["registers"] = config.registers;
  out["static_shared_bytes"] = config.static_shared_bytes;
  out["dynamic_shared_bytes"] = config.dynamic_shared_bytes;
  out["local_bytes_per_thread"] = config.local_bytes_per_thread;
  return out;
}

OrderedJson kernel_configs(const TraceNames& names, const WorkBreakdown& all, const PageLimits& limits,
                           const PageIndices& indices, OrderedJson& omitted) {
  OrderedJson out = OrderedJson::array();
  const auto rows = heaviest(all.by_config, limits.configs);
  for (const auto& row : rows) {
    const auto config = names.configs.find(row->first.second);
    if (config == names.configs.end()) continue;
    OrderedJson object{{"kernel", indices.kernel(row->first.first)}, {"id", config->first}};
    object.update(config_json(config->second));
    object["count"] = row->second.count;
    object["total_ns"] = row->second.total_ns;
    out.push_back(std::move(object));
  }
  omitted["kernel_configs"] = all.by_config.size() - rows.size();
  return out;
}

void add_direction(std::vector<Cell>& row, const WorkBreakdown::CopyKey& key) {
  row.push_back(text_cell(std::string(to_text(key.kind))));
  row.push_back(text_cell(std::string(to_text(key.source))));
  row.push_back(text_cell(std::string(to_text(key.destination))));
}

const std::vector<TableColumn> kDirection{{"kind", "direction"}, {"src", "from"}, {"dst", "to"}};

}  // namespace

void BreakdownSum::add(const GpuWork& work) {
  ++count;
  if (work.start_ns == kNoTime || work.end_ns < work.start_ns) return;
  const auto ns = static_cast<std::uint64_t>(work.end_ns - work.start_ns);
  min_ns = timed == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  total_ns += ns;
  ++timed;
}

int duration_bucket(std::uint64_t ns) noexcept {
  return ns < 2 ? 0 : static_cast<int>(std::floor(4 * std::log2(static_cast<double>(ns))));
}

void WorkBreakdown::add(const KernelRecord& kernel) {
  by_path[{kernel.name, kernel.work.path}].add(kernel.work);
  by_config[{kernel.name, kernel.config}].add(kernel.work);
  if (kernel.work.start_ns == kNoTime || kernel.work.end_ns < kernel.work.start_ns) return;
  ++durations[kernel.name]
             [duration_bucket(static_cast<std::uint64_t>(kernel.work.end_ns - kernel.work.start_ns))];
}

void WorkBreakdown::add(const MemcpyRecord& copy) {
  const std::uint64_t each = copy.count > 1 ? copy.bytes / copy.count : copy.bytes;
  const auto size = static_cast<std::uint32_t>(std::bit_width(each));
  copies_by_path[{copy.kind, copy.source, copy.destination, copy.work.path}].add(copy.work, copy.bytes,
                                                                                 copy.count);
  copies_by_size[{copy.kind, copy.source, copy.destination, size}].add(copy.work, copy.bytes, copy.count);
}

void add_breakdown_tables(OrderedJson& out, const TraceNames& names, const WorkBreakdown& all,
                          const PageLimits& limits, const PageIndices& indices, OrderedJson& omitted) {
  out["kernel_modules"] = kernel_modules(all, limits, indices, omitted);
  out["kernel_configs"] = kernel_configs(names, all, limits, indices, omitted);
}

Table WorkBreakdown::copies_of_modules(const TraceTotals& trace) const {
  Table out;
  out.columns = {{"path", "module"}};
  out.columns.insert(out.columns.end(), kDirection.begin(), kDirection.end());
  add_amount_columns(out.columns);
  for (const auto& [key, amount] : copies_by_path) {
    std::vector<Cell> row{text_cell(path_title(trace, key.detail))};
    add_direction(row, key);
    add_amount(row, amount);
    out.add(std::move(row));
  }
  sort_rows(out, "bytes");
  return out;
}

Table WorkBreakdown::copy_sizes() const {
  Table out;
  out.columns = kDirection;
  out.columns.push_back({"below_bytes", "each below", Unit::bytes});
  add_amount_columns(out.columns);
  for (const auto& [key, amount] : copies_by_size) {
    std::vector<Cell> row;
    add_direction(row, key);
    row.push_back(number_cell(std::uint64_t{1} << std::min<std::uint32_t>(key.detail, 53)));
    add_amount(row, amount);
    out.add(std::move(row));
  }
  return out;
}

}  // namespace rangefinder
