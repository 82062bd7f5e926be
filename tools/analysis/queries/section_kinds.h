// SPDX-License-Identifier: Apache-2.0
//
// The list of all sections: name, purpose, factory.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tools/analysis/model/columns.h"
#include "tools/analysis/tables/section.h"

namespace rangefinder {

struct SectionKind {
  std::string_view name;   ///< the value of --section
  std::string_view about;  ///< one line
  std::unique_ptr<Section> (*make)(const SectionView&);
  /// The section shows bytes: SectionInput::values needs sampled bytes, which take a second pass over the
  /// trace. If false, the values hold exact bytes only.
  bool samples = false;
  Columns columns = {};  ///< what add() reads
  /// start() needs the iterations: the trace is read before add().
  bool iterations = false;
};

/// In the order of --help.
[[nodiscard]] const std::vector<SectionKind>& section_kinds();
/// nullptr: no section has that name. `check`: what --check makes of `graphs`.
[[nodiscard]] const SectionKind* find_section(std::string_view name, bool check = false);

}  // namespace rangefinder
