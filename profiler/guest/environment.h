// SPDX-License-Identifier: Apache-2.0
//
// Changes the process environment without setenv().
//
// setenv() may move the array of variables while an application thread walks it in
// getenv(), which would crash the application. This code copies the array, changes the
// copy and points `environ` at it. The old array and its strings are never freed, so a
// reader sees the old state or the new one.
#pragma once

#include <string>

namespace rangefinder {

/// Sets `name` to `value`. False: out of memory, nothing was changed.
[[nodiscard]] bool set_environment(const std::string& name, const std::string& value) noexcept;

}  // namespace rangefinder
