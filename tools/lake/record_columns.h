// SPDX-License-Identifier: Apache-2.0
//
// Archives of schema/fields.h whose keys are columns of a table of the lake.
//
//   RecordColumns<KernelRecord, ColumnList>   which columns a kind of line has   ─▶ CREATE TABLE
//   RecordColumns<KernelRecord, TableRows>    the values of a record             ─▶ a row
//
// Both call the same functions, so that a key of fields.h is a column of its own. Exceptions are here: ids of
// names are the names, launch configurations their parts, and what is left out has an empty function.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schema/fields.h"
#include "tools/lake/lake_texts.h"
#include "tools/lake/table_rows.h"

namespace rangefinder {

/// Collects columns, each once.
class ColumnList {
 public:
  static constexpr bool kAll = true;  ///< also those that a record omits

  template <typename T>
  void put(std::string_view column, const T&) {
    const auto known = std::find_if(columns_.begin(), columns_.end(),
                                    [column](const LakeColumn& one) { return one.name == column; });
    if (known == columns_.end()) {
      next_ = columns_.insert(columns_.begin() + (next_ - columns_.begin()), {column, lake_type<T>()}) + 1;
    } else {
      next_ = known + 1;
    }
  }
  void end_row() { next_ = columns_.begin(); }
  [[nodiscard]] const std::vector<LakeColumn>& columns() const noexcept { return columns_; }

 private:
  std::vector<LakeColumn> columns_;
  std::vector<LakeColumn>::iterator next_ = columns_.begin();
};

/// A key with the unit of its values, and without abbreviations.
template <Literal kKey>
consteval std::string_view column_of(LineKey<kKey>) {
  constexpr std::array<std::array<std::string_view, 2>, 16> kNames{{{"start", "start_ns"},
                                                                    {"end", "end_ns"},
                                                                    {"at", "at_ns"},
                                                                    {"interval", "interval_ns"},
                                                                    {"ctx", "context"},
                                                                    {"corr", "correlation"},
                                                                    {"src", "source"},
                                                                    {"dst", "destination"},
                                                                    {"src_gpu", "source_gpu"},
                                                                    {"dst_gpu", "destination_gpu"},
                                                                    {"range", "range_id"},
                                                                    {"id", "range_id"},
                                                                    {"node", "graph_node"},
                                                                    {"count", "copies"},
                                                                    {"kind", "kind"},
                                                                    {"set", "metric_set"}}};
  for (const auto& [key, name] : kNames) {
    if (kKey.view() == key) return name;
  }
  return LineKey<kKey>::kText;
}

/// Whether 0 is a value. Of ids it means that there is none.
template <Literal kKey>
consteval bool is_amount(LineKey<kKey>) {
  constexpr std::array<std::string_view, 4> kAmounts{"bytes", "result", "value", "count"};
  return std::find(kAmounts.begin(), kAmounts.end(), kKey.view()) != kAmounts.end();
}

/// The value of a payload, whatever its type.
[[nodiscard]] inline double payload_number(const NvtxExtras& extras) {
  const auto low = static_cast<std::uint32_t>(extras.payload);
  switch (extras.payload_type) {
    case PayloadType::i64:
      return static_cast<double>(std::bit_cast<std::int64_t>(extras.payload));
    case PayloadType::f64:
      return std::bit_cast<double>(extras.payload);
    case PayloadType::u32:
      return low;
    case PayloadType::i32:
      return std::bit_cast<std::int32_t>(low);
    case PayloadType::f32:
      return std::bit_cast<float>(low);
    default:
      return static_cast<double>(extras.payload);
  }
}

template <typename Record, typename Out>
class RecordColumns {
 public:
  static constexpr bool kReads = false, kInOrder = true;

  RecordColumns(Out& out, const LakeTexts& texts) : out_(out), texts_(texts) {}

  template <Literal kKey, typename T>
  requires std::integral<T>
  void required(LineKey<kKey>, T value) { out_.put(column_of(LineKey<kKey>()), value); }
  template <Literal kKey, typename T>
  requires std::integral<T>
  void optional(LineKey<kKey>, T value) {
    if (value != 0 || std::same_as<T, bool> || is_amount(LineKey<kKey>()) || Out::kAll)
      required(LineKey<kKey>(), value);
  }
  template <Literal kKey, typename Enum, std::size_t N>
  void required(LineKey<kKey>, Enum value, const std::array<std::string_view, N>& names) {
    out_.put(column_of(LineKey<kKey>()), name_in(names, value));
  }
  template <Literal kKey>
  void time(LineKey<kKey>, TimeNs ns) {
    required(LineKey<kKey>(), ns);
  }
  template <Literal kKey>
  void time_or_null(LineKey<kKey>, TimeNs ns) {
    if (ns != kNoTime || Out::kAll) required(LineKey<kKey>(), ns);
  }
  template <Literal kKey>
  void text(LineKey<kKey>, std::string_view value) {
    out_.put(column_of(LineKey<kKey>()), texts_.valid(value));
  }
  template <Literal kKey>
  void nonzero_handle(LineKey<kKey>, std::uint64_t value) {
    optional(LineKey<kKey>(), value);
  }
  /// Lines omit these two where they are 1 and true.
  template <typename... Keys>
  static constexpr bool present(bool written, Keys...) noexcept {
    constexpr bool kUsual =
        ((std::is_same_v<Keys, LineKey<"count">> || std::is_same_v<Keys, LineKey<"exclusive">>) || ...);
    return written || kUsual || Out::kAll;
  }

