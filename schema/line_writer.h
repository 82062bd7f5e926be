// SPDX-License-Identifier: Apache-2.0
//
// Appends one line, {"t":…, …} and a newline, key by key. Kernels and launches: hot_line.h.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/json_text.h"
#include "schema/key_names.h"
#include "schema/record.h"

namespace rangefinder {

template <std::integral T>
void append_json_number(std::string& out, T value) {
  char buffer[24];
  out.append(buffer,
             static_cast<std::size_t>(std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer));
}

/// Its functions are described in fields.h and, those with the names of JSON types, in json_text.h.
class LineWriter : public JsonObject {
 public:
  static constexpr bool kReads = false, kInOrder = true;

  LineWriter(std::string& out, std::string_view kind) : JsonObject(out), out_(out) { text("t", kind); }
  void end() {
    close();
    out_ += '\n';
  }

  template <std::integral T>
  void required(JsonKey key, T value) {
    number(key, value);
  }
  void required(JsonKey key, bool value) { open(key) += value ? "true" : "false"; }
  void required(JsonKey key, std::string_view value) { text(key, value); }
  void required(JsonKey key, const std::vector<std::string>& values) { texts(key, values); }
  void required(JsonKey key, const Dim3& value) { numbers(key, {value.x, value.y, value.z}); }
  void required(JsonKey key, const std::vector<std::pair<std::string, std::uint64_t>>& members) {
    object(key, members, append_json_number<std::uint64_t>);
  }
  void required(JsonKey key, const std::vector<std::pair<std::string, double>>& members) {
    object(key, members, [](std::string& out, double value) { append_json_real(out, value); });
  }
  /// An enumerator, as its name.
  template <typename Enum, std::size_t N>
  void required(JsonKey key, Enum value, const std::array<std::string_view, N>& names) {
    text(key, name_in(names, value));
  }

  template <std::integral T>
  void optional(JsonKey key, T value) {
    nonzero(key, value);
  }
  void optional(JsonKey key, bool value) { flag(key, value); }
  void optional(JsonKey key, std::string_view value) { nonempty(key, value); }
  void optional(JsonKey key, const Dim3& value) {
    if (value != Dim3{}) required(key, value);
  }

  void time(JsonKey key, TimeNs ns) { number(key, ns); }
  void time_or_null(JsonKey key, TimeNs ns) { ns == kNoTime ? null(key) : number(key, ns); }
  void big_number(JsonKey key, std::int64_t value) {
    std::string& to = open(key);
    to += '"';
    append_json_number(to, value);
    to += '"';
  }
  template <typename... Keys>
  static bool present(bool written, Keys...) noexcept {
    return written;
  }

  void numbers(JsonKey key, std::initializer_list<std::uint32_t> values) {
    std::string& to = open(key);
    char separator = '[';
    for (const std::uint32_t value : values) {
      to += separator;
      append_json_number(to, value);
      separator = ',';
    }
    to += ']';
  }

 private:
  template <typename Members, typename Append>
  void object(JsonKey key, const Members& members, Append append) {
    JsonObject object(open(key));
    for (const auto& [name, value] : members) append(object.open_named(name), value);
    object.close();
  }

  std::string& out_;
};

// Contents that no list of keys describes. Each mirrors one in line_keys.h.
void fields(LineWriter& line, const NvtxExtras& extras);
void measurement_fields(LineWriter& line, const ExactRecord& record);
void sample_fields(LineWriter& line, const SamplesRecord& record);
void stack_sample_fields(LineWriter& line, const StackSampleRecord& record);
void condition_fields(LineWriter& line, const ConditionRecord& record);
void version_fields(LineWriter& line);
void capability_field(LineWriter& line, const GpuRecord& record);
void definition_field(LineWriter& line, const PayloadSchemaRecord& record);
void loss_field(LineWriter& line, const LossByCause& loss);
void ledger_fields(LineWriter& line, const EndRecord& record);

}  // namespace rangefinder
