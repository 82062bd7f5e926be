// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/summary_delta.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, SummaryDelta::kSums> kNames{
    "calls",   "kernels",         "gpu_ns",           "gpu_ns_exclusive",
    "host_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"};

/// The sums of `now` minus `last`; empty: nothing changed. Sets `last` to the sums of `now`.
Json differences(const Json& now, SummaryDelta::Sums& last) {
  Json changed = Json::object();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto found = now.find(kNames[i]);
    const bool there = found != now.end() && found->is_number();
    const double value = there ? found->get<double>() : 0.0;
    // Later samples correct the sharing of earlier ones, so a sum may shrink a little.
    if (there && value != last[i]) changed[kNames[i]] = value - last[i];
    last[i] = value;
  }
  return changed;
}

const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

}  // namespace

Json SummaryDelta::loss_differences(const Json& now) {
  Json changed = Json::object();
  for (const auto& [cause, count] : now.items()) {
    std::uint64_t& last = loss_[cause];
    const auto later = count.get<std::uint64_t>();
    if (later > last) changed[cause] = later - last;
    last = later;
  }
  return changed;
}

Json SummaryDelta::next(const Json& summary) {
  ++number_;
  Json modules = Json::array();
  for (const Json& module : member(summary, "modules")) {
    Module& known = modules_[module.value("path", "")];
    if (std::exchange(known.number, number_) != number_ - 1) known.sums = {};
    Json changed = differences(module, known.sums);
    if (changed.empty()) continue;
    changed["path"] = module.value("path", "");
    changed["depth"] = module.value("depth", 0);
    if (module.contains("bytes_source")) changed["bytes_source"] = module["bytes_source"];
    modules.push_back(std::move(changed));
  }
  const double duration_ns = summary.value("duration_ns", 0.0);
  Json delta = {{"duration_ns", duration_ns - std::exchange(duration_ns_, duration_ns)},
                {"modules", std::move(modules)}};
  if (summary.contains("outside")) delta["outside"] = differences(summary["outside"], outside_);
  if (summary.contains("loss")) delta["loss"] = loss_differences(summary["loss"]);
  if (summary.contains("gpus") && number_ == 1) delta["gpus"] = summary["gpus"];
  return delta;
}

}  // namespace rangefinder
