// SPDX-License-Identifier: Apache-2.0
#include "schema/scan_line.h"

#include "schema/fields.h"
#include "schema/line_scanner.h"

namespace rangefinder::scanning {
namespace {

template <typename Record>
const char* scan(const char* at, TextPool& pool, Record& record) {
  LineScanner keys(at, pool);
  fields(keys, record);
  return keys.end();
}

}  // namespace

// Flattened: the place in the line stays in a register.
[[gnu::flatten]] const char* scan_keys(const char* at, TextPool& pool, KernelRecord& record) {
  return scan(at, pool, record);
}
[[gnu::flatten]] const char* scan_keys(const char* at, TextPool& pool, LaunchRecord& record) {
  return scan(at, pool, record);
}
[[gnu::flatten]] const char* scan_keys(const char* at, TextPool& pool, RangeRecord& record) {
  return scan(at, pool, record);
}
#define X(Record)                                                         \
  const char* scan_keys(const char* at, TextPool& pool, Record& record) { \
    return scan(at, pool, record);                                        \
  }
X(ExactRecord)
X(MemcpyRecord)
X(MemsetRecord)
X(GraphRecord)
X(SyncRecord)
X(EventRecord)
X(AllocRecord)
X(OverheadRecord)
X(SamplesRecord)
X(HoldRecord)
X(MarkRecord)
X(MonitorRecord)
X(PathRecord)
#undef X

}  // namespace rangefinder::scanning
