// SPDX-License-Identifier: Apache-2.0
//
// Who sees the selected lines of a trace while load_trace() makes its totals: sections of a report, the page,
// checks.
#pragma once

#include "schema/read_line.h"

namespace rangefinder {

struct TraceFolder;

class LineObserver {
 public:
  LineObserver() = default;
  LineObserver(const LineObserver&) = delete;
  LineObserver& operator=(const LineObserver&) = delete;
  virtual ~LineObserver() = default;

  /// Before the first line.
  virtual void begin(const TraceFolder&) {}
  /// Every selected line, in file order; naming lines (paths, names, configurations, GPUs) always.
  virtual void line(const Line&) {}
};

}  // namespace rangefinder
