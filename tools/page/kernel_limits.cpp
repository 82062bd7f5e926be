// SPDX-License-Identifier: Apache-2.0
#include "tools/page/kernel_limits.h"

#include <optional>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

constexpr const char* kBelowDram = "below_dram";

std::optional<Derived> sampled(const KernelTotals& kernel, const RowValues& values) {
  const RowBytes bytes = values.bytes(kernel);
  if (bytes.source != RowBytes::Source::sampled) return std::nullopt;
  return derive(kernel_as_path(kernel), bytes, values.context().peaks, {});
}

std::string key_of(const Derived& derived) {
  if (derived.limiter) return std::string(limiter_name(*derived.limiter));
  return derived.dram_peak_share ? kBelowDram : "";
}

}  // namespace

std::unordered_map<std::uint32_t, std::string> kernel_limits(const TraceTotals& trace,
                                                             const RowValues& values,
                                                             const MeasuredKernels& measured) {
  const std::vector<KernelTotals> kernels = trace.totals.kernels();
  const auto with_counters = measured.all(kernels, values.context().peaks);
  std::unordered_map<std::uint32_t, std::string> out;
  for (const KernelTotals& kernel : kernels) {
    const auto exact = with_counters.find(kernel.name);
    const std::optional<Derived> derived =
        exact != with_counters.end() ? std::optional(exact->second.derived) : sampled(kernel, values);
    if (!derived) continue;
    if (std::string key = key_of(*derived); !key.empty()) out.emplace(kernel.name, std::move(key));
  }
  return out;
}

std::string limit_text(const std::string& key) {
  if (key == kBelowDram)
    return "below " + percent_text(kRoofShare) + " of the DRAM peak; other limits not measured";
  if (key == limiter_name(Limiter::latency)) return "below " + percent_text(kRoofShare) + " of every peak";
  if (key == limiter_name(Limiter::dram)) return "limited by DRAM";
  if (key == limiter_name(Limiter::l2)) return "limited by L2";
  return key.empty() ? "bytes not measured" : "limited by " + key;
}

}  // namespace rangefinder
