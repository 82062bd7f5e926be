// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as a line in the writer's form: scan_line() for callers whose text has no padding behind it.
//
//   text ─▶ copy with a '\n' and padding ─▶ scan_line() ─▶ Line
#pragma once

#include <string_view>

#include "schema/read_line.h"
#include "schema/text_pool.h"

namespace rangefinder {

/// `text`: one line with or without its newline. False: `line` is invalid; read `text` with the JSON parser.
[[nodiscard]] bool read_plain(std::string_view text, TextPool& pool, Line& line);

}  // namespace rangefinder
