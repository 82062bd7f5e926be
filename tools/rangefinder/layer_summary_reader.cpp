// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/layer_summary_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rangefinder {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto it = object.find(key);
  return it == object.end() ? kNone : *it;
}

std::uint64_t count(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.get<std::int64_t>(), 0));
}

std::uint64_t number(const json& object, const char* key) {
  return count(member(object, key));
}

std::optional<std::uint64_t> known_number(const json& object, const char* key) {
  return member(object, key).is_number() ? std::optional(number(object, key)) : std::nullopt;
}

std::optional<double> real(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_partial(const json& row) {
  const bool unmeasured = number(row, "unmeasured_launches") > 0;
  if (!real(row, "dram_read_bytes")) return unmeasured;
  if (member(row, "bytes_estimated") == json(true)) return false;
  return unmeasured || real(row, "launches") || real(row, "sampled_share");
}

LayerRow row_of(const json& row) {
  LayerRow out;
  out.path = text(row, "path");
  out.depth = number(row, "depth");
  out.calls = known_number(row, "calls");
  out.kernels = number(row, "kernels");
  out.gpu_ns = number(row, "gpu_ns");
  // A 0 that has an error was not measured.
  if (!row.contains("dram_read_error_bytes")) out.dram_read_bytes = known_number(row, "dram_read_bytes");
  if (!row.contains("dram_write_error_bytes")) out.dram_write_bytes = known_number(row, "dram_write_bytes");
  if (!row.contains("l2_error_bytes")) out.l2_bytes = known_number(row, "l2_bytes");
  out.carry_over_bytes = known_number(row, "carry_over_bytes");
  if (text(row, "bytes_source") == "sampled") {
    out.bytes_error_pct = real(row, "bytes_error_pct");
    out.read_error_pct = real(row, "dram_read_error_pct");
    out.write_error_pct = real(row, "dram_write_error_pct");
    out.l2_error_pct = real(row, "l2_error_pct");
  }
  out.dram_peak_share = real(row, "dram_peak_share");
  out.limiter = text(row, "limiter");
  out.partial = is_partial(row);
  out.inseparable = number(row, "inseparable") != 0;
  return out;
}

}  // namespace

LayerSummary read_layer_summary(const json& summary) {
  LayerSummary out;
  for (const json& row : member(summary, "modules")) out.modules.push_back(row_of(row));
  out.outside = row_of(member(summary, "outside"));
  if (const json& samples = member(summary, "samples"); samples.is_object()) {
    const json& method = member(samples, "method");
    const bool unmixed = std::find(method.begin(), method.end(), json("unmixed")) != method.end();
    out.samples = {number(samples, "count"), unmixed, row_of(member(samples, "unattributed"))};
  }
  const json& truth = member(summary, "truth");
  out.truth = {number(truth, "copies"), number(truth, "known_bytes"), number(truth, "measured_bytes")};
  out.counters_reason = text(member(summary, "process"), "counters_reason");
  const json& monitor = member(summary, "monitor");
  out.monitor_windows = number(monitor, "windows");
  out.monitor_window_ns = number(monitor, "window_ns");
  out.monitor_observed_ns = number(monitor, "observed_ns");
  for (const json& row : member(summary, "memcpy")) out.copies += number(row, "count");
  if (const json& loss = member(summary, "loss"); loss.is_object()) {
    for (const auto& [cause, n] : loss.items()) out.loss[cause] = count(n);
  }
  out.final = member(summary, "final") != json(false);
  return out;
}

}  // namespace rangefinder
