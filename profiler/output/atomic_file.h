// SPDX-License-Identifier: Apache-2.0
//
// Files that are replaced as a whole: summary.json, the requested report.
//
//   text ─▶ PATH.tmp (new file, mode 0600) ─▶ rename ─▶ PATH
//
// A device or a pipe at PATH is written in place, never replaced. append_line() is for a list that several
// processes write.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// A reader sees the old text or the new one, never a part. False, with errno set: PATH is unchanged.
[[nodiscard]] bool write_atomically(const std::string& path, std::string_view text) noexcept;
/// `line` with its newline. False: it is not written, or not whole.
[[nodiscard]] bool append_line(const std::string& path, std::string_view line) noexcept;

}  // namespace rangefinder
