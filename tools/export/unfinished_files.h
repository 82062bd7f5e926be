// SPDX-License-Identifier: Apache-2.0
//
// Removes a tool's unfinished files when a signal ends it.
//
//   remember_unfinished(path) ─▶ a slot ─▶ forget_unfinished(slot), once the file has its name
//                                   └────▶ SIGINT, SIGTERM, SIGHUP: unlink, then die of the signal
//
// Slots are static memory, so that a signal handler may read them; at most kMaxUnfinished at once. For tools
// only: the injected library installs no handler. SIGKILL leaves the files behind.
#pragma once

#include <cstddef>
#include <filesystem>

namespace rangefinder {

inline constexpr std::size_t kMaxUnfinished = 64;

/// The first call installs the handlers. Throws Missing if no slot is free or the path is too long. Not
/// thread-safe.
[[nodiscard]] std::size_t remember_unfinished(const std::filesystem::path& file);
/// The same for a folder created for such files; it is removed if it is empty.
[[nodiscard]] std::size_t remember_unfinished_folder(const std::filesystem::path& folder);
void forget_unfinished(std::size_t slot) noexcept;

}  // namespace rangefinder
