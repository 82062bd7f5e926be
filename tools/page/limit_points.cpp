// SPDX-License-Identifier: Apache-2.0
#include "tools/page/limit_points.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/analysis/queries/byte_fit.h"
#include "tools/analysis/queries/roofline.h"
#include "tools/analysis/queries/rows_json.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Columns of the points of one depth.
OrderedJson points_of(const DepthFit& fit, const PageIndices& indices, std::size_t& without) {
  OrderedJson out = OrderedJson::object();
  for (const char* const key :
       {"module", "ns", "dram_bytes", "l2_bytes", "dram_error", "l2_error", "dram_far", "l2_far"})
    out[key] = OrderedJson::array();
  for (std::size_t k = 0; k < fit.modules.size(); ++k) {
    const FitModule& module = fit.modules[k];
    if (!indices.has_module(module.path)) {
      ++without;
      continue;
    }
    out["module"].push_back(indices.module(module.path));
    out["ns"].push_back(module.ns);
    for (const auto& [level, name] : {std::pair(DepthFit::dram, "dram"), std::pair(DepthFit::l2, "l2")}) {
      const std::vector<std::size_t>& far = fit.lines[level].outliers;
      const std::string key = name;
      out[key + "_bytes"].push_back(module.shown[level] ? OrderedJson(module.bytes[level]) : OrderedJson());
      out[key + "_error"].push_back(static_cast<std::uint64_t>(module.error[level]));
      out[key + "_far"].push_back(std::find(far.begin(), far.end(), k) != far.end());
    }
  }
  return out;
}

/// Of one row; null: it has no operations, or no DRAM bytes.
OrderedJson roofline_point(const Derived& derived, const RowBytes& bytes, const GpuPeaks& peaks) {
  if (!derived.flop_per_dram_byte || !derived.flop_per_s) return {};
  OrderedJson out{{"flop_per_s", *derived.flop_per_s}, {"dram", *derived.flop_per_dram_byte}};
  if (derived.l2_bytes_per_s.value_or(0) > 0) out["l2"] = *derived.flop_per_s / *derived.l2_bytes_per_s;
  const double error = dram_bound(bytes);
  if (error > 0 && bytes.dram() > 0) out["error"] = error / static_cast<double>(bytes.dram());
  if (const auto roof = roof_of(derived, peaks)) {
    out["roof"] = roof->flop_per_s;
    out["is"] = roof->is;
  }
  return out;
}

}  // namespace

OrderedJson byte_fit_json(const SectionInput& input, const PageIndices& indices, OrderedJson& omitted) {
  const TracePart* const part = input.counted;
  std::vector<DepthFit> fits = byte_fits(part == nullptr ? input.trace : part->trace,
                                         part == nullptr ? input.values : *part->values, nullptr, 1);
  for (DepthFit& fit : fits) {
    if (fit.modules.size() < kMinModulesOfLine) fit.lines = {};
  }
  OrderedJson out = render_rows(byte_fit_table(fits, 0));
  std::size_t without = 0;
  for (std::size_t i = 0; i < fits.size(); ++i) out[i]["points"] = points_of(fits[i], indices, without);
  if (without != 0) omitted["byte_fit_points"] = without;
  return out;
}

void add_roofline(OrderedJson& out, const SectionInput& input, const std::vector<KernelTotals>& kernels,
                  const std::unordered_map<std::uint32_t, MeasuredKernel>& measured,
                  const PageIndices& indices) {
  OrderedJson points = OrderedJson::array();
  const GpuPeaks& peaks = input.values.context().peaks;
  const auto add = [&](const char* of, std::int64_t index, const Derived& derived, const RowBytes& bytes) {
    if (!out.contains("l2_peak_bytes_per_s") && derived.l2_bytes_per_s &&
        derived.l2_peak_share.value_or(0) > 0)
      out["l2_peak_bytes_per_s"] = *derived.l2_bytes_per_s / *derived.l2_peak_share;
    OrderedJson point = roofline_point(derived, bytes, peaks);
    if (point.is_null() || index < 0) return;
    point[of] = index;
    points.push_back(std::move(point));
  };
  for (const PathTotals& row : input.trace.rows()) {
    if (row.path != 0 && indices.has_module(row.path))
      add("module", indices.module(row.path), input.values.derived(row), input.values.bytes(row));
  }
  for (const KernelTotals& kernel : kernels) {
    const auto at = measured.find(kernel.name);
    if (at == measured.end()) continue;
    add("kernel", indices.kernel(kernel.name), at->second.derived, input.values.bytes(kernel));
  }
  if (!points.empty()) out["roofline"] = std::move(points);
}

}  // namespace rangefinder
