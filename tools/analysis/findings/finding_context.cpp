// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/finding_context.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/range_names.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/occupancy.h"

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

void FindingContext::set_scope() {
  for (const auto& [path, record] : input.trace.paths) {
    std::uint32_t at = path;
    while (at != 0 && !is_set_up(input.trace.own_name(at))) at = input.trace.parent_of(at);
    if (at != 0) set_up.insert(path);
  }
  rows = input.trace.rows();
  std::erase_if(rows, [this](const PathTotals& row) { return row.path == 0 || !analyses(row.path); });
  places = kernels.places();
  std::erase_if(places, [this](const KernelPlace& place) { return !analyses(place.path); });
  std::map<std::pair<std::uint32_t, std::uint32_t>, KernelUse> sums;
  gpu_ns = 0;
  for (const KernelPlace& place : places) {
    KernelUse& use = sums[{place.use.name, place.use.config}];
    use.name = place.use.name;
    use.config = place.use.config;
    use.count += place.use.count;
    use.total_ns += place.use.total_ns;
    gpu_ns += place.use.total_ns;
  }
  gpu_ns = std::max<std::uint64_t>(1, gpu_ns);
  constexpr double kAlone = 0.8;  // a kernel that waits for the one before it overlaps it by a little
  std::uint64_t all_ns = 0;
  for (const KernelPlace& place : kernels.places()) all_ns += place.use.total_ns;
  const auto busy_ns = static_cast<double>(input.trace.totals.gpu_busy_ns());
  busy_part = std::min(1.0, busy_ns / static_cast<double>(std::max<std::uint64_t>(1, all_ns)));
  concurrent = busy_part < kAlone;
  const auto longer = [](const KernelUse& a, const KernelUse& b) { return a.total_ns > b.total_ns; };
  uses.clear();
  for (const auto& [kernel, use] : sums) uses.push_back(use);
  std::stable_sort(uses.begin(), uses.end(), longer);
  name_uses.clear();
  std::unordered_map<std::uint32_t, std::size_t> positions;
  for (const KernelUse& use : uses) {
    const auto [at, is_new] = positions.try_emplace(use.name, name_uses.size());
    if (is_new) {
      name_uses.push_back(use);
      name_uses.back().all_configs = true;
    } else {
      name_uses[at->second].count += use.count;
      name_uses[at->second].total_ns += use.total_ns;
    }
  }
  std::stable_sort(name_uses.begin(), name_uses.end(), longer);
}

std::string FindingContext::each_text(std::uint64_t ns) const {
  return duration_text(loop.found() && !outside ? of_iteration(ns) : ns);
}

FindingContext::ModuleTime FindingContext::module_of(const KernelUse& use) const {
  std::unordered_map<std::uint32_t, std::uint64_t> weights;
  for (const KernelPlace& place : places) {
    if (place.use.name == use.name && (use.all_configs || place.use.config == use.config))
      weights[place.path] += place.use.total_ns;
  }
  const auto modules = by_module(weights);
  const auto lighter = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(modules.begin(), modules.end(), lighter);
  return most == modules.end() ? ModuleTime{} : ModuleTime{most->first, most->second};
}

std::map<std::string, std::uint64_t> FindingContext::by_module(
    const std::unordered_map<std::uint32_t, std::uint64_t>& weights) const {
  std::map<std::string, std::uint64_t> out;
  for (const auto& [path, weight] : weights) out[module_text(path)] += weight;
  return out;
}

std::string FindingContext::path_text(std::uint32_t path) const {
  return path == 0 ? "(outside of any range)" : input.trace.path_text(path);
}

