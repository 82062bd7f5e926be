// SPDX-License-Identifier: Apache-2.0
//
// Reads one trace for one section.
//
//   SectionReading reading(files, find_section("modules"), *section, {.selected = options});
//   section->tables({reading.trace, *reading.values, view})
#pragma once

#include <memory>
#include <optional>

#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/report/section_kinds.h"

namespace rangefinder {

struct SectionReadOptions {
  SelectionOptions selected = {};
  bool json = false;        ///< which has a row about samples, also where the section shows no bytes
  bool total = false;       ///< the section is the sum of --total, which also needs iterations
  bool counted = false;     ///< also the part that Section::counted_from() names; everything is selected
  bool iterations = false;  ///< Section::start() needs them, whatever its kind
  Columns more = {};        ///< what `section` reads besides the columns of its kind
  ReadLimits limits = {};
};

/// The input of all sections.
struct SectionReading {
  /// In one pass where the section allows it; otherwise the trace stays in memory. Passes rows to `section`.
  /// Throws Missing, NoMatch, NamePattern::Invalid.
  SectionReading(const TraceFolder& files, const SectionKind& kind, Section& section,
                 const SectionReadOptions& options);
  SectionReading(const SectionReading&) = delete;
  SectionReading& operator=(const SectionReading&) = delete;

  Selection selection;
  TraceTotals trace;
  std::optional<RowValues> values;
  std::unique_ptr<TracePart> counted;  ///< nullptr: the section names no part
};

}  // namespace rangefinder
