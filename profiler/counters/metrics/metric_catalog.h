// SPDX-License-Identifier: Apache-2.0
//
// The metrics that CUPTI offers on a chip: names, units, suffixes. Uses its host functions,
// which need neither a GPU nor a driver. A refusal by CUPTI never throws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/cupti/functions.h"

namespace rangefinder {

struct MetricInfo {
  std::string unit;  ///< CUPTI's: "byte", "l2_sector", "sys_cycle/second"; "" if it has none
  std::string description;
};

/// Chips that the loaded CUPTI supports, for example "GH100".
[[nodiscard]] CUptiResult supported_chips(const CuptiFunctions& cupti, std::vector<std::string>& chips);

/// One chip's metrics. Not thread-safe.
class MetricCatalog {
 public:
  explicit MetricCatalog(const CuptiFunctions& cupti) noexcept : cupti_(cupti) {}
  ~MetricCatalog();
  MetricCatalog(const MetricCatalog&) = delete;
  MetricCatalog& operator=(const MetricCatalog&) = delete;

  /// Call once. `availability`: the device's counter availability image; may be empty.
  [[nodiscard]] CUptiResult open(const std::string& chip, std::span<const std::uint8_t> availability);

  /// False: the chip has no such metric. `metric`: with its suffix, "dram__bytes_read.sum".
  [[nodiscard]] bool describe(const std::string& metric, MetricInfo& info) const;
  /// Base metrics ("dram__bytes_read") whose name contains `pattern`, sorted.
  [[nodiscard]] std::vector<std::string> base_metrics(std::string_view pattern) const;
  /// ".sum", ".avg.per_second", ... of a base metric; empty: no such metric.
  [[nodiscard]] std::vector<std::string> suffixes(const std::string& base_metric) const;

 private:
  const CuptiFunctions& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace rangefinder
