// SPDX-License-Identifier: Apache-2.0
#include "schema/read_plain.h"

#include <concepts>
#include <cstring>
#include <limits>

namespace rangefinder {
namespace {

/// Scans a line from left to right. Text that does not match leaves the position unchanged and returns false.
class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : at_(text.data()), end_(text.data() + text.size()) {}

  template <std::size_t N>
  [[nodiscard]] bool take(const char (&literal)[N]) noexcept {
    constexpr std::size_t kLength = N - 1;
    if (static_cast<std::size_t>(end_ - at_) < kLength || std::memcmp(at_, literal, kLength) != 0)
      return false;
    at_ += kLength;
    return true;
  }

  /// A JSON integer: digits without a leading zero, one '-' if T is signed. At most 18 digits, so that
  /// nothing overflows.
  template <std::integral T>
  [[nodiscard]] bool take_integer(T& value) noexcept {
    const char* at = at_;
    bool negative = false;
    if constexpr (std::is_signed_v<T>) {
      negative = at != end_ && *at == '-';
      at += negative ? 1 : 0;
    }
    const char* const first = at;
    std::uint64_t magnitude = 0;
    for (; at != end_ && is_digit(*at); ++at) {
      if (at - first == kMaxDigits) return false;
      magnitude = magnitude * 10 + static_cast<unsigned char>(*at - '0');
    }
    if (at == first || (*first == '0' && (at - first > 1 || negative))) return false;
    if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    value = static_cast<T>(magnitude);
    if (negative) value = static_cast<T>(-value);
    at_ = at;
    return true;
  }

  /// `key` is as in ",\"start\":".
  template <std::size_t N, std::integral T>
  [[nodiscard]] bool need(const char (&key)[N], T& value) noexcept {
    return take(key) && take_integer(value);
  }
  /// The same; without the key `value` stays unchanged.
  template <std::size_t N, std::integral T>
  [[nodiscard]] bool maybe(const char (&key)[N], T& value) noexcept {
    return !take(key) || take_integer(value);
  }

  /// A text in quotes: ASCII without escapes.
  [[nodiscard]] bool take_text(std::string_view& text) noexcept {
    if (at_ == end_ || *at_ != '"') return false;
    const char* at = at_ + 1;
    while (at != end_ && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\') ++at;
    if (at == end_ || *at != '"') return false;
    text = std::string_view(at_ + 1, static_cast<std::size_t>(at - at_ - 1));
    at_ = at + 1;
    return true;
  }

  /// End of the object and of the line.
  [[nodiscard]] bool ends() noexcept {
    return take("}") && (at_ == end_ || (*at_ == '\n' && at_ + 1 == end_));
  }

 private:
  static constexpr std::ptrdiff_t kMaxDigits = 18;
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  const char* at_;
  const char* end_;
};

bool read_kernel(Cursor& at, KernelRecord& record) {
  GpuWork& work = record.work;
  if (!at.need(",\"start\":", work.start_ns) || !at.need(",\"end\":", work.end_ns)) return false;
  if (!at.need(",\"gpu\":", work.gpu) || !at.need(",\"ctx\":", work.context)) return false;
  if (!at.need(",\"stream\":", work.stream) || !at.need(",\"corr\":", work.correlation)) return false;
  if (!at.maybe(",\"path\":", work.path) || !at.maybe(",\"range\":", work.range)) return false;
  if (!at.maybe(",\"graph\":", work.graph)) return false;
  if (at.take(",\"node\":")) {
    std::uint64_t number = 0;
    if (!at.take_integer(number)) return false;
    work.graph_node = node_id(work.graph, number);
  }
  work.captured = at.take(",\"captured\":true");
  return at.need(",\"name\":", record.name) && at.need(",\"config\":", record.config) && at.ends();
}

bool read_host(Cursor& at, HostWork& host) {
  return at.need(",\"start\":", host.start_ns) && at.need(",\"end\":", host.end_ns) &&
         at.need(",\"thread\":", host.thread) && at.maybe(",\"path\":", host.path) &&
         at.maybe(",\"range\":", host.range);
}

bool read_launch(Cursor& at, LaunchRecord& record, TextPool& pool) {
  std::string_view api;
  if (!read_host(at, record.host) || !at.take(",\"api\":") || !at.take_text(api)) return false;
  if (!at.need(",\"corr\":", record.correlation) || !at.maybe(",\"ctx\":", record.context)) return false;
  if (!at.maybe(",\"result\":", record.result) || !at.ends()) return false;
  record.api = pool.keep(api);
  return true;
}

/// A closed push/pop range without extras.
bool read_range(Cursor& at, RangeRecord& record) {
  return at.need(",\"start\":", record.start_ns) && at.need(",\"end\":", record.end_ns) &&
         at.need(",\"id\":", record.id) && at.need(",\"thread\":", record.thread) &&
         at.maybe(",\"domain\":", record.domain) && at.need(",\"path\":", record.path) && at.ends();
}

}  // namespace

bool read_plain(std::string_view text, TextPool& pool, Line& line) {
  Cursor at(text);
  if (!at.take("{\"t\":\"")) return false;
  if (at.take("kernel\"")) return read_kernel(at, line.emplace<KernelRecord>());
  if (at.take("launch\"")) return read_launch(at, line.emplace<LaunchRecord>(), pool);
  if (at.take("range\"")) return read_range(at, line.emplace<RangeRecord>());
  return false;
}

}  // namespace rangefinder
