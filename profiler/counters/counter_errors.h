// SPDX-License-Identifier: Apache-2.0
//
// Turns an error code of CUPTI's counter functions into a sentence that says how to fix it.
#pragma once

#include <cupti_result.h>

#include <string>
#include <string_view>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// What is wrong and how to fix it; empty for a code without an entry.
[[nodiscard]] std::string_view counter_error_fix(CUptiResult result) noexcept;

/// "cuptiFoo failed with CUPTI_ERROR_BAR (26): how to fix it". If the counters are in use, asks the user's
/// other processes whether they hold them (counter_holder.h).
[[nodiscard]] std::string counter_error_text(const CuptiFunctions& cupti, const char* step,
                                             CUptiResult result);

}  // namespace rangefinder
