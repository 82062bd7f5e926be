// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI can count on a chip. Asked through its host functions, which need neither
// a GPU nor a driver.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/cupti/loader.h"

namespace rangefinder {

struct MetricInfo {
  std::string name;
  std::string unit;
  std::string description;
};

/// Chips of the loaded CUPTI. Throws Missing.
[[nodiscard]] std::vector<std::string> supported_chips(const CuptiFunctions& cupti);

/// Chip of the first GPU; "" where there is none.
[[nodiscard]] std::string chip_of_gpu(const CuptiFunctions& cupti);

/// One chip's metrics. Throws Missing when CUPTI refuses.
class MetricCatalog {
 public:
  MetricCatalog(const CuptiFunctions& cupti, const std::string& chip);
  ~MetricCatalog();
  MetricCatalog(const MetricCatalog&) = delete;
  MetricCatalog& operator=(const MetricCatalog&) = delete;

  /// False: the chip has no such metric.
  [[nodiscard]] bool describe(const std::string& metric, MetricInfo& info) const;
  /// Names of base metrics (without .sum and the like) that contain `pattern`, sorted.
  [[nodiscard]] std::vector<std::string> base_metrics(const std::string& pattern) const;
  /// Passes that `metrics` need together. Changes the catalogue: call it once.
  [[nodiscard]] std::size_t passes(const std::vector<const char*>& metrics);

 private:
  const CuptiFunctions& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace rangefinder
