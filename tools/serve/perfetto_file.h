// SPDX-License-Identifier: Apache-2.0
//
// The export to Perfetto as an answer: streamed from a file that is unlinked before the first byte is sent.
#pragma once

#include "tools/analysis/model/trace_files.h"
#include "tools/serve/http.h"

namespace rangefinder {

/// One export at a time over all threads, because it takes memory and a core. Throws Missing.
[[nodiscard]] HttpParts perfetto_file(const TraceFolder& trace);

}  // namespace rangefinder
