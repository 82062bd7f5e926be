// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/summary_delta.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr std::array kSums{"calls",   "kernels",         "gpu_ns",           "gpu_ns_exclusive",
                           "host_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"};

/// The sums of `now` less those of `before` (an object, or null); empty: nothing changed.
Json differences(const Json& now, const Json& before) {
  Json changed = Json::object();
  for (const char* const key : kSums) {
    const auto found = now.find(key);
    if (found == now.end() || !found->is_number()) continue;
    const double earlier = before.is_object() ? before.value(key, 0.0) : 0.0;
    // Shares of samples are corrected when later samples come: a sum may shrink a little.
    const double difference = found->get<double>() - earlier;
    if (difference != 0) changed[key] = difference;
  }
  return changed;
}

Json loss_differences(const Json& now, const Json& before) {
  Json changed = Json::object();
  for (const auto& [cause, count] : now.items()) {
    const auto earlier = before.is_object() ? before.value(cause, std::uint64_t{0}) : std::uint64_t{0};
    const auto later = count.get<std::uint64_t>();
    if (later > earlier) changed[cause] = later - earlier;
  }
  return changed;
}

const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

}  // namespace

Json SummaryDelta::next(Json summary) {
  std::map<std::string, const Json*> before;
  for (const Json& module : member(last_, "modules")) before[module.value("path", "")] = &module;
  Json modules = Json::array();
  for (const Json& module : member(summary, "modules")) {
    const auto known = before.find(module.value("path", ""));
    Json changed = differences(module, known == before.end() ? Json() : *known->second);
    if (changed.empty()) continue;
    changed["path"] = module.value("path", "");
    changed["depth"] = module.value("depth", 0);
    if (module.contains("bytes_source")) changed["bytes_source"] = module["bytes_source"];
    modules.push_back(std::move(changed));
  }
  Json delta = {{"duration_ns", summary.value("duration_ns", 0.0) -
                                    (last_.is_object() ? last_.value("duration_ns", 0.0) : 0.0)},
                {"modules", std::move(modules)}};
  if (summary.contains("outside"))
    delta["outside"] = differences(summary["outside"], member(last_, "outside"));
  if (summary.contains("loss")) delta["loss"] = loss_differences(summary["loss"], member(last_, "loss"));
  if (summary.contains("gpus") && !last_.is_object()) delta["gpus"] = summary["gpus"];
  last_ = std::move(summary);
  return delta;
}

}  // namespace rangefinder
