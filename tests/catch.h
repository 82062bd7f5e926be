// SPDX-License-Identifier: Apache-2.0
//
// Catch2 by one name: version 2 (Debian 12) keeps everything in catch2/catch.hpp,
// version 3 has catch2/catch_all.hpp. Tests include this file only.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>

/// The name that version 3 has for it.
inline auto ContainsSubstring(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
#endif
