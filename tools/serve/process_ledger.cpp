// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/process_ledger.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/loss.h"
#include "tools/analysis/model/json_count.h"
#include "tools/analysis/model/shown_paths.h"
#include "tools/attach/live_rates.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr std::array kSums{"kernels",          "graphs",   "dram_read_bytes",
                           "dram_write_bytes", "l2_bytes", "measured_launches"};
enum Sum : std::size_t { kKernels, kGraphs, kDramRead, kDramWrite, kL2, kMeasured };

struct ModuleSums {
  std::array<std::int64_t, kSums.size()> sums{};
  std::uint64_t own_ns = 0;
  std::string source;  ///< source of the bytes; empty: not measured

  ModuleSums& operator+=(const ModuleSums& other) {
    const std::size_t known = other.source.empty() ? kDramRead : kSums.size();
    for (std::size_t i = 0; i < known; ++i) sums[i] += other.sums[i];
    own_ns += other.own_ns;
    if (source.empty()) source = other.source;
    return *this;
  }
};

ModuleSums sums_of(const Json& row) {
  ModuleSums out;
  for (std::size_t i = 0; i < kSums.size(); ++i)
    out.sums[i] = static_cast<std::int64_t>(count_at(row, kSums[i]));
  out.own_ns = count_at(row, "gpu_ns_exclusive");
  out.source = row.value("bytes_source", "");
  return out;
}

using SumsByName = std::map<std::string, ModuleSums>;

/// Exclusive sums by path. A summary holds inclusive sums, so subtract those of the children.
SumsByName own_sums(const Json& modules) {
  SumsByName out;
  for (const Json& row : modules) out[row.value("path", "")] += sums_of(row);
  for (const Json& row : modules) {
    const auto parent = out.find(parent_path(row.value("path", "")));
    // "" is an outermost range without a name, and the parent of all others.
    if (parent == out.end() || (parent->first.empty() && count_at(row, "depth") == 1)) continue;
    const ModuleSums all = sums_of(row);
    for (std::size_t i = 0; i < kSums.size(); ++i) parent->second.sums[i] -= all.sums[i];
  }
  return out;
}

/// The name of the path's last level.
std::string last_name(std::string_view path, std::string_view parent) {
  path.remove_prefix(parent.empty() ? 0 : parent.size() + 1);
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size()) ++i;
    out += path[i];
  }
  return out;
}

/// Sums by the names of reports. A live summary has the program's own names, and the same file has those of
/// reports once it was completed: under both names a module would count twice.
SumsByName shown_sums(const Json& summary) {
  const Json modules = summary.value("modules", Json::array());
  SumsByName out = own_sums(modules);
  if (summary.value("live", false)) {
    ShownPaths shown;
    std::map<std::string, std::uint32_t> ids;
    for (const auto& [path, own] : std::exchange(out, {})) {
      const std::string parent = parent_path(path);
      const auto above = ids.find(parent);
      const auto id = static_cast<std::uint32_t>(ids.size() + 1);
      ids.emplace(path, id);
      (void)shown.add({id, above == ids.end() ? 0 : above->second, 0, last_name(path, parent)});
      const std::string name = shown.text(shown.id_of(id));
      out[name.empty() ? kOutsideModule : name] += own;
    }
  }
  if (const auto outside = summary.find("outside"); outside != summary.end() && outside->is_object())
    out[kOutsideModule] += sums_of(*outside);
  return out;
}

std::uint64_t at_least_0(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value));
}

class WindowReader {
 public:
  WindowReader(const Json& summary, PrometheusFamilies& out) : summary_(summary), out_(out) {
    process_ = summary.value("process", Json::object());
    rank_ = process_.value("rank", "");
    const Json gpus = summary.value("gpus", Json::array());
    for (const Json& gpu : gpus) about_gpu(gpu);
    // A summary holds sums over all GPUs, so label them only if there is one.
    if (gpus.size() == 1)
      gpu_ = {{"gpu", std::to_string(count_at(gpus[0], "id"))}, {"uuid", gpus[0].value("uuid", "")}};
  }

  void about() {
    out_.build.set({{"version", process_.value("tool_version", "")}}, 1);
    out_.span.add({{"rank", rank_}}, count_at(summary_, "duration_ns"));
    const Json loss = summary_.value("loss", Json::object());
    for (const auto& cause : kLossCauses) {
      if (&cause == &kLossCauses[static_cast<std::size_t>(Loss::unknown_cause)]) continue;  // this version's
      out_.lost.add({{"rank", rank_}, {"cause", cause.name}},
                    count_at(loss, std::string(cause.name).c_str()));
    }
    const Json cost = summary_.value("own_cost", Json::object());
    for (const auto& [what, key] :
         {std::pair{"drain_cpu", "drain_cpu_ns"}, std::pair{"sampler_cpu", "sampler_cpu_ns"},
          std::pair{"exact", "exact_ns"}}) {
      out_.overhead.add({{"rank", rank_}, {"what", what}}, count_at(cost, key));
    }
  }

