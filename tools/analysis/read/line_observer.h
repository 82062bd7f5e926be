// SPDX-License-Identifier: Apache-2.0
//
// Interface of report sections, the page and checks: they receive the selected lines of a trace while
// load_trace() computes its totals.
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

  /// Called before the first line.
  virtual void begin(const TraceFolder&) {}
  /// Called for every selected line, in file order. Lines that define names (paths, kernel names,
  /// configurations, GPUs) are always selected.
  virtual void line(const Line&) {}
  /// Called for GPU work and ranges that began before the selected window, with the part in it: only its time
  /// counts.
  virtual void rest(const Line&) {}
  /// True: --range is applied to the rows, not to the lines, as where other paths' work decides whether a GPU
  /// is idle.
  [[nodiscard]] virtual bool takes_all_ranges() const { return false; }
};

}  // namespace rangefinder
