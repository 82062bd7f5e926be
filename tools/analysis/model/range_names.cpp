// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/range_names.h"

#include <array>

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

}  // namespace rangefinder
