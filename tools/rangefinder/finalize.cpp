// SPDX-License-Identifier: Apache-2.0
//
// rangefinder finalize DIR…: what `run` does when its program has ended, for programs that were traced
// without it.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/validate/summary_rewrite.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

int finalize(const std::vector<std::string>& places) {
  bool all = true;
  for (const TraceFolder& trace : named_traces(places)) {
    const std::string kept = trace.has_summary ? complete_summary(trace.folder, UINT64_MAX)
                                               : "there is no summary.json to complete";
    all &= kept.empty();
    std::cout << printable(trace.folder.string()) << ": "
              << (kept.empty() ? "summary.json has the attribution of `rangefinder report`, and findings"
                               : kept)
              << "\n";
  }
  return all ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_finalize(CommandLine& line, Action& action) {
  const auto places = std::make_shared<std::vector<std::string>>();
  Verb verb = line.verb("finalize",
                        "Complete the summary.json of ended programs: bytes as in the report, and findings");
  verb.option("DIR", *places, "Folder of a trace, or one with traces below it").required();
  verb.callback([places, &action] { action = [places] { return finalize(*places); }; });
}

}  // namespace rangefinder