std::string FindingContext::module_text(std::uint32_t path) const {
  return path == 0 ? "" : numbers_folded(path_text(path));
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

bool FindingContext::under_half_a_wave(const KernelUse& use) const {
  const LaunchConfigRecord* const config = kernels.config(use.config);
  if (config == nullptr || gpu() == nullptr) return false;
  const auto occupancy = occupancy_of(*gpu(), *config);
  return occupancy && occupancy->waves < kHalfWave;
}

std::string subject_text(const Finding& finding) {
  return finding.where.empty() ? "" : "`" + finding.where + "`" + finding.source.in_brackets() + " ";
}

void set_sources(const ModuleSources& sources, Finding& finding) {
  finding.source = sources.of(finding.where);
  for (FindingPart& part : finding.modules) part.source = sources.of(part.where);
}

Severity severity_of(std::uint64_t saving_ns, std::uint64_t span_ns) {
  if (span_ns == 0) return Severity::info;
  const double share = static_cast<double>(saving_ns) / static_cast<double>(span_ns);
  return share >= 0.10 ? Severity::serious : share >= 0.03 ? Severity::notable : Severity::info;
}

Evidence evidence_of_gpu(const FindingContext& context, std::uint64_t ns) {
  return evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(ns));
}

void set_kernel(const FindingContext& context, std::uint32_t name, Finding& finding) {
  finding.kernel = context.kernel_text(name);
  finding.kernel_id = name;
}

Finding finding_of_kernel(std::string_view id, const KernelUse& use, const FindingContext& context) {
  const auto [module, module_ns] = context.module_of(use);
  Finding finding{std::string(id), module, context.of_analysed(module_ns)};
  set_kernel(context, use.name, finding);
  return finding;
}

void add_function(const FindingContext& context, const StackTimes& times, Finding& finding) {
  finding.function = main_function(context.input.trace.stacks, times);
  if (!finding.function) return;
  finding.why += " Host code: " + finding.function->text() + ".";
  if (const std::string note = finding.function->note(); !note.empty()) finding.why += " " + note + ".";
}

std::string kernel_subject(const Finding& finding) {
  return finding.where.empty() ? "`" + finding.kernel + "` " : "";
}

bool does_half_itself(const PathTotals& row) noexcept {
  return row.gpu_ns_exclusive * 2 >= row.gpu_ns;
}

void add_measured(Finding& finding, const NamedValues& values, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const NamedValue* const found = values.find(name);
    if (found == nullptr) continue;
    const NamedMetric& metric = *found->metric;
    finding.evidence.push_back(metric.unit == std::string_view("%")
                                   ? evidence_share(name, metric.title, found->value / 100)
                                   : evidence_number(name, metric.title, found->value));
  }
}

namespace {

/// "a/b" of "a/b/c" and "a/b/d".
std::string shared_path(const std::string& a, const std::string& b) {
  std::size_t at = 0, slash = 0;
  for (; at < a.size() && at < b.size() && a[at] == b[at]; ++at) {
    if (a[at] == '/') slash = at;
  }
  const bool whole = (at == a.size() || a[at] == '/') && (at == b.size() || b[at] == '/');
  return a.substr(0, whole ? at : slash);
}

}  // namespace

void set_modules(const FindingContext& context, const std::map<std::string, std::uint64_t>& ns,
                 Finding& finding) {
  finding.where = ns.empty() ? "" : ns.begin()->first;
  for (const auto& [module, of_module] : ns) {
    finding.where = shared_path(finding.where, module);
    finding.modules.push_back({module, context.of_analysed(of_module)});
  }
  std::stable_sort(finding.modules.begin(), finding.modules.end(),
                   [](const FindingPart& a, const FindingPart& b) { return a.ns > b.ns; });
  if (finding.modules.size() < 2) finding.modules.clear();
}

void keep_most_valuable(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.saving_ns.value_or(0) > b.saving_ns.value_or(0);
  });
  if (findings.size() > kMaxFindings) findings.resize(kMaxFindings);
}

std::string counts_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts)
    out += (out.empty() ? "" : ", ") + name + " x " + std::to_string(count);
  return out;
}

}  // namespace rangefinder
