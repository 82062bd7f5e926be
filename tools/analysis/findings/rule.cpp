// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/rule.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/analysis/tables/kernel_text.h"

namespace rangefinder {

namespace {

/// Length of the parameter list of "f<2>(int, void (*)(int))"; 0 if there is none.
std::size_t parameters_length(std::string_view name) {
  if (!name.ends_with(')')) return 0;
  std::size_t open = 0;
  for (std::size_t i = name.size(); i-- > 1;) {
    if (name[i] == ')') ++open;
    if (name[i] == '(' && --open == 0) return name.size() - i;
  }
  return 0;
}

}  // namespace

std::string FindingContext::path_text(std::uint32_t path) const {
  return path == 0 ? "(outside of any range)" : input.trace.path_text(path);
}

const std::string& FindingContext::kernel_name(std::uint32_t name) const {
  static const std::string kUnknown;
  const auto at = input.trace.kernel_names.find(name);
  return at == input.trace.kernel_names.end() ? kUnknown : at->second.demangled;
}

std::string FindingContext::kernel_text(std::uint32_t name) const {
  constexpr std::size_t kLongest = 120;
  std::string_view whole = kernel_name(name);
  if (whole.starts_with("void ")) whole.remove_prefix(5);
  whole.remove_suffix(parameters_length(whole));
  return whole.size() <= kLongest ? std::string(whole) : short_kernel_name(kernel_name(name));
}

std::optional<std::uint64_t> FindingContext::net_ns(std::uint64_t ns, std::uint64_t launches) const {
  if (!launch_cost_ns) return std::nullopt;
  return ns - std::min(ns, launches * *launch_cost_ns);
}

void FindingContext::add_cost(Finding& finding, std::uint64_t launches) const {
  if (!launch_cost_ns) return;
  finding.evidence.push_back(
      evidence_ns("recording_ns", "cost of recording, not in the saving", launches * *launch_cost_ns));
}

const GpuRecord* FindingContext::gpu() const {
  return input.trace.gpus.empty() ? nullptr : &input.trace.gpus.front();
}

void KernelRule::find(const FindingContext& context, std::vector<Finding>& out) {
  std::size_t found = 0;
  for (const KernelUse& use : context.kernels.uses()) {
    if (found == kMaxFindings) return;
    found += find_in(use, context, out) ? 1 : 0;
  }
}

Severity severity_of(std::uint64_t saving_ns, std::uint64_t span_ns) {
  if (span_ns == 0) return Severity::info;
  const double share = static_cast<double>(saving_ns) / static_cast<double>(span_ns);
  return share >= 0.10 ? Severity::serious : share >= 0.03 ? Severity::notable : Severity::info;
}

Evidence evidence_ns(std::string key, std::string text, std::uint64_t ns) {
  return {std::move(key), std::move(text), ns, Unit::ns};
}
Evidence evidence_count(std::string key, std::string text, std::uint64_t count) {
  return {std::move(key), std::move(text), count, Unit::count};
}
Evidence evidence_bytes(std::string key, std::string text, std::uint64_t bytes) {
  return {std::move(key), std::move(text), bytes, Unit::bytes};
}
Evidence evidence_share(std::string key, std::string text, double share) {
  return {std::move(key), std::move(text), share, Unit::share};
}
Evidence evidence_factor(std::string key, std::string text, double factor) {
  return {std::move(key), std::move(text), factor, Unit::factor};
}
Evidence evidence_rate(std::string key, std::string text, double bytes_per_s) {
  return {std::move(key), std::move(text), bytes_per_s, Unit::bytes_per_s};
}
Evidence evidence_number(std::string key, std::string text, double number) {
  return {std::move(key), std::move(text), number, Unit::number};
}
Evidence evidence_text(std::string key, std::string text, std::string value) {
  return {std::move(key), std::move(text), std::move(value), Unit::text};
}

std::string numbers_folded(std::string_view path_text) {
  std::string out;
  while (true) {
    const std::size_t slash = path_text.find('/');
    const std::string_view name = path_text.substr(0, slash);
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    out += number ? std::string_view("*") : name;
    if (slash == std::string_view::npos) return out;
    out += '/';
    path_text.remove_prefix(slash + 1);
  }
}

}  // namespace rangefinder
