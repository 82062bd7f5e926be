// SPDX-License-Identifier: Apache-2.0
//
// What the kernels that torch.compile generates compute.
//
//   kernel_origin lines ─▶ of(triton_poi_fused_mul_silu_7)       silu, mul     /app/model.py:220     12 paths
//                       ─▶ text()                                silu, mul (model.py:220)
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/module_sources.h"

namespace rangefinder {

/// What a kernel computes, of one line of the program.
struct OriginLine {
  std::string operators;          ///< "silu, mul"
  SourceLines source;             ///< that of the call alone
  std::set<std::uint32_t> paths;  ///< in which the kernel computes it
};

class KernelOrigins {
 public:
  void add(const KernelOriginRecord& record);
  /// By the kernel's id, in the order of the trace. Empty: not generated, or not known.
  [[nodiscard]] const std::vector<OriginLine>& of(std::uint32_t kernel) const;
  /// In one line; of a kernel with more than three, the first ones and the number of the others.
  [[nodiscard]] std::string text(std::uint32_t kernel) const;

 private:
  std::unordered_map<std::uint32_t, std::vector<OriginLine>> by_kernel_;
};

}  // namespace rangefinder