  void modules(StickyNames& names) {
    std::vector<std::pair<std::string, ModuleSums>> rows;
    for (auto& [path, own] : shown_sums(summary_)) rows.emplace_back(path, std::move(own));
    // The first names get rows, so give the heaviest modules of a summary first.
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.own_ns > b.second.own_ns; });
    for (const auto& [path, own] : rows) {
      const auto kernels = at_least_0(own.sums[kKernels]);
      const bool bytes = !own.source.empty();
      if (kernels == 0 && own.own_ns == 0 && !(bytes && own.sums[kL2] > 0)) continue;
      const PrometheusLabels labels = with("module", names.row_of(path));
      out_.kernels.add(labels, kernels);
      out_.kernel_time.add(labels, own.own_ns);
      if (own.sums[kGraphs] > 0) out_.graphs.add(labels, at_least_0(own.sums[kGraphs]));
      if (bytes) add_bytes(labels, own);
    }
  }

  void kernels(StickyNames& names) {
    for (const Json& row : summary_.value("kernels", Json::array())) {
      const PrometheusLabels labels = with("kernel", names.row_of(row.value("name", "")));
      out_.kernel_names.add(labels, count_at(row, "count"));
      out_.kernel_name_time.add(labels, count_at(row, "total_ns"));
    }
  }

  void copies() {
    for (const Json& row : summary_.value("memcpy", Json::array())) {
      const PrometheusLabels labels = with("direction", row.value("kind", ""));
      out_.copies.add(labels, count_at(row, "bytes"));
      out_.copy_time.add(labels, count_at(row, "total_ns"));
    }
  }

 private:
  void about_gpu(const Json& gpu) {
    PrometheusLabels labels{
        {"gpu", std::to_string(count_at(gpu, "id"))}, {"uuid", gpu.value("uuid", "")}, {"rank", rank_}};
    if (const std::uint64_t peak = count_at(gpu, "peak_dram_bytes_per_s"); peak != 0)
      out_.peak.set(labels, peak);
    labels.emplace_back("name", gpu.value("name", ""));
    out_.gpus.set(labels, 1);
  }
  [[nodiscard]] PrometheusLabels with(std::string_view name, const std::string& value) const {
    PrometheusLabels out = gpu_;
    out.emplace_back("rank", rank_);
    out.emplace_back(name, value);
    return out;
  }
  void add_bytes(const PrometheusLabels& labels, const ModuleSums& own) {
    const auto with_op = [&](const char* op) {
      PrometheusLabels out = labels;
      out.emplace_back("op", op);
      out.emplace_back("source", own.source);
      return out;
    };
    out_.dram.add(with_op("read"), at_least_0(own.sums[kDramRead]));
    out_.dram.add(with_op("write"), at_least_0(own.sums[kDramWrite]));
    PrometheusLabels l2 = labels;
    l2.emplace_back("source", own.source);
    out_.l2.add(l2, at_least_0(own.sums[kL2]));
    if (own.source == "exact") out_.measured.add(labels, at_least_0(own.sums[kMeasured]));
  }

  const Json& summary_;
  Json process_;
  std::string rank_;
  PrometheusLabels gpu_;
  PrometheusFamilies& out_;
};

void raise_all(PrometheusFamilies& ours, const PrometheusFamilies& theirs) {
  for (const auto family : PrometheusFamilies::kAll) (ours.*family).raise(theirs.*family);
}

/// Adds counters. Takes the maximum of gauges, which describe a machine or a version.
void add_sums(PrometheusFamilies& ours, const PrometheusFamilies& theirs) {
  for (const auto family : PrometheusFamilies::kAll) {
    const bool counts = (ours.*family).name().ends_with("_total");
    if (counts)
      (ours.*family).add(theirs.*family);
    else
      (ours.*family).raise(theirs.*family);
  }
}

/// Metrics of one window's summary.
PrometheusFamilies window_families(const Json& summary, StickyNames& modules, StickyNames* kernels) {
  PrometheusFamilies out;
  WindowReader reader(summary, out);
  reader.about();
  reader.modules(modules);
  if (kernels != nullptr) reader.kernels(*kernels);
  reader.copies();
  return out;
}

}  // namespace

const std::string& StickyNames::row_of(const std::string& name) {
  static const std::string other = kOtherRows;
  if (kept_.contains(name)) return *kept_.find(name);
  if (kept_.size() < max_) return *kept_.insert(name).first;
  if (others_.size() < kMaxOthers) others_.insert(name);
  return other;
}

void ProcessLedger::note(const std::string& key, std::uint64_t window, const Json& summary) {
  PrometheusFamilies seen;
  try {
    seen = window_families(summary, modules_, by_kernel_ ? &kernels_ : nullptr);
  } catch (const Json::exception&) {
    return;  // not a summary of ours: ignore it
  }
  Program& program = programs_[key];
  if (window < program.window) return;
  if (window > program.window) {
    // Windows before the first one we see are not missed: they ended before `serve` started.
    if (program.window != 0) missed_ += window - program.window - 1;
    add_sums(program.before, std::exchange(program.now, {}));
    program.window = window;
  }
  raise_all(program.now, seen);
}

void ProcessLedger::close(const std::string& key) {
  const auto at = programs_.find(key);
  if (at == programs_.end()) return;
  add_sums(ended_, at->second.before);
  add_sums(ended_, at->second.now);
  ended_any_ = true;
  programs_.erase(at);
}

std::uint64_t ProcessLedger::window_of(const std::string& key) const {
  const auto at = programs_.find(key);
  return at == programs_.end() ? 0 : at->second.window;
}

PrometheusFamilies ProcessLedger::families() const {
  PrometheusFamilies out = ended_;
  for (const auto& [key, program] : programs_) {
    add_sums(out, program.before);
    add_sums(out, program.now);
  }
  out.modules_omitted.set({}, modules_.omitted());
  if (by_kernel_) out.kernels_omitted.set({}, kernels_.omitted());
  return out;
}

}  // namespace rangefinder
