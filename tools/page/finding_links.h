// SPDX-License-Identifier: Apache-2.0
//
// Where the page shows what a finding names: rows of modules and kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/findings/finding.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

class FindingLinks {
 public:
  /// `indices`: of the modules and kernels that are in the page.
  FindingLinks(const TraceTotals& trace, const PageIndices& indices);

  /// The module of that path; with a `*` for a number the heaviest of those modules. Absent: the page has
  /// none.
  [[nodiscard]] std::optional<std::uint32_t> path(const std::string& name) const;
  /// {name: {"module" or "kernel": index}} of each name in the finding: its place, its modules, its kernel,
  /// texts in its evidence that are the path of a module.
  [[nodiscard]] nlohmann::ordered_json of(const Finding& finding) const;

 private:
  const PageIndices& indices_;
  std::unordered_map<std::string, std::uint32_t> paths_;  // by text, and by text without numbers
};

}  // namespace rangefinder
