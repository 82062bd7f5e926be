// SPDX-License-Identifier: Apache-2.0
#include "profiler/options/capture_request.h"

#include <algorithm>
#include <charconv>

namespace rangefinder {
namespace {

bool read_count(std::string_view text, std::uint64_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Removes `prefix` from the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The value of after: or for:, a number of ranges or a duration. `seen`: which of these the other one was.
bool read_limit(std::string_view text, std::uint64_t& count, std::int64_t& ns, CaptureBy& seen) {
  if (read_count(text, count)) {
    if (seen == CaptureBy::time) return false;
    seen = CaptureBy::ranges;
    return true;
  }
  if (seen == CaptureBy::ranges || !read_duration(text, ns)) return false;
  seen = CaptureBy::time;
  return true;
}

bool read_limits(std::string_view text, CaptureRequest& request, CaptureBy& seen) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    std::string_view value = part;
    if (take(value, "after:")) {
      if (!read_limit(value, request.after_count, request.after_ns, seen)) return false;
    } else if (take(value, "for:")) {
      if (!read_limit(value, request.for_count, request.for_ns, seen)) return false;
    } else {
      return false;
    }
  }
  return request.for_count != 0;
}

bool read_ranges(std::string_view text, CaptureRequest& request) {
  // A pattern may contain commas: only a comma before a limit ends it.
  const std::size_t limits = std::min(text.find(",after:"), text.find(",for:"));
  std::string_view range = text.substr(0, limits);
  if (const std::size_t at = range.rfind('@'); at != std::string_view::npos) {
    request.domain = range.substr(at + 1);
    range = range.substr(0, at);
    if (request.domain.empty()) return false;
  }
  request.glob = range;
  request.by = CaptureBy::ranges;
  CaptureBy seen = CaptureBy::ranges;
  return !request.glob.empty() &&
         (limits == std::string_view::npos || read_limits(text.substr(limits + 1), request, seen));
}

bool read_end(std::string_view end, CaptureRequest& request) {
  request.windows = request.by == CaptureBy::profiler_calls ? CaptureRequest::kUnlimited : 1;
  if (end.empty()) return true;
  if (end == "stop") {
    request.windows = 1;
    return true;
  }
  if (end == "repeat") {
    request.windows = CaptureRequest::kUnlimited;
    return true;
  }
  return take(end, "repeat:") && read_count(end, request.windows) && request.windows != 0;
}

}  // namespace

bool read_duration(std::string_view text, std::int64_t& ns) {
  double factor = 0;
  if (text.ends_with("ms")) {
    factor = 1e6;
    text.remove_suffix(2);
  } else if (text.ends_with("s")) {
    factor = 1e9;
    text.remove_suffix(1);
  } else {
    return false;
  }
  constexpr double kMaxDurationNs = 30.0 * 24 * 3600 * 1e9;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (!(number >= 0) || number * factor > kMaxDurationNs) return false;
  ns = static_cast<std::int64_t>(number * factor);
  return true;
}

bool read_capture(std::string_view text, std::string_view end, CaptureRequest& request) {
  CaptureRequest read;
  std::string_view rest = text;
  if (text == "cudaProfilerApi") {
    read.by = CaptureBy::profiler_calls;
  } else if (take(rest, "nvtx:")) {
    if (!read_ranges(rest, read)) return false;
  } else if (!text.empty()) {
    CaptureBy seen = CaptureBy::nothing;
    if (!read_limits(text, read, seen)) return false;
    read.by = seen;
  }
  if (text.empty() ? !end.empty() : !read_end(end, read)) return false;
  request = std::move(read);
  return true;
}

}  // namespace rangefinder
