// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/name_pattern.h"

#include <regex>

namespace rangefinder {

struct NamePattern::Compiled {
  std::regex regex;
};

NamePattern::NamePattern(std::string_view regex) {
  try {
    compiled_ = std::make_shared<const Compiled>(Compiled{std::regex(regex.begin(), regex.end())});
  } catch (const std::regex_error& error) {
    throw Invalid(error.what());
  }
}

bool NamePattern::is_in(std::string_view name) const {
  return std::regex_search(name.begin(), name.end(), compiled_->regex);
}

}  // namespace rangefinder
