// SPDX-License-Identifier: Apache-2.0
//
// Reads lines of the frequent kinds without a JSON parser, and passes their records to a sink. Takes only
// lines in exactly the form that write_line() writes.
//
//   {"t":"kernel","start":…,…}\n  ─▶ scan_line() ─▶ sink(KernelRecord&&), and the place of the next line
//                                       └─ nullptr: another kind, order of keys, escape, space, number that
//                                          is not in the writer's form, or error ─▶ LineReader
//
// It reports no errors: every other line is left to LineReader. So it may take only lines that LineReader
// reads, and must give the same record: tests/unit/schema and tests/property compare both.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "schema/kinds.h"
#include "schema/text_pool.h"

namespace rangefinder {

/// Bytes that must be readable behind the '\n' of a line.
inline constexpr std::size_t kScanPadding = 32;

// X(record), the most frequent first.
#define RANGEFINDER_SCANNED_KINDS(X) \
  X(KernelRecord)                    \
  X(LaunchRecord)                    \
  X(RangeRecord)                     \
  X(ExactRecord)                     \
  X(MemcpyRecord)                    \
  X(MemsetRecord)                    \
  X(GraphRecord)                     \
  X(SyncRecord)                      \
  X(EventRecord)                     \
  X(AllocRecord)                     \
  X(OverheadRecord)                  \
  X(SamplesRecord)                   \
  X(HoldRecord)                      \
  X(MarkRecord)                      \
  X(MonitorRecord)                   \
  X(PathRecord)

namespace scanning {

// The keys of a line, from behind the name of its kind. Returns the place behind the line, or nullptr.
#define X(Record) [[nodiscard]] const char* scan_keys(const char* at, TextPool& pool, Record& record);
RANGEFINDER_SCANNED_KINDS(X)
#undef X

inline constexpr std::string_view kBegin = R"({"t":")";

/// The place behind the name if `at` is this name and a quote, else nullptr.
[[nodiscard]] inline const char* skip_name(const char* at, std::string_view name) noexcept {
  const bool same = std::memcmp(at, name.data(), name.size()) == 0 && at[name.size()] == '"';
  return same ? at + name.size() + 1 : nullptr;
}

/// False: the line is of another kind.
template <typename Record, typename Sink>
[[nodiscard]] bool scan_as(const char* kind, TextPool& pool, Sink& sink, const char*& next) {
  constexpr const Kind<Record>& kKindOf = kKind<Record>;
  const char* at = skip_name(kind, kKindOf.name);
  bool flag = false;
  if constexpr (kKindOf.flag != nullptr) {
    if (at == nullptr) {
      at = skip_name(kind, kKindOf.name_if_flag);
      flag = true;
    }
  }
  if (at == nullptr) return false;
  const auto scan_into = [&](Record& record) {
    if constexpr (kKindOf.flag != nullptr) record.*kKindOf.flag = flag;
    next = scan_keys(at, pool, record);
    if (next != nullptr) sink(std::move(record));
  };
  if constexpr (requires { sink.template place<Record>(); }) {
    scan_into(sink.template place<Record>());
  } else {
    Record record;
    scan_into(record);
  }
  return true;
}

}  // namespace scanning

/// Calls `sink` once with the record, or returns nullptr without a call: read the line with LineReader.
///
/// `line` must contain a '\n' and kScanPadding readable bytes behind it. Returns the place behind the '\n'.
/// `sink` is called with an rvalue of any record of RANGEFINDER_SCANNED_KINDS, and may move from it. Views in
/// the record live as long as `pool`.
///
/// A sink may own the record: `template <typename Record> Record& place()` returns one in its initial state.
/// Its content means nothing if the sink is not called afterwards.
template <typename Sink>
[[nodiscard]] const char* scan_line(const char* line, TextPool& pool, Sink&& sink) {
  if (std::memcmp(line, scanning::kBegin.data(), scanning::kBegin.size()) != 0) return nullptr;
  const char* const kind = line + scanning::kBegin.size();
  const char* next = nullptr;
#define X(Record) \
  if (scanning::scan_as<Record>(kind, pool, sink, next)) return next;
  RANGEFINDER_SCANNED_KINDS(X)
#undef X
  return nullptr;
}

}  // namespace rangefinder
