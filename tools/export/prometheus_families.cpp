// SPDX-License-Identifier: Apache-2.0
#include "tools/export/prometheus_families.h"

#include <algorithm>

#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

/// Appends a label value; escapes backslash, quote and newline.
void append_label_value(std::string& out, std::string_view value) {
  for (const char c : plain_text(value)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

std::string label_text(const PrometheusLabels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    out += out.empty() ? "{" : ",";
    out += name;
    out += "=\"";
    append_label_value(out, value);
    out += '"';
  }
  return out.empty() ? out : out + "}";
}

std::string value_text(std::uint64_t value, PrometheusUnit unit) {
  if (unit == PrometheusUnit::one) return std::to_string(value);
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  std::string rest = std::to_string(value % kNsPerSecond);
  rest.insert(0, 9 - rest.size(), '0');
  return std::to_string(value / kNsPerSecond) + "." + rest;
}

}  // namespace

void PrometheusFamily::add(const PrometheusLabels& labels, std::uint64_t value) {
  samples_[label_text(labels)] += value;
}

void PrometheusFamily::set(const PrometheusLabels& labels, std::uint64_t value) {
  samples_[label_text(labels)] = value;
}

void PrometheusFamily::add(const PrometheusFamily& other) {
  for (const auto& [labels, value] : other.samples_) samples_[labels] += value;
}

void PrometheusFamily::raise(const PrometheusFamily& other) {
  for (const auto& [labels, value] : other.samples_) {
    std::uint64_t& ours = samples_[labels];
    ours = std::max(ours, value);
  }
}

void PrometheusFamily::append(std::string& out) const {
  if (samples_.empty()) return;
  out.append("# HELP ").append(name_).append(" ").append(help_).append("\n");
  out.append("# TYPE ").append(name_).append(" ").append(type_).append("\n");
  for (const auto& [labels, value] : samples_) {
    out.append(name_).append(labels).append(" ").append(value_text(value, unit_)).append("\n");
  }
}

}  // namespace rangefinder
