// SPDX-License-Identifier: Apache-2.0
//
// Events of the Chrome Trace Event format, appended to a file: what Perfetto, chrome://tracing and
// PyTorch's tools read.
//
//   events.slice(row, "kernel", name, start, end);    {"ph":"X","cat":"kernel","name":"gemm",
//   JsonObject args(events.args());                    "pid":0,"tid":7,"ts":12.345,"dur":1.000,
//   args.number("correlation", 17); args.close();      "args":{"correlation":17}
//   events.close();                                   }
//
// Times are microseconds with all three decimals, relative to `origin_ns`, never negative: readers
// take them for doubles, and absolute ones would lose their nanoseconds. Ids are numbers: Perfetto
// reads a string as hexadecimal. Process and thread ids are above 0 and below 2^32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/json_text.h"
#include "schema/record.h"
#include "tools/export/output_file.h"

namespace rangefinder {

/// A row of a timeline.
struct ChromeRow {
  std::uint32_t pid = 0, tid = 0;
};

/// Nanoseconds as microseconds: 12345 is "12.345". For values that are not negative.
void append_micros(std::string& out, std::uint64_t ns);

/// `text` as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// Not thread-safe. `name` is always a JSON string as json_string() makes it.
class ChromeEvents {
 public:
  /// `origin_ns`: the time, relative to the base of the trace, that becomes 0.
  ChromeEvents(OutputFile& file, TimeNs origin_ns) : file_(file), out_(file.text()), origin_ns_(origin_ns) {}

  /// Of another trace in the same file.
  void set_origin(TimeNs origin_ns) noexcept { origin_ns_ = origin_ns; }

  /// A stretch of time: ph X. One that would end before it starts lasts 0.
  void slice(ChromeRow row, std::string_view category, std::string_view name, TimeNs start_ns, TimeNs end_ns);
  /// A moment: i, C, b, e.
  void moment(char phase, ChromeRow row, std::string_view category, std::string_view name, TimeNs at_ns);
  /// One end of an arrow, bound to the slice that is open on the row: s begins, t goes on, f ends.
  void flow(char phase, ChromeRow row, std::uint64_t id, TimeNs at_ns);
  /// Text about a row: process_name, thread_name.
  void metadata(ChromeRow row, std::string_view what, std::string_view text);
  /// process_sort_index, thread_sort_index.
  void sort_index(ChromeRow row, std::string_view what, std::uint32_t index);

  /// The file's text with the key "args" appended: an object has to follow.
  [[nodiscard]] std::string& args() {
    out_ += ",\"args\":";
    return out_;
  }
  /// The file's text, for further members of the event.
  [[nodiscard]] std::string& text() noexcept { return out_; }
  /// Ends the event that slice() or moment() began.
  void close() {
    out_ += '}';
    file_.drain();
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  void begin(char phase, std::string_view category, std::string_view name, ChromeRow row);
  void time(TimeNs at_ns);

  OutputFile& file_;
  std::string& out_;
  TimeNs origin_ns_;
  std::uint64_t count_ = 0;
};

}  // namespace rangefinder
