// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/baseline.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/diff/trace_diff.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/regular_file.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kSchema = "rangefinder.baseline";
constexpr const char* kVersion = "1.3";
constexpr std::string_view kMajor = "1.";

OrderedJson json_of(const Moments& moments) {
  return {moments.n(), moments.mean(), moments.squares(), moments.trimmed()};
}

double finite(const OrderedJson& value) {
  const auto out = value.get<double>();
  if (!std::isfinite(out)) throw std::invalid_argument("a number is not finite");
  return out;
}

std::uint64_t count(const OrderedJson& value) {
  if (!value.is_number_unsigned()) throw std::invalid_argument("a number is not a count: " + value.dump());
  return value.get<std::uint64_t>();
}

Moments moments_of(const OrderedJson& row) {
  const Moments out(count(row.at(0)), finite(row.at(1)), finite(row.at(2)), count(row.at(3)));
  if (out.squares() < 0) throw std::invalid_argument("a spread is negative");
  return out;
}

void add_spreads(OrderedJson& row, const Spreads& spreads) {
  for (std::size_t q = 0; q < kQuantities; ++q) {
    if (spreads[q].n() != 0) row[quantity_key(static_cast<Quantity>(q))] = json_of(spreads[q]);
  }
}

Spreads spreads_of(const OrderedJson& row) {
  Spreads out;
  for (std::size_t q = 0; q < kQuantities; ++q) {
    const auto at = row.find(quantity_key(static_cast<Quantity>(q)));
    if (at != row.end()) out[q] = moments_of(*at);
  }
  return out;
}

/// Empty in a file of version 1.0.
MetricValues metrics_of(const OrderedJson& row) {
  MetricValues out;
  const auto metrics = row.find("metrics");
  if (metrics == row.end()) return out;
  for (const auto& [name, value] : metrics->items()) out[name] = finite(value);
  return out;
}

OrderedJson header_json(const Header& header) {
  return {{"executable", header.executable},
          {"command", header.command},
          {"driver_release", header.driver_release},
          {"tool_version", header.tool_version},
          {"monitor_window_ns", header.monitor_window_ns},
          {"monitor_period_ns", header.monitor_period_ns}};
}

Header header_of(const OrderedJson& row) {
  Header out;
  row.at("executable").get_to(out.executable);
  row.at("command").get_to(out.command);
  row.at("driver_release").get_to(out.driver_release);
  row.at("tool_version").get_to(out.tool_version);
  out.monitor_window_ns = count(row.at("monitor_window_ns"));
  out.monitor_period_ns = count(row.at("monitor_period_ns"));
  return out;
}

OrderedJson iteration_json(const IterationSeries& series) {
  OrderedJson out = OrderedJson::array();
  for (const auto& [quantity, values] : series.of_iterations) {
    out.push_back({{"quantity", quantity_key(quantity)},
                   {"n", values.n},
                   {"median", values.median},
                   {"p95", values.p95},
                   {"longest", values.longest},
                   {"batches", json_of(values.batches)}});
  }
  return out;
}

OrderedJson modules_json(const IterationSeries& series) {
  std::vector<OrderedJson> rows(series.paths.size());
  for (const auto& [path, of] : series.paths) {
    OrderedJson& row = rows.at(of.order - 1);
    row = {{"path", path}, {"name", of.name}, {"depth", of.depth}};
    add_spreads(row, of.spreads);
    if (!of.metrics.empty()) row["metrics"] = of.metrics;
    if (of.ranks) row["ranks"] = {of.ranks->min_ns, of.ranks->max_ns};
    const auto sampled = series.sampled.find(path);
    if (sampled == series.sampled.end()) continue;
    const SampledSeries& bytes = sampled->second;
    row["sampled"] = {bytes.dram_bytes, bytes.dram_error, bytes.l2_bytes, bytes.l2_error};
  }
  return rows;
}

OrderedJson calls_json(const IterationSeries& series) {
  OrderedJson out = OrderedJson::array();
  for (const auto& [path, of] : series.calls) {
    out.push_back({{"path", path},
                   {"calls", of.calls},
                   {"gpu_ns", json_of(of.gpu_ns)},
                   {"host_ns", json_of(of.host_ns)}});
  }
  return out;
}

