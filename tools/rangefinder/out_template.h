// SPDX-License-Identifier: Apache-2.0
//
// --out of `run`: what can be expanded before the program starts is, the rest (%p) is
// left to the library; a folder that holds a trace is refused or, by --force, cleared.
#pragma once

#include <filesystem>
#include <string>

namespace rangefinder {

/// The template for RANGEFINDER_OUT: absolute, since the program may change its folder, with
/// %h, %r and %q{} filled in. Throws WrongUse for what cannot be.
[[nodiscard]] std::string prepare_out_template(const std::string& text);

/// Final folder of a prepared template without %p; empty where it has %p.
[[nodiscard]] std::filesystem::path fixed_folder(const std::string& prepared);

/// Throws WrongUse if `folder` is a file, or holds a trace and `force` is not given. With
/// `force` removes that trace's own files (trace-*.ndjson, *.zst, summary.json), no others.
void clear_folder(const std::filesystem::path& folder, bool force);

}  // namespace rangefinder
