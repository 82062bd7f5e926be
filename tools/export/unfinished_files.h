// SPDX-License-Identifier: Apache-2.0
//
// Files that a tool has begun and not finished: they go away with the tool, however it ends.
//
//   remember(path) ─▶ a slot ─▶ forget(slot), once the file has its name
//                        └────▶ SIGINT, SIGTERM, SIGHUP: unlink, then die of the signal as before
//
// Slots are plain memory, so that a signal handler may read them; at most kMaxUnfinished at once.
// For tools only: the injected library installs no handler. SIGKILL leaves the files behind.
#pragma once

#include <cstddef>
#include <filesystem>

namespace rangefinder {

inline constexpr std::size_t kMaxUnfinished = 64;

/// Installs the handlers with the first file. Throws Missing when there is no slot, or the path is
/// longer than the system allows. Not thread-safe.
[[nodiscard]] std::size_t remember_unfinished(const std::filesystem::path& file);
/// The same for an empty folder that was made for such files.
[[nodiscard]] std::size_t remember_unfinished_folder(const std::filesystem::path& folder);
void forget_unfinished(std::size_t slot) noexcept;

}  // namespace rangefinder
