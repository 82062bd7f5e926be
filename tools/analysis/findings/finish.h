// SPDX-License-Identifier: Apache-2.0
//
// What rules found, as a list to read: complete titles, one finding for each cause and place, most valuable
// first.
//
//   rules ─▶ Findings ─▶ bound by the time that each is about, and by the compared time
//                     ─▶ share, severity, saving of an iteration, title
//                     ─▶ one finding for each cause and place; the others are in its evidence
//                     ─▶ largest saving first; findings without one come last, set-up after all
#pragma once

#include <vector>

#include "tools/analysis/findings/finding.h"

namespace rangefinder {

struct FindingContext;

/// Completes the findings of one scope.
void complete_findings(const FindingContext& context, std::vector<Finding>& findings);
/// Merges equal causes and sorts. Findings must be complete.
void rank_findings(std::vector<Finding>& findings);

}  // namespace rangefinder
