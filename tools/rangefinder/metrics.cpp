// SPDX-License-Identifier: Apache-2.0
//
// rangefinder metrics [--chip NAME] [--list [PATTERN]] [--json]
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/attribution/number_text.h"
#include "profiler/counters/metric_config.h"
#include "tools/analysis/missing.h"
#include "tools/analysis/rows_json.h"
#include "tools/rangefinder/metric_catalog.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDefaultChip = "GH100";

struct MetricsOptions {
  std::string chip;
  std::vector<std::string> pattern;
  bool list = false;
  bool json = false;
};

CuptiLibrary load() {
  // cuInit would load the library that this names, which is for programs to be traced.
  unsetenv("CUDA_INJECTION64_PATH");
  CuptiLibrary library;
  CuptiFailure failure;
  const char* const override_path = std::getenv("RANGEFINDER_CUPTI");
  if (!load_cupti(override_path == nullptr ? "" : override_path, library, failure))
    throw Missing(failure.reason);
  preload_counter_library(library);
  return library;
}

std::string choose_chip(const CuptiFunctions& cupti, const std::vector<std::string>& chips,
                        const std::string& asked) {
  std::string chip = asked.empty() ? chip_of_gpu(cupti) : asked;
  if (chip.empty()) chip = kDefaultChip;
  if (std::find(chips.begin(), chips.end(), chip) != chips.end()) return chip;
  std::string text = "CUPTI knows no chip " + chip + "; it knows";
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
    std::cout << dump_json({{"schema", "rangefinder.metrics"},
                            {"version", "1.0"},
                            {"chip", chip},
                            {"base_metrics", names}})
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

int show_set(MetricCatalog& catalog, const std::vector<std::string>& chips, const std::string& chip,
             const CuptiLibrary& library, bool json) {
  std::vector<MetricInfo> found;
  std::vector<const char*> names;
  Json rows = Json::array();
  for (const char* const name : kExactMetricNames) {
    MetricInfo info;
    if (!catalog.describe(name, info)) {
      rows.push_back({{"name", name}, {"available", false}});
      continue;
    }
    rows.push_back(
        {{"name", info.name}, {"unit", info.unit}, {"description", info.description}, {"available", true}});
    found.push_back(std::move(info));
    names.push_back(name);
  }
  const std::size_t passes = names.empty() ? 0 : catalog.passes(names);
  if (json) {
    std::cout << dump_json({{"schema", "rangefinder.metrics"},
                            {"version", "1.0"},
                            {"cupti_version", library.version},
                            {"chips", chips},
                            {"chip", chip},
                            {"sets", {{{"name", "bytes"}, {"passes", passes}, {"metrics", rows}}}}})
              << "\n";
    return kExitOk;
  }
  std::cout << "Chips that CUPTI " << cupti_version_text(library.version) << " knows:\n";
  print_wrapped(chips);
  std::cout << "\nSet `bytes` (--counters exact) on " << chip << ": "
            << counted_text(passes, "pass", "passes") << "\n";
  for (const MetricInfo& info : found) {
    std::cout << "  " << info.name << std::string(info.name.size() < 24 ? 24 - info.name.size() : 1, ' ')
              << info.unit << std::string(info.unit.size() < 12 ? 12 - info.unit.size() : 1, ' ')
              << info.description << "\n";
  }
  for (const char* const name : kExactMetricNames) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      std::cout << "  " << name << "  not on this chip\n";
  }
  if (passes > 1)
    std::cout << "More than one pass: these bytes cannot be measured exactly on " << chip << ".\n";
  return kExitOk;
}

int metrics(const MetricsOptions& options) {
  const CuptiLibrary library = load();
  const std::vector<std::string> chips = supported_chips(library.functions);
  const std::string chip = choose_chip(library.functions, chips, options.chip);
  MetricCatalog catalog(library.functions, chip);
  if (options.list) return list_metrics(catalog, chip, options);
  return show_set(catalog, chips, chip, library, options.json);
}

}  // namespace

void add_metrics(CLI::App& app, Action& action) {
  const auto options = std::make_shared<MetricsOptions>();
  CLI::App* const verb =
      app.add_subcommand("metrics", "What the hardware counters of a chip can measure; needs no GPU");
  verb->add_option("--chip", options->chip, "Chip, as in GH100 [that of the GPU, else GH100]");
  CLI::Option* const list =
      verb->add_option("--list", options->pattern, "All base metrics, or those with PATTERN in the name")
          ->expected(0, 1)
          ->type_name("[PATTERN]");
  verb->add_flag("--json", options->json, "As JSON");
  verb->callback([options, list, &action] {
    options->list = list->count() != 0;
    action = [options] { return metrics(*options); };
  });
}

}  // namespace rangefinder
