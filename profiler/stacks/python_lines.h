// SPDX-License-Identifier: Apache-2.0
//
// The line of an instruction, by the line table of its code object. Pure.
//
//   3.9        co_lnotab: (bytes, signed lines) pairs                       Objects/lnotab_notes.txt
//   3.10       co_linetable: (bytes, signed lines), -128: no line           PEP 626
//   3.11 on    co_linetable: entries of 1 to 8 units with columns           Objects/locations.md
#pragma once

#include <cstdint>
#include <span>

namespace rangefinder {

/// Of the instruction `position` bytes after the first one of a code object whose first line is
/// `first_line`. `minor`: of Python 3. 0: it has no line, or the table is damaged.
[[nodiscard]] std::uint32_t python_line(std::uint8_t minor, std::span<const std::uint8_t> table,
                                        std::int32_t first_line, std::int32_t position) noexcept;

}  // namespace rangefinder
