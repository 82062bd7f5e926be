// SPDX-License-Identifier: Apache-2.0
//
// The list of all sections.
#pragma once

#include <string_view>
#include <vector>

#include "tools/analysis/queries/section.h"

namespace rangefinder {

extern const SectionKind kOverviewSection, kFindingsSection, kCaptureCheckSection;

/// In the order of --help. Not before main(): the sections are objects of other files.
[[nodiscard]] const std::vector<SectionKind>& section_kinds();
/// nullptr: no section has that name. `check`: for `graphs`, the section of --check.
[[nodiscard]] const SectionKind* find_section(std::string_view name, bool check = false);

}  // namespace rangefinder
