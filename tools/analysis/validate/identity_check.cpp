// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "schema/write_line.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

enum IdTable : std::size_t {
  kGpus,
  kContexts,
  kDomains,
  kNames,
  kPaths,
  kKernelNames,
  kConfigs,
  kSchemas,
  kMetricSets,
  kFrames,
  kStacks,
  kTables
};
constexpr std::array<const char*, kTables> kTableNames{
    "gpu",    "context",        "domain",     "name",  "path", "kernel_name",
    "config", "payload_schema", "metric_set", "frame", "stack"};

class IdentityCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void segment(const std::filesystem::path&) override {
    for (auto& table : in_segment_) table.clear();
  }

  void line(const Line& line) override {
    std::visit([this](const auto& record) { check(record); }, line);
  }

  void finish(const TraceFacts& facts) override {
    if (!facts.whole) return;
    for (const std::uint32_t gpu : used_gpus_) {
      if (defined_[kGpus].count(gpu) == 0) {
        problems_.add_at(facts.folder, "unknown-id",
                         "no line describes gpu " + std::to_string(gpu) + ", which other lines use");
      }
    }
  }

 private:
  /// The record defines `id`. Stores a hash of its content, which must not change.
  template <typename Record>
  void define(IdTable table, std::uint64_t id, const Record& record) {
    in_segment_[table].insert(id);
    text_.clear();
    write_line(text_, record);
    const std::size_t content = std::hash<std::string>{}(text_);
    const auto [at, is_new] = defined_[table].emplace(id, content);
    if (!is_new && at->second != content) {
      problems_.add("duplicate-id", std::string(kTableNames[table]) + " " + std::to_string(id) +
                                        " was defined before with different content");
    }
  }

  /// The record refers to `id`; 0 is no reference if `zero_is_none`.
  void use(IdTable table, std::uint64_t id, bool zero_is_none = true) {
    if ((id == 0 && zero_is_none) || in_segment_[table].count(id) != 0) return;
    problems_.add("unknown-id", std::string(kTableNames[table]) + " " + std::to_string(id) +
                                    " is not defined earlier in this segment");
  }

  void check(const GpuRecord& record) { define(kGpus, record.id, record); }
  void check(const ContextRecord& record) {
    define(kContexts, record.id, record);
    used_gpus_.insert(record.gpu);
  }
  void check(const DomainRecord& record) { define(kDomains, record.id, record); }
  void check(const CategoryRecord& record) { use(kDomains, record.domain); }
  void check(const NameRecord& record) { define(kNames, record.id, record); }
  void check(const KernelNameRecord& record) { define(kKernelNames, record.id, record); }
  void check(const LaunchConfigRecord& record) { define(kConfigs, record.id, record); }
  void check(const PayloadSchemaRecord& record) {
    use(kDomains, record.domain);
    define(kSchemas, record.id, record);
  }
  void check(const MetricSetRecord& record) {
    define(kMetricSets, record.id, record);
    metrics_[record.id] = record.metrics.size();
  }
  void check(const PathRecord& record) {
    const std::uint64_t before = problems_.count();
    use(kPaths, record.parent);
    use(kDomains, record.domain);
    if (problems_.count() == before) define(kPaths, record.id, record);
  }

  void check(const FrameRecord& record) { define(kFrames, record.id, record); }
  void check(const StackRecord& record) {
    const std::uint64_t before = problems_.count();
    use(kStacks, record.caller);
    use(kFrames, record.frame, false);
    if (problems_.count() == before) define(kStacks, record.id, record);
  }
  void check(const StackSampleRecord& record) {
    for (const StackSample& sample : record.samples) use(kStacks, sample.stack, false);
  }

  /// GPU work and host calls; other kinds refer to nothing.
  template <typename Record>
  void check(const Record& record) {
    if constexpr (requires { record.work.path; }) {
      use(kPaths, record.work.path);
      used_gpus_.insert(record.work.gpu);
    } else if constexpr (requires { record.host.path; }) {
      use(kPaths, record.host.path);
    }
    if constexpr (std::is_same_v<Record, KernelRecord>) {
      use(kKernelNames, record.name, false);
      use(kConfigs, record.config, false);
    }
  }
  void check(const ExactRecord& record) {
    use(kPaths, record.launch.host.path);
    use(kPaths, record.bytes_path);
    use(kKernelNames, record.name, record.is_counter_range || record.kind != WorkKind::kernel);
    use(kMetricSets, record.metric_set);
    used_gpus_.insert(record.gpu);
    const auto set = metrics_.find(record.metric_set);
    if (record.metric_set == 0 || set == metrics_.end() || set->second == record.values.size()) return;
    problems_.add("exact", std::to_string(record.values.size()) + " values of metric_set " +
                               std::to_string(record.metric_set) + ", which has " +
                               std::to_string(set->second) + " metrics");
  }
  void check(const ConditionRecord& record) {
    if (record.subject == ConditionOf::gpu) used_gpus_.insert(record.id);
  }
  void check(const MonitorRecord& record) { use(kPaths, record.path); }
  void check(const ModuleSourceRecord& record) { use(kPaths, record.path, false); }
  void check(const KernelOriginRecord& record) {
    use(kKernelNames, record.kernel, false);
    use(kPaths, record.path, false);
  }

  void check(const RangeRecord& record) {
    use(kDomains, record.domain);
    use(kNames, record.name);
    // A push/pop range has a path, a start/end range has a name.
    use(kPaths, record.path, record.name != 0);
  }
  void check(const MarkRecord& record) {
    use(kDomains, record.domain);
    use(kNames, record.name, false);
    use(kPaths, record.path);
  }

  std::array<std::unordered_set<std::uint64_t>, kTables> in_segment_;
  std::array<std::unordered_map<std::uint64_t, std::size_t>, kTables> defined_;  // id to hash of its line
  std::unordered_map<std::uint32_t, std::size_t> metrics_;                       // number of metrics by set
  std::set<std::uint32_t> used_gpus_;
  std::string text_;
};

}  // namespace

std::unique_ptr<TraceCheck> make_identity_check(ProblemLog& problems) {
  return std::make_unique<IdentityCheck>(problems);
}

}  // namespace rangefinder
