// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rangefinder {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name) {
  constexpr std::size_t kMaxNamed = 3;
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& candidate : known) ranked.emplace_back(edit_distance(name, candidate), &candidate);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMaxNamed, ranked.size()); ++i) names.push_back(*ranked[i].second);
  return names;
}

std::string suggestion_text(const std::vector<std::string>& known, std::string_view name) {
  const std::vector<std::string> nearest = nearest_names(known, name);
  if (nearest.empty() || edit_distance(name, nearest.front()) > name.size() / 2) return {};
  return ": did you mean " + nearest.front() + "?";
}

std::string suggestion_or_all_text(const std::vector<std::string>& known, std::string_view name) {
  const std::string meant = suggestion_text(known, name);
  return meant.empty() ? "; use " + alternatives_text(known) : meant;
}

std::string alternatives_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace rangefinder
