// SPDX-License-Identifier: Apache-2.0
//
// The list of all sections: name, purpose, factory.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tools/analysis/tables/section.h"

namespace rangefinder {

struct SectionKind {
  std::string_view name;   ///< as --section takes it
  std::string_view about;  ///< one line
  std::unique_ptr<Section> (*make)(const SectionView&);
  /// It shows bytes: SectionInput::values needs the shares of hardware samples, which take a second look
  /// at the trace. Else they hold exact bytes only.
  bool samples = false;
};

/// In the order in which --help lists them.
[[nodiscard]] const std::vector<SectionKind>& section_kinds();
/// nullptr: there is none of that name.
[[nodiscard]] const SectionKind* find_section(std::string_view name);

}  // namespace rangefinder
