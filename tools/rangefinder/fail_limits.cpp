// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/fail_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "tools/command_line/command_line.h"

namespace rangefinder {
namespace {

bool is_beyond(const Change& change, const std::optional<double>& limit) {
  return limit && change.relative().value_or(HUGE_VAL) > *limit;
}

}  // namespace

double parse_share(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || (rest != "%" && !rest.empty()) || !(value >= 0 && value < 1e6)) {
    throw WrongUse(option + " " + text + ": give a share such as 5% or 0.05");
  }
  return rest == "%" ? value / 100 : value;
}

FailLimits FailLimits::parse(const std::string& text) {
  FailLimits out;
  if (text.empty()) return out;
  if (text.find('=') == std::string::npos) {
    out.iteration = out.module = parse_share("--fail-over", text);
    return out;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at), name = part.substr(0, part.find('='));
    std::optional<double>* const limit = name == "iteration" ? &out.iteration
                                         : name == "module"  ? &out.module
                                         : name == "dram"    ? &out.dram
                                                             : nullptr;
    if (limit == nullptr || name.size() == part.size()) {
      throw WrongUse("--fail-over " + text + ": \"" + part +
                     "\" is not iteration=SHARE, module=SHARE or dram=SHARE");
    }
    *limit = parse_share("--fail-over " + name, part.substr(name.size() + 1));
    at = end + 1;
  }
  return out;
}

std::vector<const Change*> FailLimits::failed(const TraceDiff& diff) const {
  std::vector<const Change*> out;
  for (const Change& change : diff.iterations) {
    const bool is_worse = change.quantity == Quantity::wall_ns && change.verdict == Verdict::worse;
    if (is_worse && is_beyond(change, iteration)) out.push_back(&change);
  }
  for (const Change* const change : diff.worse_than(0)) {
    const bool of_dram = change->quantity == Quantity::dram_bytes && is_beyond(*change, dram);
    if (is_beyond(*change, module) || of_dram) out.push_back(change);
  }
  return out;
}

}  // namespace rangefinder
