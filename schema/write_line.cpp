// SPDX-License-Identifier: Apache-2.0
#include "schema/write_line.h"

#include "schema/fields.h"
#include "schema/hot_line.h"
#include "schema/line_writer.h"

namespace rangefinder {
namespace {

template <typename Record>
void append_line(std::string& out, const Record& record) {
  LineWriter line(out, kind_name(record));
  fields(line, record);
  line.end();
}

// Flattened: calls would add a tenth.
template <typename Record>
[[gnu::flatten]] void append_hot(std::string& out, const Record& record) {
  HotLine line(out, kKind<Record>.name);
  fields(line, record);
  line.end();
}
void append_line(std::string& out, const KernelRecord& record) {
  append_hot(out, record);
}
void append_line(std::string& out, const LaunchRecord& record) {
  append_hot(out, record);
}

}  // namespace

#define X(Record, ...)                                      \
  void write_line(std::string& out, const Record& record) { \
    append_line(out, record);                               \
  }
RANGEFINDER_KINDS(X)
#undef X

}  // namespace rangefinder
