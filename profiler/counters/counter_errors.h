// SPDX-License-Identifier: Apache-2.0
//
// From an error code of CUPTI's counter functions to a sentence with the cure.
#pragma once

#include <cupti_result.h>

#include <string>
#include <string_view>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// What is wrong and what to do about it; empty for a code that has no entry of its own.
[[nodiscard]] std::string_view counter_error_fix(CUptiResult result) noexcept;

/// "cuptiFoo failed with CUPTI_ERROR_BAR (26): the cure".
[[nodiscard]] std::string counter_error_text(const CuptiFunctions& cupti, const char* step,
                                             CUptiResult result);

}  // namespace rangefinder
