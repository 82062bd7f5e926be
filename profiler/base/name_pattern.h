// SPDX-License-Identifier: Apache-2.0
//
// A regular expression (ECMAScript) that a user wrote for names of kernels. Nothing else includes <regex>: it
// takes a second to compile.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace rangefinder {

class NamePattern {
 public:
  struct Invalid : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// Of a name that a program gives: the stack use of is_in() grows with the length of the text.
  static constexpr std::size_t kMaxMatched = 2048;

  /// Throws Invalid. Its stack use, and that of is_in(), grows with the length of the text.
  explicit NamePattern(std::string_view regex);
  /// Whether a part of `name` matches.
  [[nodiscard]] bool is_in(std::string_view name) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace rangefinder
