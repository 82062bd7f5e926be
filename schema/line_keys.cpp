// SPDX-License-Identifier: Apache-2.0
#include "schema/line_keys.h"

#include <charconv>
#include <utility>

namespace rangefinder {
namespace {

// All of `text` as a number in `base`.
template <typename T>
bool parse_whole(std::string_view text, T& value, int base = 10) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

void LineKeys::fail(std::initializer_list<std::string_view> what) const {
  std::string text = owner_;
  text += ": ";
  for (const std::string_view part : what) text += part;
  throw LineError{std::move(text)};
}

void LineKeys::refuse(std::string_view key, std::string_view what) const {
  fail({"key \"", key, "\" must be ", what});
}

void LineKeys::refuse_integer(std::string_view key, std::string_view min, std::string_view max) const {
  fail({"key \"", key, "\" must be an integer from ", min, " to ", max});
}

simdjson::simdjson_result<simdjson::dom::element> LineKeys::find(std::string_view key) const {
  if (next_ != object_.end() && next_.key_equals(key)) {
    simdjson::dom::element element = next_.value();
    ++next_;
    return element;
  }
  for (auto it = object_.begin(); it != object_.end(); ++it) {
    if (!it.key_equals(key)) continue;
    simdjson::dom::element element = it.value();
    next_ = ++it;
    return element;
  }
  return simdjson::NO_SUCH_FIELD;
}

simdjson::dom::element LineKeys::must_find(std::string_view key) const {
  const auto found = find(key);
  if (found.error()) fail({"key \"", key, "\" is missing"});
  return found.value_unsafe();
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, bool& value) const {
  if (element.get(value)) refuse(key, "true or false");
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, double& value) const {
  if (element.get(value)) refuse(key, "a number");
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, std::string_view& value) const {
  if (element.get(value)) refuse(key, "a string");
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, std::string& value) const {
  std::string_view text;
  read(key, element, text);
  value = text;
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, Dim3& value) const {
  constexpr std::string_view kWhat = "an array of three integers from 0 to 4294967295";
  simdjson::dom::array array;
  if (element.get(array) || array.size() != 3) refuse(key, kWhat);
  std::uint32_t* const members[] = {&value.x, &value.y, &value.z};
  auto member = std::begin(members);
  for (const simdjson::dom::element item : array) {
    std::uint64_t wide = 0;
    if (item.get(wide) || wide > std::numeric_limits<std::uint32_t>::max()) refuse(key, kWhat);
    **member++ = static_cast<std::uint32_t>(wide);
  }
}

void LineKeys::read(std::string_view key, simdjson::dom::element element,
                    std::vector<std::string>& value) const {
  constexpr std::string_view kWhat = "an array of strings";
  simdjson::dom::array array;
  if (element.get(array)) refuse(key, kWhat);
  value.clear();
  for (const simdjson::dom::element item : array) {
    std::string_view text;
    if (item.get(text)) refuse(key, kWhat);
    value.emplace_back(text);
  }
}

void LineKeys::read(std::string_view key, simdjson::dom::element element, std::vector<double>& value) const {
  constexpr std::string_view kWhat = "an array of numbers and nulls";
  simdjson::dom::array array;
  if (element.get(array)) refuse(key, kWhat);
  value.clear();
  for (const simdjson::dom::element item : array) {
    double number = std::numeric_limits<double>::quiet_NaN();
    if (!item.is_null() && item.get(number)) refuse(key, kWhat);
    value.push_back(number);
  }
}

void LineKeys::read_time(std::string_view key, simdjson::dom::element element, TimeNs& ns) const {
  if (element.get(ns) || ns > kMaxNs || ns < -kMaxNs) {
    refuse_integer(key, std::to_string(-kMaxNs), std::to_string(kMaxNs));
  }
}

std::size_t LineKeys::position(std::string_view key, const std::string_view* names, std::size_t count) const {
  std::string_view text;
  required(key, text);
  for (std::size_t i = 0; i < count; ++i) {
    if (!text.empty() && names[i] == text) return i;
  }
  fail({"key \"", key, "\" has the unknown value \"", text, "\""});
}

void LineKeys::big_number(std::string_view key, std::int64_t& value) const {
  std::string_view text;
  if (must_find(key).get(text) || !parse_whole(text, value)) refuse(key, "an integer written as a string");
}

void LineKeys::handle(std::string_view key, std::uint64_t& value) const {
  std::string_view text;
  if (must_find(key).get(text) || !text.starts_with("0x") || !parse_whole(text.substr(2), value, 16)) {
    refuse(key, "a string like \"0x7f00\"");
  }
}

void LineKeys::nonzero_handle(std::string_view key, std::uint64_t& value) const {
  if (!find(key).error()) handle(key, value);
}

void LineKeys::text(std::string_view key, std::string_view& value) const {
  std::string_view text;
  required(key, text);
  value = pool_.keep(text);
}

LineKeys LineKeys::object_at(std::string_view key) const {
  simdjson::dom::object object;
  if (must_find(key).get(object)) refuse(key, "an object");
  std::string owner = owner_;
  owner += '.';
  owner += key;
  return {owner, object, pool_};
}

}  // namespace rangefinder
