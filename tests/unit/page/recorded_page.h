// SPDX-License-Identifier: Apache-2.0
//
// The page's data of recordings, made once for all cases: fitting the samples of one takes seconds.
#pragma once

#include <map>
#include <string>

#include "tests/unit/analysis/queries/section_run.h"
#include "tools/page/page_data.h"

namespace rangefinder::test {

inline const PageData& recorded_page(const std::string& name) {
  static std::map<std::string, PageData> made;
  const auto known = made.find(name);
  if (known != made.end()) return known->second;
  WholeTrace trace(open_trace_folder(recorded(name)), kPageColumns);
  return made.emplace(name, page_data(trace, {})).first->second;
}

}  // namespace rangefinder::test