void read_modules(IterationSeries& out, const OrderedJson& rows) {
  for (const OrderedJson& row : rows) {
    const auto path = row.at("path").get<std::string>();
    PathSeries& series = out.paths[path];
    series = {row.at("name").get<std::string>(), static_cast<std::uint32_t>(count(row.at("depth"))),
              out.paths.size(), spreads_of(row), metrics_of(row)};
    if (const auto ranks = row.find("ranks"); ranks != row.end())
      series.ranks = RankSpread{finite(ranks->at(0)), finite(ranks->at(1))};
    const auto sampled = row.find("sampled");
    if (sampled == row.end()) continue;
    out.sampled[path] = {finite(sampled->at(0)), finite(sampled->at(1)), finite(sampled->at(2)),
                         finite(sampled->at(3))};
  }
}

/// Throws nlohmann's exceptions and std::invalid_argument if `whole` has not this form.
IterationSeries series_of(const OrderedJson& whole) {
  IterationSeries out;
  whole.at("trace").get_to(out.title);
  out.header = header_of(whole.at("program"));
  whole.at("gpus").get_to(out.gpus);
  out.clocks = whole.value("clocks", out.clocks);
  if (const auto conditions = whole.find("conditions"); conditions != whole.end()) {
    for (const auto& [key, value] : conditions->items()) out.conditions[key] = finite(value);
  }
  whole.at("counters").get_to(out.counters);
  whole.at("iteration_path").get_to(out.iteration_path);
  out.iterations = count(whole.at("iterations"));
  out.batches = count(whole.at("batches"));
  if (const auto ranks = whole.find("ranks"); ranks != whole.end()) out.ranks = count(*ranks);
  out.late = whole.value("late", out.late);
  for (const OrderedJson& row : whole.at("iteration")) {
    const std::optional<Quantity> quantity = quantity_of(row.at("quantity").get<std::string>());
    if (!quantity) continue;  // of a newer version
    out.of_iterations[*quantity] = {count(row.at("n")), finite(row.at("median")), finite(row.at("p95")),
                                    finite(row.at("longest")), moments_of(row.at("batches"))};
  }
  read_modules(out, whole.at("modules"));
  for (const OrderedJson& row : whole.at("kernels")) {
    out.kernels[row.at("name").get<std::string>()] = {spreads_of(row), row.at("where").get<std::string>(),
                                                      metrics_of(row)};
  }
  for (const OrderedJson& row : whole.at("calls")) {
    out.calls[row.at("path").get<std::string>()] = {count(row.at("calls")), moments_of(row.at("gpu_ns")),
                                                    moments_of(row.at("host_ns"))};
  }
  return out;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& reason) {
  throw Missing(file.string() + " is no baseline: " + reason +
                "\n  Write it again with: rangefinder diff --save " + file.string() + " TRACE");
}

}  // namespace

std::string baseline_text(const IterationSeries& series) {
  OrderedJson kernels = OrderedJson::array();
  for (const auto& [name, of] : series.kernels) {
    OrderedJson& row = kernels.emplace_back(OrderedJson{{"name", name}, {"where", of.where}});
    add_spreads(row, of.spreads);
    if (!of.metrics.empty()) row["metrics"] = of.metrics;
  }
  OrderedJson out{{"schema", kSchema},
                  {"version", kVersion},
                  {"trace", series.title},
                  {"program", header_json(series.header)},
                  {"gpus", series.gpus},
                  {"clocks", series.clocks},
                  {"conditions", series.conditions},
                  {"counters", series.counters},
                  {"iteration_path", series.iteration_path},
                  {"iterations", series.iterations},
                  {"batches", series.batches},
                  {"iteration", iteration_json(series)},
                  {"modules", modules_json(series)},
                  {"kernels", std::move(kernels)},
                  {"calls", calls_json(series)}};
  if (series.ranks != 0) out["ranks"] = series.ranks;
  if (!series.late.empty()) out["late"] = series.late;
  return out.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

IterationSeries read_baseline(const std::filesystem::path& file) {
  const OrderedJson whole = OrderedJson::parse(open_regular_file(file).get(), nullptr, false);
  if (whole.is_discarded()) refuse(file, "the JSON is damaged or incomplete");
  if (!whole.is_object() || whole.value("schema", OrderedJson()) != kSchema) {
    refuse(file, std::string("its \"schema\" is not ") + kSchema);
  }
  const auto version = whole.value("version", OrderedJson());
  if (!version.is_string() || version.get<std::string>().compare(0, kMajor.size(), kMajor) != 0) {
    refuse(file, "this program reads version " + std::string(kVersion) + ", the file has " + version.dump());
  }
  try {
    return series_of(whole);
  } catch (const OrderedJson::exception& error) {
    refuse(file, error.what());
  } catch (const std::invalid_argument& error) {
    refuse(file, error.what());
  }
}

}  // namespace rangefinder
