// SPDX-License-Identifier: Apache-2.0
//
// Files that are replaced whole: summary.json, the report that was asked for.
//
//   text ─▶ PATH.tmp, made anew, nobody else's, 0600 ─▶ rename ─▶ PATH
//
// A device or a pipe at PATH is written to and stays what it is.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// A reader sees the old text or the new one, never a part. False, with errno set: nothing was changed.
[[nodiscard]] bool write_atomically(const std::string& path, std::string_view text) noexcept;

}  // namespace rangefinder
