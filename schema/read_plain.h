// SPDX-License-Identifier: Apache-2.0
//
// The three kinds that make up nearly all of a long trace, read without a JSON parser where a line
// is, byte for byte, of the form that write_line.cpp gives it.
//
//   {"t":"kernel","start":…,…}  ─▶ read_plain() ─▶ KernelRecord, LaunchRecord, RangeRecord
//                                      └─ false: any other kind, order of keys, escape, space, number
//                                         that is no plain integer, or fault ─▶ the JSON parser
//
// It never refuses a line: what it does not know it leaves to the parser, which knows the reason. So
// it may only take what the parser would take, and must give what it would give: tests/property/ holds
// both against each other.
#pragma once

#include <string_view>

#include "schema/line_keys.h"
#include "schema/read_line.h"

namespace rangefinder {

/// False: `line` is not to be used, read `text` in the general way.
[[nodiscard]] bool read_plain(std::string_view text, TextPool& pool, Line& line);

}  // namespace rangefinder
