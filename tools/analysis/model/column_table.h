// SPDX-License-Identifier: Apache-2.0
//
// Rows of one kind, stored by column (rows.h).
//
//   add(row) … ─▶ packed(): a compact copy ─▶ RowReader: next(), next(), …
//
// Columns that are not loaded take no memory. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/packed_column.h"
#include "tools/analysis/model/row_names.h"
#include "tools/analysis/model/rows.h"
#include "tools/analysis/model/shown_paths.h"

namespace rangefinder {

/// The groups of a row's columns, in order.
struct ColumnGroups {
  std::array<Columns, 40> of{};
  std::size_t count = 0;

  template <typename T>
  constexpr void value(Columns group, T&) {
    of[count++] = group;
  }
  constexpr void span(Columns group, TimeNs&, TimeNs&) {
    of[count++] = group;
    of[count++] = group;
  }
  constexpr void path(Columns group, std::uint32_t&) { of[count++] = group; }
  constexpr void own_path(Columns group, std::uint32_t&, std::uint32_t&) { of[count++] = group; }
  constexpr void text(Columns group, std::string_view&) { of[count++] = group; }
};
template <typename Row>
constexpr ColumnGroups column_groups() {
  ColumnGroups out;
  Row row{};
  columns_of(out, row);
  return out;
}

template <typename Row>
class ColumnTable {
  static constexpr ColumnGroups kGroups = column_groups<Row>();
  static constexpr std::size_t kColumns = kGroups.count;

 public:
  /// The columns that add() stores. Call it before the first row.
  void load(Columns columns) { loaded_ = columns; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Keeps the memory.
  void clear() noexcept { size_ = 0; }

  /// `number_of(text)`: the number of a text.
  template <typename NumberOf>
  void add(const Row& row, NumberOf&& number_of) {
    if (size_ == room_) grow();
    Writer<NumberOf> writer{*this, number_of};
    columns_of(writer, const_cast<Row&>(row));  // a writer only reads
    ++size_;
  }

  /// A packed copy of these columns; `memory` as for PackedColumn.
  [[nodiscard]] ColumnTable packed(Columns columns, ColumnMemory& memory) const {
    ColumnTable out;
    out.loaded_ = loaded_ & columns;
    out.size_ = out.room_ = size_;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (out.loaded_.has(kGroups.of[i])) out.columns_[i] = columns_[i].packed(size_, memory);
    }
    return out;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    std::size_t sum = sizeof *this;
    for (const PackedColumn& column : columns_) sum += column.packed_bytes(size_);
    return sum;
  }

  /// The rows, one after the other. Members of columns that are not wanted keep their defaults. The table
  /// must outlive it.
  class RowReader {
   public:
    RowReader(const ColumnTable& table, Columns wanted, RowNames& names)
        : table_(table), names_(names), texts_(names.texts()), rows_(std::min(table.size_, kBatch)) {
      for (std::size_t i = 0; i < kColumns; ++i) {
        wanted_[i] = wanted.has(kGroups.of[i]);
        assert(!wanted_[i] || table.size_ == 0 || table.loaded_.has(kGroups.of[i]));
      }
    }
    /// Valid until the next call. Call it at most as often as the table has rows.
    [[nodiscard]] Row& next() {
      if (at_ == filled_) fill();
      return rows_[at_++];
    }

   private:
    /// Rows that are read together, column by column.
    static constexpr std::size_t kBatch = 64;

    void fill() {
      first_ += filled_;
      filled_ = std::min(table_.size_ - first_, rows_.size());
      at_ = 0;
      Filler filler(*this);
      columns_of(filler, rows_.front());
    }

    /// Sets a member of all rows of the batch.
    struct Filler {
      explicit Filler(RowReader& rows) : of(rows) {}

      RowReader& of;
      std::size_t column = 0;
      std::array<std::uint64_t, kBatch> scratch;

