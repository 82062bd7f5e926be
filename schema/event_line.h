// SPDX-License-Identifier: Apache-2.0
//
// Common form of event lines: {"t":…, …}, a newline, and the keys of host work. Included
// only by the files that write such lines.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/json_text.h"
#include "schema/record.h"

namespace rangefinder {

/// A JSON object with its kind, ended by a newline.
class EventLine : public JsonObject {
 public:
  EventLine(std::string& out, std::string_view kind) : JsonObject(out), out_(out) { text("t", kind); }

  void end() {
    close();
    out_ += '\n';
  }
  void times(TimeNs start_ns, TimeNs end_ns) {
    number("start", start_ns);
    number("end", end_ns);
  }
  void host_work(const HostWork& host) {
    times(host.start_ns, host.end_ns);
    number("thread", host.thread);
    nonzero("path", host.path);
    nonzero("range", host.range);
  }
  void launch(const LaunchRecord& launch) {
    host_work(launch.host);
    text("api", launch.api);
    number("corr", launch.correlation);
    nonzero("ctx", launch.context);
    nonzero("result", launch.result);
  }
  void dim3(JsonKey key, const Dim3& value) {
    if (value == Dim3{}) return;
    std::string& to = open(key);
    char buffer[40] = {'['};
    char* p = buffer + 1;
    for (const std::uint32_t v : {value.x, value.y, value.z}) {
      p = std::to_chars(p, buffer + sizeof buffer, v).ptr;
      *p++ = ',';
    }
    p[-1] = ']';
    to.append(buffer, static_cast<std::size_t>(p - buffer));
  }

 private:
  std::string& out_;
};

}  // namespace rangefinder
