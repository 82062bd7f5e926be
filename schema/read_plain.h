// SPDX-License-Identifier: Apache-2.0
//
// Reads the three kinds that make up nearly all of a long trace without a JSON parser. Accepts only lines in
// exactly the form that write_line() writes.
//
//   {"t":"kernel","start":…,…}  ─▶ read_plain() ─▶ KernelRecord, LaunchRecord, RangeRecord
//                                      └─ false: any other kind, order of keys, escape, space, number
//                                         that is not a plain integer, or error ─▶ the JSON parser
//
// It reports no errors: it leaves every other line to the parser. So it may accept only lines that the
// parser accepts, and must give the same result: tests/property/ compares both.
#pragma once

#include <string_view>

#include "schema/line_keys.h"
#include "schema/read_line.h"

namespace rangefinder {

/// False: `line` is invalid; read `text` with the JSON parser.
[[nodiscard]] bool read_plain(std::string_view text, TextPool& pool, Line& line);

}  // namespace rangefinder
