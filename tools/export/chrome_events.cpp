// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_events.h"

#include <charconv>

#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

template <typename Number>
void append_number(std::string& out, Number value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
}

}  // namespace

void append_micros(std::string& out, std::uint64_t ns) {
  char buffer[32];
  char* at = std::to_chars(buffer, buffer + sizeof buffer, ns / 1000).ptr;
  const auto rest = static_cast<unsigned>(ns % 1000);
  *at++ = '.';
  *at++ = static_cast<char>('0' + rest / 100);
  *at++ = static_cast<char>('0' + rest / 10 % 10);
  *at++ = static_cast<char>('0' + rest % 10);
  out.append(buffer, static_cast<std::size_t>(at - buffer));
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void ChromeEvents::begin(char phase, std::string_view category, std::string_view name, ChromeRow row) {
  if (count_++ != 0) out_ += ",\n";
  out_ += "{\"ph\":\"";
  out_ += phase;
  out_ += '"';
  if (!category.empty()) {
    out_ += ",\"cat\":\"";
    out_ += category;
    out_ += '"';
  }
  out_ += ",\"name\":";
  out_ += name;
  out_ += ",\"pid\":";
  append_number(out_, row.pid);
  out_ += ",\"tid\":";
  append_number(out_, row.tid);
}

void ChromeEvents::time(TimeNs at_ns) {
  out_ += ",\"ts\":";
  append_micros(out_, span_ns(origin_ns_, at_ns));
}

void ChromeEvents::slice(ChromeRow row, std::string_view category, std::string_view name, TimeNs start_ns,
                         TimeNs end_ns) {
  begin('X', category, name, row);
  time(start_ns);
  out_ += ",\"dur\":";
  append_micros(out_, span_ns(start_ns, end_ns));
}

void ChromeEvents::moment(char phase, ChromeRow row, std::string_view category, std::string_view name,
                          TimeNs at_ns) {
  begin(phase, category, name, row);
  time(at_ns);
}

void ChromeEvents::flow(char phase, ChromeRow row, std::uint64_t id, TimeNs at_ns) {
  moment(phase, row, "ac2g", "\"ac2g\"", at_ns);
  out_ += ",\"id\":";
  append_number(out_, id);
  // Without "bp" the end of a flow binds to the next slice.
  if (phase != 's') out_ += ",\"bp\":\"e\"";
  close();
}

void ChromeEvents::metadata(ChromeRow row, std::string_view what, std::string_view text) {
  begin('M', "", json_string(what), row);
  close_with([text](JsonObject& about) { about.text("name", text); });
}

void ChromeEvents::sort_index(ChromeRow row, std::string_view what, std::uint32_t index) {
  begin('M', "", json_string(what), row);
  close_with([index](JsonObject& about) { about.number("sort_index", index); });
}

}  // namespace rangefinder
