// SPDX-License-Identifier: Apache-2.0
//
// The built page, tools/web/dist/page.html, embedded when this library was built; without data.
#pragma once

#include <string_view>

namespace rangefinder {

[[nodiscard]] std::string_view page_template() noexcept;

}  // namespace rangefinder
