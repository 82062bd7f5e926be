// SPDX-License-Identifier: Apache-2.0
//
// The process environment, changed without setenv().
//
// setenv() may move the array of variables while a thread of the host walks it in
// getenv(): a crash that would be ours. Here the whole array is copied, the copy is
// changed, and `environ` is pointed at it; the old array and its texts stay as they
// were, for ever, so that a reader sees the old state or the new one.
#pragma once

#include <string>

namespace rangefinder {

/// Sets `name` to `value`. False: out of memory, nothing was changed.
[[nodiscard]] bool set_environment(const std::string& name, const std::string& value) noexcept;

}  // namespace rangefinder
