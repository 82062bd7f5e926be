// SPDX-License-Identifier: Apache-2.0
//
// The page of `serve`: tools/web/dist/live.html, embedded at build time.
#pragma once

#include <string_view>

namespace rangefinder {

[[nodiscard]] std::string_view live_page() noexcept;

}  // namespace rangefinder
