// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_filter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "profiler/base/communication_kernel.h"
#include "profiler/base/name_pattern.h"
#include "profiler/base/path_glob.h"
#include "profiler/output/demangle.h"

namespace rangefinder {
namespace {

/// Name parts, anywhere in the name, of kernels that wait for a peer, a signal or the host, besides those
/// that communicate: a kernel without bytes is better than a program that hangs.
constexpr std::array<std::string_view, 7> kWaiters{"nccl",      "msccl_",      "symm_mem", "all_reduce_",
                                                   "wait_flag", "wait_signal", "spin_wait"};

/// As in reports: a '/' or '\\' inside a name is escaped with '\\'.
void append_escaped(std::string& text, std::string_view name) {
  for (const char c : name) {
    if (c == '/' || c == '\\') text += '\\';
    text += c;
  }
}

/// nullopt: the option is not set.
std::optional<NamePattern> pattern_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<NamePattern>(text);
}

}  // namespace

bool is_known_waiter(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return communication_kernel(name).has_value() || std::any_of(kWaiters.begin(), kWaiters.end(), has);
}

struct ExactFilter::Patterns {
  std::optional<NamePattern> kernel, skip, communication;
};

ExactFilter::ExactFilter(const Options& options, const Recorder& recorder)
    : recorder_(recorder),
      glob_(options.exact_range),
      patterns_(new Patterns{pattern_of(options.exact_kernel), pattern_of(options.exact_skip),
                             pattern_of(options.communication)}),
      names_(std::make_unique<std::atomic<ExactChoice>[]>(NameTable::kMaxNames + 1)),
      paths_(std::make_unique<std::atomic<ExactChoice>[]>(PathTable::kMaxPaths + 1)) {}

ExactFilter::~ExactFilter() = default;

ExactChoice ExactFilter::choose(std::uint32_t name, std::uint32_t path) noexcept {
  try {
    std::atomic<ExactChoice>& known_path = paths_[std::min(path, PathTable::kMaxPaths)];
    ExactChoice of_path = known_path.load(std::memory_order_relaxed);
    if (of_path == ExactChoice::unknown) {
      of_path = path_wanted(path) ? ExactChoice::measure : ExactChoice::not_wanted;
      known_path.store(of_path, std::memory_order_relaxed);
    }
    std::atomic<ExactChoice>& known_name = names_[std::min(name, NameTable::kMaxNames)];
    ExactChoice of_name = known_name.load(std::memory_order_relaxed);
    if (of_name == ExactChoice::unknown) {
      of_name = choose_name(name);
      known_name.store(of_name, std::memory_order_relaxed);
    }
    // A kernel that may wait matters even if its bytes are not requested: no drain may follow it.
    if (of_name == ExactChoice::may_wait || of_path == ExactChoice::measure) return of_name;
    return ExactChoice::not_wanted;
  } catch (...) {
    return ExactChoice::not_wanted;
  }
}

void ExactFilter::add_waiter(std::uint32_t name) noexcept {
  if (name != 0)
    names_[std::min(name, NameTable::kMaxNames)].store(ExactChoice::may_wait, std::memory_order_relaxed);
}

ExactChoice ExactFilter::choose_name(std::uint32_t name) {
  if (name == 0) return patterns_->kernel ? ExactChoice::not_wanted : ExactChoice::measure;
  const std::string whole = demangle(recorder_.names.text(name));
  const std::string text = whole.substr(0, NamePattern::kMaxMatched);
  const auto is_in = [&text](const std::optional<NamePattern>& pattern) {
    return pattern && pattern->is_in(text);
  };
  if (is_known_waiter(text) || is_in(patterns_->skip) || is_in(patterns_->communication))
    return ExactChoice::may_wait;
  if (patterns_->kernel && !patterns_->kernel->is_in(text)) return ExactChoice::not_wanted;
  return ExactChoice::measure;
}

bool ExactFilter::path_wanted(std::uint32_t path) {
  return glob_.empty() || (path != 0 && matches_glob(glob_, path_text(path)));
}

std::string ExactFilter::path_text(std::uint32_t path) const {
  std::vector<std::string_view> names;  // innermost first
  for (std::uint32_t at = path; at != 0;) {
    const PathNode node = recorder_.paths.node(at);
    names.push_back(recorder_.names.text(node.name));
    at = node.parent;
  }
  std::string text;
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    if (!text.empty()) text += '/';
    append_escaped(text, *it);
  }
  return text;
}

}  // namespace rangefinder
