// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/read_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "profiler/base/name_pattern.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMaxJobs = 256;

std::uint64_t parse_size(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto* const known =
      std::find_if(kUnits.begin(), kUnits.end(), [unit](const auto& entry) { return entry.first == unit; });
  if (error != std::errc() || known == kUnits.end() || !(number > 0 && number < 1e6))
    throw WrongUse("--memory " + text + ": give a size such as 500MB or 4GB");
  return static_cast<std::uint64_t>(number * known->second);
}

}  // namespace

void ReadOptions::add_to(Verb& verb) {
  verb.group("How it is read");
  verb.option("--jobs", jobs, "Read with N threads [2]").type_name("N").positive();
  verb.option(
          "--memory", memory,
          "Keep at most this much of the trace in memory; beyond it, the files are read again where several "
          "passes are needed [half of the machine's]")
      .type_name("SIZE");
  verb.option(
          "--communication", communication,
          "Further kernels that communicate, as those of NCCL do: a regular expression for parts of their "
          "demangled names")
      .type_name("REGEX");
}

void ReadOptions::pass_to(std::vector<TraceFolder>& traces, const std::string& iteration_range) const {
  for (TraceFolder& trace : traces) {
    trace.iteration_range = iteration_range;
    trace.communication = communication;
  }
}

ReadLimits ReadOptions::limits() const {
  try {
    if (!communication.empty()) static_cast<void>(NamePattern(communication));
  } catch (const NamePattern::Invalid& error) {
    throw WrongUse("--communication " + communication +
                   " is not a valid regular expression: " + error.what());
  }
  ReadLimits out;
  out.jobs = static_cast<unsigned>(std::min(jobs, kMaxJobs));
  if (!memory.empty()) out.memory_bytes = parse_size(memory);
  return out;
}

}  // namespace rangefinder
