// SPDX-License-Identifier: Apache-2.0
//
// rangefinder metrics [--chip NAME] [--set NAME | --metrics A,B | --list [PATTERN]] [--json]
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "profiler/counters/metrics/metric_catalog.h"
#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "profiler/metrics/metric_formula.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/table/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/metric_request.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kSchema = "rangefinder.metrics";
constexpr const char* kVersion = "1.2";

struct MetricsOptions {
  std::string chip;
  std::string set;
  std::string metrics;
  std::vector<std::string> pattern;
  bool list = false;
  bool json = false;
};

/// A request, and how the counters of one chip serve it.
struct PlannedSet {
  std::string name;  ///< of the set, or the request itself
  std::string answers;
  MetricPlan plan;
};

std::string choose_chip(const CuptiFunctions& cupti, const std::vector<std::string>& chips,
                        const std::string& requested) {
  std::string chip = requested.empty() ? chip_of_gpu(cupti) : requested;
  if (chip.empty()) chip = kDefaultChip;
  if (std::find(chips.begin(), chips.end(), chip) != chips.end()) return chip;
  std::string text = "CUPTI does not know the chip " + chip + "; it knows";
  for (const std::string& name : chips) text += " " + name;
  throw WrongUse(text);
}

void print_wrapped(const std::vector<std::string>& words) {
  const std::size_t width = line_width(STDOUT_FILENO);
  std::size_t column = 0;
  for (const std::string& word : words) {
    if (column != 0 && column + 1 + word.size() > width) {
      std::cout << "\n";
      column = 0;
    }
    std::cout << (column == 0 ? "  " : " ") << word;
    column += word.size() + (column == 0 ? 2 : 1);
  }
  std::cout << "\n";
}

int list_metrics(const MetricCatalog& catalog, const std::string& chip, const MetricsOptions& options) {
  const std::string pattern = options.pattern.empty() ? "" : options.pattern.front();
  const std::vector<std::string> names = catalog.base_metrics(pattern);
  if (options.json) {
    std::cout << dump_json(
                     {{"schema", kSchema}, {"version", kVersion}, {"chip", chip}, {"base_metrics", names}})
              << "\n";
    return kExitOk;
  }
  for (const std::string& name : names) {
    MetricInfo info;
    std::cout << name;
    if (catalog.describe(name, info)) std::cout << "  [" << info.unit << "]  " << info.description;
    std::cout << "\n";
  }
  std::cerr << "rangefinder: " << counted_text(names.size(), "metric", "metrics") << " of " << chip
            << (pattern.empty() ? "" : " with \"" + pattern + "\" in the name") << "\n";
  return kExitOk;
}

/// Throws WrongUse for names that no chip has, Missing if CUPTI cannot plan.
PlannedSet planned(const CuptiFunctions& cupti, const std::string& chip, const std::string& request) {
  const MetricSet* const set = find_metric_set(request);
  PlannedSet out{request, set == nullptr ? "" : set->answers, plan_metrics(cupti, chip, {}, request)};
  if (out.plan.wrong_name) throw WrongUse(out.plan.error);
  if (!out.plan.error.empty()) throw Missing(out.plan.error);
  return out;
}

/// Whether the plan collects what the metric's formula needs.
bool is_available(const NamedMetric& metric, const MetricPlan& plan) {
  const auto collected = [&plan](const std::string& name) {
    return std::any_of(plan.groups.begin(), plan.groups.end(), [&name](const MetricGroup& group) {
      return std::find(group.metrics.begin(), group.metrics.end(), name) != group.metrics.end();
    });
  };
  const auto has = [&](const MetricInput& input) {
    const std::string suffix = metric.form == MetricForm::peak_share ? ".sum" : "";
    return collected(input.name + suffix);
  };
  const auto has_or_optional = [&](const MetricInput& input) { return input.optional || has(input); };
  return std::any_of(metric.inputs.begin(), metric.inputs.end(), has) &&
         std::all_of(metric.inputs.begin(), metric.inputs.end(), has_or_optional) &&
         std::all_of(metric.under.begin(), metric.under.end(), has_or_optional);
}

OrderedJson named_rows(const MetricPlan& all) {
  constexpr std::array kBetter{"higher", "lower", "neither"};
  OrderedJson out = OrderedJson::array();
  for (const NamedMetric& metric : named_metrics()) {
    out.push_back({{"name", metric.name},
                   {"title", metric.title},
                   {"unit", metric.unit},
                   {"set", topic_name(metric.topic)},
                   {"better", kBetter[static_cast<std::size_t>(metric.better)]},
                   {"available", is_available(metric, all)},
                   {"formula", formula_text(metric)},
                   {"inputs", collected_for(metric)},
                   {"meaning", metric.meaning}});
  }
  return out;
}

