// SPDX-License-Identifier: Apache-2.0
//
// Writes records as lines of JSON (README.md lists every key).
//
// Appends one whole line, newline included, to `out`. Numbers are written with
// std::to_chars, texts escaped and made valid UTF-8; only `out` allocates. The same record
// always gives the same line: golden tests compare bytes.
#pragma once

#include <string>

#include "schema/kinds.h"

namespace rangefinder {

#define X(Record, ...) void write_line(std::string& out, const Record& record);
RANGEFINDER_KINDS(X)
#undef X

}  // namespace rangefinder
