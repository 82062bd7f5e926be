// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/trace_rows.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/table_sections.h"
#include "tools/analysis/tables/section.h"
#include "tools/serve/flat_rows.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson section_json(WholeTrace& trace, std::unique_ptr<Section> (*make)(const SectionView&)) {
  const SectionView view;
  const std::unique_ptr<Section> section = make(view);
  trace.each([&section](const SelectedRows& rows) { section->add(rows); });
  section->finish();
  return section->json({trace.totals(), trace.values(), view});
}

}  // namespace

OrderedJson module_rows_of(WholeTrace& trace) {
  return flat_modules(section_json(trace, make_modules_section));
}

OrderedJson kernel_rows_of(WholeTrace& trace) {
  return flat_rows(section_json(trace, make_kernels_section).at("kernels"));
}

OrderedJson finding_rows_of(WholeTrace& trace) {
  FindingRules rules(trace.iterations());
  rules.read([&trace](const auto& see) { trace.each(see); });
  const SectionView view;
  return flat_rows(findings_json(rules.findings({trace.totals(), trace.values(), view})));
}

}  // namespace rangefinder