std::vector<PlannedSet> planned_sets(const CuptiFunctions& cupti, const std::string& chip,
                                     const MetricsOptions& options) {
  if (!options.set.empty() && find_metric_set(options.set) == nullptr)
    throw WrongUse("there is no set " + options.set + "; the sets are " + metric_set_names());
  if (!options.set.empty()) return {planned(cupti, chip, options.set)};
  if (!options.metrics.empty()) return {planned(cupti, chip, options.metrics)};
  std::vector<PlannedSet> out;
  for (const MetricSet& set : metric_sets()) {
    if (set.alias_of.empty()) out.push_back(planned(cupti, chip, set.name));
  }
  return out;
}

OrderedJson metric_row(const std::string& name, const MetricCatalog& catalog) {
  MetricInfo info;
  if (!catalog.describe(name, info)) return {{"name", name}, {"available", false}};
  return {{"name", name},
          {"unit", info.unit},
          {"description", info.description},
          {"adds_up", metric_adds_up(name)},
          {"available", true}};
}

OrderedJson set_object(const PlannedSet& set, const MetricCatalog& catalog) {
  OrderedJson groups = OrderedJson::array();
  OrderedJson metrics = OrderedJson::array();
  for (const MetricGroup& group : set.plan.groups) {
    groups.push_back({{"name", group.name}, {"metrics", group.metrics}});
    // Every group starts with the sentinels; list them once.
    for (std::size_t i = metrics.empty() ? 0 : kSentinelMetrics; i < group.metrics.size(); ++i)
      metrics.push_back(metric_row(group.metrics[i], catalog));
  }
  OrderedJson impossible = OrderedJson::array();
  for (const ImpossibleMetric& metric : set.plan.impossible) {
    impossible.push_back({{"name", metric.name}, {"passes", metric.passes}});
    metrics.push_back(metric_row(metric.name, catalog));
  }
  for (const std::string& name : set.plan.absent) metrics.push_back(metric_row(name, catalog));
  return {{"name", set.name},  {"answers", set.answers},    {"passes", set.plan.groups.size()},
          {"groups", groups},  {"absent", set.plan.absent}, {"impossible", impossible},
          {"metrics", metrics}};
}

void print_json(const std::vector<PlannedSet>& sets, const MetricCatalog& catalog, const std::string& chip,
                const std::vector<std::string>& chips, std::uint32_t cupti_version, const MetricPlan* all) {
  OrderedJson objects = OrderedJson::array();
  for (const PlannedSet& set : sets) objects.push_back(set_object(set, catalog));
  OrderedJson out{{"schema", kSchema}, {"version", kVersion}, {"cupti_version", cupti_version},
                  {"chips", chips},    {"chip", chip},        {"sets", objects}};
  if (all != nullptr) out["named"] = named_rows(*all);
  std::cout << dump_json(out) << "\n";
}

