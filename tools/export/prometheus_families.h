// SPDX-License-Identifier: Apache-2.0
//
// The Prometheus metrics of traces and running programs: one list of names for both.
//
//   trace ─▶ trace_families()  ─┐
//                               ├─▶ PrometheusFamilies ─▶ `export --to prometheus`, /metrics of `serve`
//   summaries of running programs ┘   (tools/serve/process_ledger.h)
//
// Modules have the names of reports (shown_paths.h). Their values exclude the modules below them, so that
// sum() over modules is the total. The number of modules with rows is limited; the others are summed as
// (other), and counted. Kernel names are labels only on request and are limited too, because their number is
// unbounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

/// Names and values, in output order.
using PrometheusLabels = std::vector<std::pair<std::string_view, std::string>>;

/// The unit of a family's values. They are integers, so that sums are exact.
enum class PrometheusUnit : std::uint8_t { one, nanosecond };

/// The text exposition format of Prometheus, version 0.0.4.
///
///   # HELP rangefinder_kernel_seconds_total …
///   # TYPE rangefinder_kernel_seconds_total counter
///   rangefinder_kernel_seconds_total{gpu="0",module="model/decoder"} 0.002400500
///
/// Samples of one family are written together. Samples with equal labels are added up, for example two
/// processes of one rank. Labels with an empty value are omitted, which means the same.
class PrometheusFamily {
 public:
  PrometheusFamily(std::string_view name, std::string_view help, std::string_view type, PrometheusUnit unit)
      : name_(name), help_(help), type_(type), unit_(unit) {}

  void add(const PrometheusLabels& labels, std::uint64_t value);
  /// Sets a gauge instead of adding.
  void set(const PrometheusLabels& labels, std::uint64_t value);
  /// Adds the samples of `other`, of the same family.
  void add(const PrometheusFamily& other);
  /// Takes the maximum of each sample here and in `other`.
  void raise(const PrometheusFamily& other);
  /// Appends nothing if the family has no samples.
  void append(std::string& out) const;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view name_, help_, type_;
  PrometheusUnit unit_;
  std::map<std::string, std::uint64_t> samples_;  // by label text
};

inline constexpr const char* kOutsideModule = "(outside of any range)";
inline constexpr const char* kOtherRows = "(other)";

struct PrometheusLimits {
  std::size_t modules = 200;  ///< maximum number with rows; others are summed as (other)
  std::size_t kernels = 0;    ///< the same for kernel names; 0: no rows by kernel
};

struct PrometheusFamilies {
  using Unit = PrometheusUnit;
  PrometheusFamily build{"rangefinder_build_info", "Version of the profiler that recorded the trace.",
                         "gauge", Unit::one};
  PrometheusFamily gpus{"rangefinder_gpu_info", "GPUs of the trace.", "gauge", Unit::one};
  PrometheusFamily peak{"rangefinder_gpu_dram_peak_bytes_per_second",
                        "Most bytes a second that the DRAM of the GPU can move.", "gauge", Unit::one};
  PrometheusFamily span{"rangefinder_trace_seconds_total", "Time from the first to the last event recorded.",
                        "counter", Unit::nanosecond};
  PrometheusFamily kernels{"rangefinder_kernel_launches_total", "Kernels that ran, by the module itself.",
                           "counter", Unit::one};
  PrometheusFamily kernel_time{"rangefinder_kernel_seconds_total",
                               "Sum of durations of kernels and whole graphs, by the module itself.",
                               "counter", Unit::nanosecond};
  PrometheusFamily graphs{"rangefinder_graph_launches_total",
                          "Graphs that ran and were recorded as a whole, by the module itself.", "counter",
                          Unit::one};
  PrometheusFamily dram{"rangefinder_dram_bytes_total",
                        "DRAM bytes; exact: of measured launches, as the report completes them; "
                        "sampled: shares of hardware samples.",
                        "counter", Unit::one};
  PrometheusFamily l2{"rangefinder_l2_bytes_total",
                      "L2 bytes; exact: of measured launches, as the report completes them; "
                      "sampled: shares of hardware samples.",
                      "counter", Unit::one};
  PrometheusFamily measured{"rangefinder_measured_launches_total",
                            "Launches whose exact bytes are in the sums.", "counter", Unit::one};
  PrometheusFamily copies{"rangefinder_memcpy_bytes_total", "Bytes requested by copies.", "counter",
                          Unit::one};
  PrometheusFamily copy_time{"rangefinder_memcpy_seconds_total", "Sum of the durations of copies.", "counter",
                             Unit::nanosecond};
  PrometheusFamily kernel_names{"rangefinder_kernel_name_launches_total", "Kernels that ran, by name.",
                                "counter", Unit::one};
  PrometheusFamily kernel_name_time{"rangefinder_kernel_name_seconds_total",
                                    "Sum of kernel durations, by name.", "counter", Unit::nanosecond};
  PrometheusFamily conditions{"rangefinder_condition",
                              "Last value of a clock, power, load or resource; the label condition has its "
                              "unit; without a GPU it is of the process.",
                              "gauge", Unit::one};
  PrometheusFamily lost{"rangefinder_records_lost_total", "What happened and is not in the trace, by cause.",
                        "counter", Unit::one};
  PrometheusFamily overhead{"rangefinder_overhead_seconds_total", "Time that recording took.", "counter",
                            Unit::nanosecond};
  PrometheusFamily modules_omitted{"rangefinder_modules_left_out",
                                   "Modules without rows of their own, summed as (other).", "gauge",
                                   Unit::one};
  PrometheusFamily kernels_omitted{"rangefinder_kernel_names_left_out",
                                   "Kernel names without rows of their own, summed as (other).", "gauge",
                                   Unit::one};

  /// In output order.
  static constexpr std::array kAll{&PrometheusFamilies::build,
                                   &PrometheusFamilies::gpus,
                                   &PrometheusFamilies::peak,
                                   &PrometheusFamilies::span,
                                   &PrometheusFamilies::kernels,
                                   &PrometheusFamilies::kernel_time,
                                   &PrometheusFamilies::graphs,
                                   &PrometheusFamilies::dram,
                                   &PrometheusFamilies::l2,
                                   &PrometheusFamilies::measured,
                                   &PrometheusFamilies::copies,
                                   &PrometheusFamilies::copy_time,
                                   &PrometheusFamilies::kernel_names,
                                   &PrometheusFamilies::kernel_name_time,
                                   &PrometheusFamilies::conditions,
                                   &PrometheusFamilies::lost,
                                   &PrometheusFamilies::overhead,
                                   &PrometheusFamilies::modules_omitted,
                                   &PrometheusFamilies::kernels_omitted};

  void append(std::string& out) const {
    for (const auto family : kAll) (this->*family).append(out);
  }
};

/// Sums of all traces. Throws Missing if one cannot be read. `notes`: receives notes on missing data.
[[nodiscard]] PrometheusFamilies trace_families(const std::vector<TraceFolder>& traces,
                                                const PrometheusLimits& limits,
                                                std::vector<std::string>* notes = nullptr);

}  // namespace rangefinder
