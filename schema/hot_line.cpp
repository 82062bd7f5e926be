// SPDX-License-Identifier: Apache-2.0
#include "schema/hot_line.h"

#include "schema/fields.h"
#include "schema/kinds.h"

namespace rangefinder {
namespace {

template <typename Record>
void append_hot(std::string& out, const Record& record) {
  HotLine line(out, kKind<Record>.name);
  fields(line, record);
  line.end();
}

}  // namespace

// Flattened: calls would add a tenth.
[[gnu::flatten]] void append_line(std::string& out, const KernelRecord& record) {
  append_hot(out, record);
}
[[gnu::flatten]] void append_line(std::string& out, const LaunchRecord& record) {
  append_hot(out, record);
}

}  // namespace rangefinder
