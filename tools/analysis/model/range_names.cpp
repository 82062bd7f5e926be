// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/range_names.h"

#include <array>
#include <cctype>

namespace rangefinder {
namespace {

constexpr std::array kReaders{meaning_in_xla};

}  // namespace

std::optional<NameMeaning> meaning_of(std::string_view name) {
  for (const auto& reader : kReaders) {
    if (std::optional<NameMeaning> meaning = reader(name)) return meaning;
  }
  return std::nullopt;
}

std::string letters_and_digits(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace rangefinder
