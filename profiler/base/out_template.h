// SPDX-License-Identifier: Apache-2.0
//
// The template of --out: `rangefinder-%p`, `/data/%h/rank-%r`, `run-%q{SLURM_JOB_ID}`.
//
//   %p process id   %h host   %q{ENV} a variable   %r rank   %% a percent sign
//
// Two callers share it: `rangefinder run`, which knows host, rank and environment but not
// the process that will be traced (it may be a child), and the library inside that
// process. So `run` expands partly: it doubles the percent signs in the values that it
// inserts and keeps %p and %%. The library expands the result to the final folder.
//
// Standard library only. Never fails: a directive that cannot be expanded leaves a usable
// text and a `problem`. The tool then refuses; the library logs it and continues.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace rangefinder {

/// Values of %p, %h and %r. An empty `pid`: expand partly, keep %p and %%.
struct OutTemplateValues {
  std::string pid;
  std::string host;
  std::string rank;
};

struct ExpandedOut {
  std::string text;
  std::string problem;  ///< first directive that could not be expanded, as a sentence; empty: none
};

/// In order of precedence: the first that is set is the rank.
inline constexpr std::array kRankVariables{
    "RANK",         "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID", "JOB_COMPLETION_INDEX"};

/// Rank of a distributed run; empty if none of the variables is set. `lookup(name)` like getenv.
template <typename Lookup>
[[nodiscard]] std::string rank_from(Lookup&& lookup) {
  for (const char* const name : kRankVariables) {
    if (const char* const value = lookup(name); value != nullptr && *value != '\0') return value;
  }
  return {};
}

/// Number of ranks of a distributed run, from the same launcher as the rank; 0: it does not say.
template <typename Lookup>
[[nodiscard]] std::uint32_t ranks_from(Lookup&& lookup) {
  constexpr std::array<std::array<const char*, 2>, 5> kSizes{
      {{"RANK", "WORLD_SIZE"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
       {"SLURM_PROCID", "SLURM_NTASKS"}}};
  for (const char* const name : kRankVariables) {
    if (const char* const rank = lookup(name); rank == nullptr || *rank == '\0') continue;
    for (const auto& [of_rank, of_size] : kSizes) {
      if (std::string_view(of_rank) != name) continue;
      const char* const value = lookup(of_size);
      const std::string_view text = value == nullptr ? std::string_view() : std::string_view(value);
      std::uint32_t out = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
      return error == std::errc() && end == text.data() + text.size() ? out : 0;
    }
    return 0;
  }
  return 0;
}

namespace out_template {

/// Appends a value. The result of a partial expansion is expanded again, so its percent signs are doubled.
inline void append_value(std::string& out, std::string_view value, bool partial) {
  for (const char c : value) {
    if (c == '%' && partial) out += '%';
    out += c;
  }
}

/// `text` begins with "q". Returns the number of characters used; 0: it is not a complete q{NAME}.
template <typename Lookup>
std::size_t append_variable(std::string_view text, bool partial, Lookup&& lookup, ExpandedOut& out) {
  const std::size_t close = text.find('}');
  if (text.size() < 2 || text[1] != '{' || close == std::string_view::npos) return 0;
  const std::string name(text.substr(2, close - 2));
  const char* const value = lookup(name.c_str());
  if (value == nullptr && out.problem.empty()) {
    out.problem = "%q{" + name + "} needs the variable " + name + ", which is not set";
  }
  append_value(out.text, value == nullptr ? "unset" : value, partial);
  return close + 1;
}

}  // namespace out_template

/// Expands `text`. `lookup(name)` like getenv. Without a rank %r is 0.
template <typename Lookup>
[[nodiscard]] ExpandedOut expand_out_template(std::string_view text, const OutTemplateValues& values,
                                              Lookup&& lookup) {
  const bool partial = values.pid.empty();
  ExpandedOut out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = i + 1 < text.size() ? text[i + 1] : '\0';
    std::size_t taken = 1;
    if (text[i] != '%') {
      out.text += text[i];
      continue;
    }
    if (character == 'p') {
      out.text += partial ? "%p" : values.pid;
    } else if (character == '%') {
      out.text += partial ? "%%" : "%";
    } else if (character == 'h') {
      out_template::append_value(out.text, values.host, partial);
    } else if (character == 'r') {
      out_template::append_value(out.text, values.rank.empty() ? "0" : values.rank, partial);
    } else if (character == 'q') {
      taken = out_template::append_variable(text.substr(i + 1), partial, lookup, out);
    } else {
      taken = 0;
    }
    if (taken == 0) {
      if (out.problem.empty()) {
        out.problem = "\"" + std::string(text.substr(i, 2)) + "\" in \"" + std::string(text) +
                      "\" is none of %p, %h, %r, %q{NAME} and %%";
      }
      out_template::append_value(out.text, "%", partial);
    }
    i += taken;
  }
  return out;
}

/// The same template from the root, as seen from the working directory `here`.
template <typename Lookup>
[[nodiscard]] std::string absolute_out_template(const std::string& text, const char* here, Lookup&& lookup) {
  if (here == nullptr || expand_out_template(text, {"0", "", ""}, lookup).text.starts_with('/')) return text;
  std::string out;
  out_template::append_value(out, here, true);
  return out + "/" + text;
}

/// True if the folder depends on the process that is traced.
[[nodiscard]] inline bool names_process(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (text[i + 1] == 'p') return true;
    ++i;
  }
  return false;
}

}  // namespace rangefinder
