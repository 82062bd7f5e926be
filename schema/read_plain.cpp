// SPDX-License-Identifier: Apache-2.0
#include "schema/read_plain.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "schema/scan_line.h"

namespace rangefinder {
namespace {

/// Lines of samples are longer.
constexpr std::size_t kUsualBytes = 1024;

/// Has the record read in its place: a copy would wait for the record's fields to be stored.
struct LineSink {
  Line& line;

  template <typename Record>
  Record& place() const {
    return line.emplace<Record>();
  }
  template <typename Record>
  void operator()(Record&&) const noexcept {}
};

/// `copy`: the text, '\n', kScanPadding bytes.
bool scan(const char* copy, std::size_t size, TextPool& pool, Line& line) {
  const char* const next = scan_line(copy, pool, LineSink{line});
  return next == copy + size + 1;
}

}  // namespace

bool read_plain(std::string_view text, TextPool& pool, Line& line) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() <= kUsualBytes) {
    char copy[kUsualBytes + 1 + kScanPadding];
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\n';
    std::memset(copy + text.size() + 1, 0, kScanPadding);  // for tools that report reads of other bytes
    return scan(copy, text.size(), pool, line);
  }
  std::string copy;
  copy.reserve(text.size() + 1 + kScanPadding);
  copy.append(text).append(1, '\n').append(kScanPadding, '\0');
  return scan(copy.data(), text.size(), pool, line);
}

}  // namespace rangefinder
