// SPDX-License-Identifier: Apache-2.0
//
// Typed access to the keys of one parsed line. fields.h describes its functions.
//
//   keys.required("stream", work.stream);   missing or not a u32: throws LineError
//   keys.optional("path", work.path);       missing: the value stays unchanged
//
// Searches first right after the key read before, where our writer puts the next one. So
// our own lines are read in one pass; any other order works too.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "schema/record.h"
#include "schema/text_pool.h"

namespace rangefinder {

/// Why a line is invalid. Thrown and caught inside the reader.
struct LineError {
  std::string text;
};

class LineKeys {
 public:
  static constexpr bool kReads = true, kInOrder = false;

  /// `owner`: start of error messages, as in "kernel".
  LineKeys(std::string_view owner, simdjson::dom::object object, TextPool& pool)
      : owner_(owner), object_(object), next_(object.begin()), pool_(pool) {}

  [[nodiscard]] bool has(std::string_view key) const { return !find(key).error(); }
  template <typename... Keys>
  [[nodiscard]] bool present(bool, Keys... keys) const {
    return (has(keys) || ...);
  }

  template <typename T>
  void required(std::string_view key, T& value) const {
    read(key, must_find(key), value);
  }
  template <typename T>
  void optional(std::string_view key, T& value) const {
    if (const auto found = find(key); !found.error()) read(key, found.value_unsafe(), value);
  }
  /// An enum with the texts `names`, in order of its values.
  template <typename Enum, std::size_t N>
  void required(std::string_view key, Enum& value, const std::array<std::string_view, N>& names) const {
    value = static_cast<Enum>(position(key, names.data(), N));
  }
  /// An object of numbers, in its order.
  template <typename T>
  void required(std::string_view key, std::vector<std::pair<std::string, T>>& members) const {
    const LineKeys object = object_at(key);
    for (const auto [name, element] : object.object()) {
      object.read(name, element, members.emplace_back(std::string(name), T{}).second);
    }
  }
  /// A time, at most kMaxNs from 0, so that no difference of two overflows.
  void time(std::string_view key, TimeNs& ns) const { read_time(key, must_find(key), ns); }
  void time_or_null(std::string_view key, TimeNs& ns) const {
    if (const auto element = must_find(key); !element.is_null()) read_time(key, element, ns);
  }
  void read_time(std::string_view key, simdjson::dom::element element, TimeNs& ns) const;
  /// A signed 64-bit integer written as text.
  void big_number(std::string_view key, std::int64_t& value) const;
  /// "0x…"
  void handle(std::string_view key, std::uint64_t& value) const;
  void nonzero_handle(std::string_view key, std::uint64_t& value) const;
  /// A text as a view, valid as long as the pool.
  void text(std::string_view key, std::string_view& value) const;

  [[nodiscard]] LineKeys object_at(std::string_view key) const;
  [[nodiscard]] simdjson::dom::element must_find(std::string_view key) const;
  [[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> find(std::string_view key) const;
  [[nodiscard]] simdjson::dom::object object() const noexcept { return object_; }

  /// Throws: `key` must be `what`.
  [[noreturn]] void refuse(std::string_view key, std::string_view what) const;
  /// Throws: the owner and then the parts of `what`.
  [[noreturn]] void fail(std::initializer_list<std::string_view> what) const;

  template <std::integral T>
  void read(std::string_view key, simdjson::dom::element element, T& value) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    Wide wide = 0;
    if (element.get(wide) || wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
      refuse_integer(key, std::to_string(std::numeric_limits<T>::min()),
                     std::to_string(std::numeric_limits<T>::max()));
    }
    value = static_cast<T>(wide);
  }
  void read(std::string_view key, simdjson::dom::element element, bool& value) const;
  void read(std::string_view key, simdjson::dom::element element, double& value) const;
  void read(std::string_view key, simdjson::dom::element element, std::string& value) const;
  void read(std::string_view key, simdjson::dom::element element, std::string_view& value) const;
  void read(std::string_view key, simdjson::dom::element element, Dim3& value) const;
  void read(std::string_view key, simdjson::dom::element element, std::vector<std::string>& value) const;
  /// null becomes NaN.
  void read(std::string_view key, simdjson::dom::element element, std::vector<double>& value) const;

 private:
  [[noreturn]] void refuse_integer(std::string_view key, std::string_view min, std::string_view max) const;
  [[nodiscard]] std::size_t position(std::string_view key, const std::string_view* names,
                                     std::size_t count) const;

  std::string owner_;
  simdjson::dom::object object_;
  mutable simdjson::dom::object::iterator next_;
  TextPool& pool_;
};

// Contents that no list of keys describes. Each mirrors one in line_writer.h. All throw LineError.
void fields(const LineKeys& keys, NvtxExtras& extras);
void measurement_fields(const LineKeys& keys, ExactRecord& record);
void sample_fields(const LineKeys& keys, SamplesRecord& record);
void stack_sample_fields(const LineKeys& keys, StackSampleRecord& record);
void condition_fields(const LineKeys& keys, ConditionRecord& record);
/// Refuses traces that this program cannot read, with a message for the user.
void version_fields(const LineKeys& keys);
void capability_field(const LineKeys& keys, GpuRecord& record);
/// The caller sets `definition`: only the line's text has its original form.
void definition_field(const LineKeys& keys, PayloadSchemaRecord& record);
void loss_field(const LineKeys& keys, LossByCause& loss);
void ledger_fields(const LineKeys& keys, EndRecord& record);

}  // namespace rangefinder
