// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/fail_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

bool is_beyond(const Change& change, const std::optional<double>& limit) {
  return limit && change.relative().value_or(HUGE_VAL) > *limit;
}

/// Whether a side lacks the DRAM bytes of all modules.
bool lacks_dram(const TraceDiff& diff) {
  return std::none_of(diff.modules.begin(), diff.modules.end(), [](const Change& change) {
    return change.quantity == Quantity::dram_bytes && change.a && change.b;
  });
}

}  // namespace

double parse_share(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  // "5" is more likely 5 % than 500 %, with which a gate never fails.
  const double most = rest == "%" ? 1e6 : 1;
  if (error != std::errc() || (rest != "%" && !rest.empty()) || !(value >= 0 && value <= most)) {
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
    if (change.verdict == Verdict::worse && is_beyond(change, iteration)) out.push_back(&change);
    break;  // the first decides
  }
  for (const Change* const change : diff.worse_than(0)) {
    const bool of_dram = change->quantity == Quantity::dram_bytes && is_beyond(*change, dram);
    // Bytes of counters of two kinds differ by more than the program does.
    if ((diff.basis != Basis::bytes && is_beyond(*change, module)) || of_dram) out.push_back(change);
  }
  return out;
}

std::string FailLimits::unchecked(const TraceDiff& diff) const {
  if (!iteration && !module && !dram) return "";
  if (diff.basis == Basis::none) return "The programs differ";
  if (diff.basis == Basis::bytes && (iteration || module)) return "The counters' modes differ, so times do";
  if (!diff.enough) return "Too few iterations to test";
  if (dram && lacks_dram(diff)) return "No module has DRAM bytes on both sides";
  const Verdict of_iteration = diff.iterations.empty() ? Verdict::untested : diff.iterations.front().verdict;
  if (iteration && of_iteration == Verdict::unclear) return "Iterations spread too much";
  if (iteration && of_iteration == Verdict::untested) return "Too few iterations to test";
  return "";
}

}  // namespace rangefinder
