// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/lake_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schema/json_text.h"
#include "tools/analysis/queries/rows_json.h"

namespace rangefinder {

void LakeTexts::add(const SelectedRows& rows) {
  rows.lines<NameRecord>([this](const NameRecord& name) { range_names_.emplace(name.id, name.text); });
  rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) { metric_sets_.emplace(set.id, set); });
}

std::string_view LakeTexts::module(std::uint32_t path) const {
  if (path == 0) return {};
  return modules_.get(path, [&] { return keep(trace_.path_text(path)); });
}

std::string_view LakeTexts::kernel(std::uint32_t name) const {
  if (name == 0) return {};
  return kernels_.get(name, [&] { return keep(trace_.kernel_name(name).demangled); });
}

std::string_view LakeTexts::from_library(std::uint32_t name) const {
  if (name == 0) return {};
  return libraries_.get(name, [&] { return keep(trace_.kernel_name(name).from_library); });
}

const LaunchConfigRecord* LakeTexts::config(std::uint32_t id) const {
  if (id == 0) return nullptr;
  return configs_.get(id, [&]() -> const LaunchConfigRecord* {
    const auto known = trace_.configs.find(id);
    return known == trace_.configs.end() ? nullptr : &known->second;
  });
}

std::string_view LakeTexts::domain(std::uint32_t id) const {
  const auto known = trace_.domains.find(id);
  return known == trace_.domains.end() ? std::string_view() : valid(known->second);
}

std::string_view LakeTexts::range(const RangeRecord& range) const {
  if (range.name == 0) return names_.get(range.path, [&] { return keep(trace_.own_name(range.path)); });
  const auto known = range_names_.find(range.name);
  return known == range_names_.end() ? std::string_view("(unknown)") : valid(known->second);
}

std::string_view LakeTexts::metric_set(std::uint32_t id) const {
  const auto known = metric_sets_.find(id);
  return known == metric_sets_.end() ? std::string_view() : valid(known->second.name);
}

std::string_view LakeTexts::metrics(const ExactRecord& exact) const {
  const auto known = metric_sets_.find(exact.metric_set);
  if (known == metric_sets_.end()) return {};
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  const std::vector<std::string>& metrics = known->second.metrics;
  for (std::size_t i = 0; i < std::min(metrics.size(), exact.values.size()); ++i)
    out[metrics[i]] = exact.values[i];
  return keep(compact_json(out));
}

std::string_view LakeTexts::stack(std::uint32_t id) const {
  return stacks_.get(id, [&] {
    std::vector<std::uint32_t> frames;
    trace_.stacks.frames_of(id, frames);
    std::string out;
    for (const std::uint32_t frame : frames)
      out += (out.empty() ? "" : ";") + trace_.stacks.frame(frame).function;
    return keep(std::move(out));
  });
}

std::string_view LakeTexts::function(std::uint32_t stack) const {
  return functions_.get(stack, [&] {
    const FrameRecord& frame = trace_.stacks.frame(trace_.stacks.frame_of(stack));
    const std::string source = source_text(frame);
    return keep(source.empty() ? frame.function : frame.function + " (" + source + ")");
  });
}

std::string_view LakeTexts::valid(std::string_view text) const {
  if (text == last_valid_.first) return last_valid_.second;
  const auto known = valid_.find(text);
  if (known != valid_.end()) {
    last_valid_ = *known;
  } else {
    const std::string_view own = kept_.emplace_back(text);  // a key that stays
    last_valid_ = *valid_.emplace(own, keep(std::string(text))).first;
  }
  return last_valid_.second;
}

std::string_view LakeTexts::keep(std::string text) const {
  std::string& kept = kept_.emplace_back();
  append_valid_utf8(kept, text);
  return kept;
}

}  // namespace rangefinder
