// SPDX-License-Identifier: Apache-2.0
//
// --out of `run`. Expands everything that is known before the program starts; the library expands %p.
// Refuses a folder that holds a trace, or clears it with --force.
#pragma once

#include <filesystem>
#include <string>

namespace rangefinder {

/// The template for RANGEFINDER_OUT, with %h, %r and %q{} expanded. Absolute, because the program may
/// change its working directory. Throws WrongUse if it cannot be expanded.
[[nodiscard]] std::string prepare_out_template(const std::string& text);

/// Final folder of a prepared template without %p; empty if it has %p.
[[nodiscard]] std::filesystem::path fixed_folder(const std::string& prepared);

/// Throws WrongUse if `folder` is a file, or holds a trace and `force` is false. With `force` removes the
/// files of that trace (trace-*.ndjson, *.zst, summary.json) and no others.
void clear_folder(const std::filesystem::path& folder, bool force);

}  // namespace rangefinder