      /// nullptr: not wanted.
      const std::uint64_t* next_values() {
        const std::size_t i = column++;
        if (!of.wanted_[i]) return nullptr;
        return of.table_.columns_[i].values(of.first_, of.filled_, scratch.data());
      }
      /// `set(i)`: the value of the member in row i of the batch.
      template <typename T, typename Value>
      void set(T& member, Value&& value) {
        char* at = reinterpret_cast<char*>(&member);  // of the first row; the others are sizeof(Row) apart
        for (std::size_t i = 0; i < of.filled_; ++i, at += sizeof(Row)) *reinterpret_cast<T*>(at) = value(i);
      }
      template <typename T>
      void value(Columns, T& member) {
        if (const std::uint64_t* const values = next_values())
          set(member, [values](std::size_t i) { return static_cast<T>(values[i]); });
      }
      void span(Columns group, TimeNs& start, TimeNs& end) {
        value(group, start);
        const std::uint64_t* const lengths = next_values();
        if (lengths == nullptr) return;
        const char* from = reinterpret_cast<const char*>(&start);
        set(end, [lengths, &from](std::size_t i) {
          const auto at = static_cast<std::uint64_t>(*reinterpret_cast<const TimeNs*>(from));
          from += sizeof(Row);
          return static_cast<TimeNs>(at + lengths[i]);
        });
      }
      void path(Columns, std::uint32_t& id) {
        const std::uint64_t* const values = next_values();
        if (values == nullptr) return;
        set(id, [this, values](std::size_t i) {
          const auto recorded = static_cast<std::uint32_t>(values[i]);
          return of.names_.paths().id_of(recorded);
        });
      }
      void own_path(Columns, std::uint32_t& id, std::uint32_t& name) {
        const std::uint64_t* const values = next_values();
        if (values == nullptr) return;
        char* own_name = reinterpret_cast<char*>(&name);
        set(id, [&](std::size_t i) {
          const auto recorded = static_cast<std::uint32_t>(values[i]);
          auto& name_of_row = *reinterpret_cast<std::uint32_t*>(own_name);
          own_name += sizeof(Row);
          if (name_of_row == 0 && of.names_.paths().is_omitted(recorded)) name_of_row = ShownPaths::kUnnamed;
          return of.names_.paths().id_of(recorded);
        });
      }
      void text(Columns, std::string_view& text) {
        if (const std::uint64_t* const values = next_values())
          set(text, [this, values](std::size_t i) { return of.texts_[values[i]]; });
      }
    };

    const ColumnTable& table_;
    RowNames& names_;
    std::vector<std::string_view> texts_;
    std::array<bool, kColumns> wanted_{};
    std::vector<Row> rows_;
    std::size_t first_ = 0, filled_ = 0,
                at_ = 0;  // of the batch: its first row, its rows, those that were read
  };

 private:
  template <typename NumberOf>
  struct Writer {
    ColumnTable& table;
    NumberOf& number_of;
    std::size_t column = 0;

    void put(Columns group, std::uint64_t value) {
      if (table.loaded_.has(group)) table.columns_[column].put(table.size_, value);
      ++column;
    }
    template <typename T>
    void value(Columns group, T& value) {
      put(group, static_cast<std::uint64_t>(value));
    }
    void span(Columns group, TimeNs& start, TimeNs& end) {
      put(group, static_cast<std::uint64_t>(start));
      put(group, static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start));
    }
    void path(Columns group, std::uint32_t& id) { put(group, id); }
    void own_path(Columns group, std::uint32_t& id, std::uint32_t&) { put(group, id); }
    void text(Columns group, std::string_view& text) {
      put(group, table.loaded_.has(group) ? number_of(text) : 0);
    }
  };

  void grow() {
    room_ = room_ == 0 ? 1024 : 2 * room_;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (loaded_.has(kGroups.of[i])) columns_[i].reserve(room_);
    }
  }

  std::array<PackedColumn, kColumns> columns_;
  std::size_t size_ = 0, room_ = 0;
  Columns loaded_;
};

}  // namespace rangefinder
