// SPDX-License-Identifier: Apache-2.0
//
// The lines of a trace as rows of the tables of row_tables.h: the only place that knows which record has
// which values. Records without times are rows too.
#pragma once

#include "tools/export/row_tables.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

/// Writes names, GPUs, streams and loss, then a row or more per event. Memory grows with distinct names.
void write_rows(const TraceOutline& trace, RowSink& sink);

}  // namespace rangefinder
