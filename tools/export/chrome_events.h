// SPDX-License-Identifier: Apache-2.0
//
// Writes events of the Chrome Trace Event format, which Perfetto, chrome://tracing and PyTorch's tools read.
//
//   events.slice(row, "kernel", name, start, end);    {"ph":"X","cat":"kernel","name":"gemm",
//   JsonObject args(events.args());                    "pid":0,"tid":7,"ts":12.345,"dur":1.000,
//   args.number("correlation", 17); args.close();      "args":{"correlation":17}
//   events.close();                                   }
//
// Times are microseconds with three decimals, relative to `origin_ns` and never negative. Readers store them
// as doubles, in which absolute times would lose their nanoseconds. Ids are numbers, because Perfetto reads
// strings as hexadecimal. Process and thread ids are above 0 and below 2^32.
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

/// Nanoseconds as microseconds: 12345 is "12.345".
void append_micros(std::string& out, std::uint64_t ns);

/// `text` as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// Not thread-safe. `name` is always a JSON string made by json_string().
class ChromeEvents {
 public:
  /// `origin_ns`: the time, relative to the base of the trace, that becomes 0.
  ChromeEvents(OutputFile& file, TimeNs origin_ns) : file_(file), out_(file.text()), origin_ns_(origin_ns) {}

  /// Sets the origin for the next trace in the same file.
  void set_origin(TimeNs origin_ns) noexcept { origin_ns_ = origin_ns; }

  /// Begins a complete event (ph X). If it ends before it starts, its duration is 0.
  void slice(ChromeRow row, std::string_view category, std::string_view name, TimeNs start_ns, TimeNs end_ns);
  /// A complete event with the arguments that `add(JsonObject&)` adds.
  template <typename Add>
  void slice(ChromeRow row, std::string_view category, std::string_view name, TimeNs start_ns, TimeNs end_ns,
             Add&& add) {
    slice(row, category, name, start_ns, end_ns);
    close_with(add);
  }
  /// Begins an event at one time. `phase`: i, C, b, e, B or E.
  void moment(char phase, ChromeRow row, std::string_view category, std::string_view name, TimeNs at_ns);
  /// Writes a flow event, bound to the slice open on the row: s starts, t continues, f ends the flow.
  void flow(char phase, ChromeRow row, std::uint64_t id, TimeNs at_ns);
  /// Writes a name of a row. `what`: process_name or thread_name.
  void metadata(ChromeRow row, std::string_view what, std::string_view text);
  /// Writes a sort index. `what`: process_sort_index or thread_sort_index.
  void sort_index(ChromeRow row, std::string_view what, std::uint32_t index);

  /// Appends the key "args" and returns the file's text; the caller must append an object.
  [[nodiscard]] std::string& args() {
    out_ += ",\"args\":";
    return out_;
  }
  /// The file's text, for further members of the event.
  [[nodiscard]] std::string& text() noexcept { return out_; }
  /// Ends the event with the arguments that `add(JsonObject&)` adds.
  template <typename Add>
  void close_with(Add&& add) {
    JsonObject object(args());
    add(object);
    object.close();
    close();
  }
  /// Ends the event of slice() or moment().
  void close() {
    out_ += '}';
    file_.drain();
  }

 private:
  void begin(char phase, std::string_view category, std::string_view name, ChromeRow row);
  void time(TimeNs at_ns);

  OutputFile& file_;
  std::string& out_;
  TimeNs origin_ns_;
  std::uint64_t count_ = 0;
};

}  // namespace rangefinder