void print_metric(const std::string& name, const MetricCatalog& catalog) {
  constexpr std::size_t kNameWidth = 62;
  constexpr std::size_t kUnitWidth = 18;
  MetricInfo info;
  (void)catalog.describe(name, info);
  std::cout << "    " << name << std::string(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ')
            << info.unit
            << std::string(info.unit.size() < kUnitWidth ? kUnitWidth - info.unit.size() : 1, ' ')
            << info.description << "\n";
}

void print_set(const PlannedSet& set, const MetricCatalog& catalog, const std::string& chip) {
  const MetricPlan& plan = set.plan;
  std::cout << "\n"
            << (set.answers.empty() ? "" : "Set ") << "`" << set.name << "` on " << chip << ": "
            << counted_text(plan.groups.size(), "pass", "passes")
            << (set.answers.empty() ? "" : " (" + set.answers + ")") << "\n";
  for (const MetricGroup& group : plan.groups) {
    std::cout << "  " << group.name << "\n";
    for (std::size_t i = kSentinelMetrics; i < group.metrics.size(); ++i)
      print_metric(group.metrics[i], catalog);
  }
  if (!plan.impossible.empty()) std::cout << "  not measured: needs more than one pass\n";
  for (const ImpossibleMetric& metric : plan.impossible) {
    const std::string passes =
        metric.passes == 0 ? "not together with others" : counted_text(metric.passes, "pass", "passes");
    std::cout << "    " << metric.name << "  (" << passes << ")\n";
  }
  if (!plan.absent.empty()) std::cout << "  absent: not on this chip\n";
  for (const std::string& name : plan.absent) std::cout << "    " << name << "\n";
}

void print_overview(const std::vector<PlannedSet>& sets, const std::string& chip,
                    const std::vector<std::string>& chips, std::uint32_t cupti_version) {
  constexpr std::size_t kAnswersWidth = 62, kTitleWidth = 26;  // the longest
  Table of_sets;
  of_sets.columns = {{"set", "set"}, {"turns", "turns", Unit::count}, {"answers", "answers"}};
  for (const PlannedSet& set : sets)
    of_sets.add({Cell(CellValue(set.name)), Cell(CellValue(std::uint64_t{set.plan.groups.size()})),
                 left_aligned(set.answers, kAnswersWidth)});
  Table named;
  named.columns = {{"name", "metric"}, {"unit", "unit"}, {"set", "set"}, {"title", "title"}};
  std::string absent;
  for (const NamedMetric& metric : named_metrics()) {
    if (!is_available(metric, sets.back().plan)) {
      absent += (absent.empty() ? "" : ", ") + std::string(metric.name);
      continue;
    }
    named.add({Cell(CellValue(std::string(metric.name))), Cell(CellValue(std::string(metric.unit))),
               Cell(CellValue(std::string(topic_name(metric.topic)))),
               left_aligned(metric.title, kTitleWidth)});
  }
  const TextStyle style{line_width(STDOUT_FILENO), false, false, false};
  std::cout << "Sets of " << chip
            << ", for `run --counters exact --metrics SET,SET,…`. One pass of the hardware "
            << "is one turn; turns\nalternate over the iterations of a module, and nothing is replayed.\n\n"
            << render_text(of_sets, style) << "\nNamed metrics:\n"
            << render_text(named, style);
  if (!absent.empty()) std::cout << wrapped_text("Not on this chip: " + absent + ".", style.width);
  std::cout
      << "\n`--set NAME` lists CUPTI's metrics of a set, `--list PATTERN` searches all, `--json` has the "
         "formulas.\nChips that CUPTI "
      << cupti_version_text(cupti_version) << " knows, for --chip:\n";
  print_wrapped(chips);
}

int metrics(const MetricsOptions& options) {
  const CuptiLibrary library = load_metric_library(wanted_cupti());
  const CuptiFunctions& cupti = library.functions;
  const std::vector<std::string> chips = known_chips(cupti);
  const std::string chip = choose_chip(cupti, chips, options.chip);
  MetricCatalog catalog(cupti);
  if (const CUptiResult result = catalog.open(chip, {}); result != CUPTI_SUCCESS)
    throw Missing("CUPTI cannot describe the chip " + chip + ": " + cupti_result_text(cupti, result));
  if (options.list) return list_metrics(catalog, chip, options);
  const std::vector<PlannedSet> sets = planned_sets(cupti, chip, options);
  // Without a request: an overview of all sets, whose last one is `all`.
  const bool overview = options.set.empty() && options.metrics.empty();
  if (options.json) {
    print_json(sets, catalog, chip, chips, library.version, overview ? &sets.back().plan : nullptr);
    return kExitOk;
  }
  if (overview) {
    print_overview(sets, chip, chips, library.version);
    return kExitOk;
  }
  std::cout << "Chips that CUPTI " << cupti_version_text(library.version) << " knows:\n";
  print_wrapped(chips);
  std::cout << "\nMetrics for `run --counters exact --metrics SET,METRIC,…`. A set of several passes is "
               "measured one\n"
               "pass per iteration of a path, in turn. Every pass also has, for the GPU time:\n";
  for (const std::size_t i : {kEngineCycles, kEngineClock}) print_metric(kExactMetricNames[i], catalog);
  for (const PlannedSet& set : sets) print_set(set, catalog, chip);
  return kExitOk;
}

}  // namespace

void add_metrics(CommandLine& line, Action& action) {
  const auto options = std::make_shared<MetricsOptions>();
  Verb verb = line.verb("metrics", "List what the hardware counters of a chip can measure; needs no GPU");
  verb.option("--chip", options->chip, "Chip, as in GH100 [chip of the GPU, else GH100]").type_name("CHIP");
  std::vector<Choice> sets;
  for (const MetricSet& set : metric_sets()) sets.push_back({set.name});
  CommandLineOption set = verb.option("--set", options->set, "Show this set only: " + metric_set_names())
                              .type_name("NAME")
                              .choices(sets);
  CommandLineOption named = verb.option("--metrics", options->metrics,
                                        "Show how these sets and metrics, separated by commas, share passes")
                                .type_name("A,B,…")
                                .excludes(set);
  CommandLineOption list =
      verb.option("--list", options->pattern, "List all base metrics, or those with PATTERN in the name")
          .expected(0, 1)
          .type_name("[PATTERN]")
          .excludes(set)
          .excludes(named);
  verb.flag("--json", options->json, "As JSON");
  verb.callback([options, list, &action] {
    options->list = list.count() != 0;
    action = [options] { return metrics(*options); };
  });
}

}  // namespace rangefinder