  // Ids of names.
  void required(LineKey<"path">, std::uint32_t path) { put_text("module", path, texts_.module(path)); }
  void optional(LineKey<"path">, std::uint32_t path) { put_text("module", path, texts_.module(path)); }
  void optional(LineKey<"bytes_path">, std::uint32_t path) {
    put_text("bytes_module", path, texts_.module(path));
  }
  void required(LineKey<"name">, std::uint32_t name) { put_kernel(name); }
  void optional(LineKey<"name">, std::uint32_t name) {
    if constexpr (std::is_same_v<Record, RangeRecord>) {
      out_.put("is_start_end", name != 0 && !texts_.is_unnamed(name));
    } else {
      put_kernel(name);
    }
  }
  void optional(LineKey<"domain">, std::uint32_t domain) {
    put_text("domain", domain, texts_.domain(domain));
  }
  void required(LineKey<"config">, std::uint32_t id) {
    const LaunchConfigRecord* const config = texts_.config(id);
    if (config == nullptr && !Out::kAll) return;
    const LaunchConfigRecord& c = config == nullptr ? kNoConfig : *config;
    put_extent({"grid_x", "grid_y", "grid_z"}, c.grid);
    put_extent({"block_x", "block_y", "block_z"}, c.block);
    out_.put("registers_per_thread", c.registers);
    out_.put("static_shared_bytes", c.static_shared_bytes);
    out_.put("dynamic_shared_bytes", c.dynamic_shared_bytes);
  }
  void optional(LineKey<"grid">, const Dim3& grid) { put_extent({"grid_x", "grid_y", "grid_z"}, grid); }
  void optional(LineKey<"block">, const Dim3& block) { put_extent({"block_x", "block_y", "block_z"}, block); }

  Out& out() noexcept { return out_; }
  [[nodiscard]] const LakeTexts& texts() const noexcept { return texts_; }

 private:
  static constexpr LaunchConfigRecord kNoConfig{};

  /// 0, 0, 0: there is none.
  void put_extent(const std::array<std::string_view, 3>& columns, const Dim3& extent) {
    if (extent == Dim3{} && !Out::kAll) return;
    out_.put(columns[0], extent.x);
    out_.put(columns[1], extent.y);
    out_.put(columns[2], extent.z);
  }
  void put_text(std::string_view column, std::uint32_t id, std::string_view text) {
    if (id != 0 || Out::kAll) out_.put(column, text);
  }
  void put_kernel(std::uint32_t name) {
    put_text("kernel", name, texts_.kernel(name));
    put_text("library", name, texts_.from_library(name));
  }

  Out& out_;
  const LakeTexts& texts_;
};

// Contents that no list of keys describes.

template <typename Record, typename Out>
void fields(RecordColumns<Record, Out>& a, const NvtxExtras& extras) {
  Out& out = a.out();
  if (extras.category != 0 || Out::kAll) out.put("category", extras.category);
  if (extras.color != 0 || Out::kAll) out.put("color", extras.color);
  if (extras.payload_type != PayloadType::none || Out::kAll) {
    out.put("payload", payload_number(extras));
    out.put("payload_type", to_text(extras.payload_type));
  }
  // Left out: payloads with a schema of the program's own.
}

template <typename Out>
void measurement_fields(RecordColumns<ExactRecord, Out>& a, const ExactRecord& r) {
  Out& out = a.out();
  const bool own = !shares_counter_range(r), measured = own && r.measured;
  if (Out::kAll || (measured && has_gpu_time(r))) out.put("gpu_ns", r.gpu_ns);
  if (Out::kAll || (measured && r.has_bytes)) {
    out.put("dram_read_bytes", r.dram_read_bytes);
    out.put("dram_write_bytes", r.dram_write_bytes);
    out.put("l2_bytes", r.l2_bytes);
  }
  if (Out::kAll || (measured && r.metric_set != 0)) {
    out.put("metric_set", a.texts().metric_set(r.metric_set));
    out.put("metrics", a.texts().metrics(r));
  }
  if (Out::kAll || (own && !r.measured)) out.put("unmeasured", a.texts().valid(r.reason));
}

template <typename Out>
void condition_fields(RecordColumns<ConditionRecord, Out>& a, const ConditionRecord& r) {
  if (r.subject == ConditionOf::gpu || Out::kAll) a.out().put("gpu", r.id);
  if (r.subject == ConditionOf::thread || Out::kAll) a.out().put("thread", r.id);
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (r.values[i] || Out::kAll) a.out().put(kConditions[i].key, r.values[i].value_or(0));
  }
}

}  // namespace rangefinder
