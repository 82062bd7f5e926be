// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/table_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace rangefinder {
namespace {

struct TypeFacts {
  DuckDbType type;
  const char* sql;
  std::size_t bytes;
};

/// In the order of LakeType.
constexpr std::array kTypes{TypeFacts{DuckDbType::boolean, "BOOLEAN", 1},
                            TypeFacts{DuckDbType::integer, "INTEGER", 4},
                            TypeFacts{DuckDbType::uinteger, "UINTEGER", 4},
                            TypeFacts{DuckDbType::bigint, "BIGINT", 8},
                            TypeFacts{DuckDbType::ubigint, "UBIGINT", 8},
                            TypeFacts{DuckDbType::double_precision, "DOUBLE", 8},
                            TypeFacts{DuckDbType::varchar, "VARCHAR", sizeof(DuckDbText)}};

const TypeFacts& facts_of(const LakeColumn& column) {
  return kTypes[static_cast<std::size_t>(column.type)];
}

constexpr std::size_t kMaxSortColumns = 3;

/// A row to be sorted.
struct RowKey {
  std::array<std::uint64_t, kMaxSortColumns> values{};
  std::uint32_t row = 0;
  auto operator<=>(const RowKey&) const = default;
};

/// In the order of the numbers; NULL comes first.
std::uint64_t sort_value(LakeType type, const std::byte* data) {
  if (type == LakeType::uinteger) {
    std::uint32_t value = 0;
    std::memcpy(&value, data, sizeof value);
    return std::uint64_t{value} + 1;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  return type == LakeType::bigint ? value ^ std::uint64_t{1} << 63 : value;
}

/// One column of a chunk.
struct ColumnPlace {
  DuckDbVectorHandle* vector = nullptr;
  std::byte* data = nullptr;
  std::uint64_t* valid = nullptr;

  [[nodiscard]] bool has(std::uint64_t row) const {
    return valid == nullptr || (valid[row / 64] >> row % 64 & 1) != 0;
  }
};

ColumnPlace place_in(const DuckDbFunctions& duckdb, DuckDbChunkHandle* chunk, std::size_t column) {
  ColumnPlace out;
  out.vector = duckdb.data_chunk_get_vector(chunk, column);
  out.data = static_cast<std::byte*>(duckdb.vector_get_data(out.vector));
  out.valid = duckdb.vector_get_validity(out.vector);
  return out;
}

/// What a scan has passed. Several threads take chunks.
struct ScanState {
  std::atomic<std::size_t> next = 0;
};

}  // namespace

std::string no_rows_sql(const std::vector<LakeColumn>& columns) {
  std::string out;
  for (const LakeColumn& column : columns)
    out += std::string(out.empty() ? "SELECT " : ", ") + "NULL::" + facts_of(column).sql + " AS " +
           sql_name(column.name);
  return out + " WHERE false";
}

std::string TableRows::source(std::string_view table) {
  return "rows_of_" + std::string(table) + "()";
}

TableRows::TableRows(DuckDb& db, std::string_view table, std::vector<LakeColumn> columns)
    : duckdb_(db.functions()), columns_(std::move(columns)), at_once_(duckdb_.vector_size()) {
  for (const LakeColumn& column : columns_)
    types_.push_back(duckdb_.create_logical_type(facts_of(column).type));
  targets_.resize(columns_.size());
  open_chunk();
  DuckDbTableFunctionHandle* function = duckdb_.create_table_function();
  duckdb_.table_function_set_name(function, ("rows_of_" + std::string(table)).c_str());
  duckdb_.table_function_set_extra_info(function, this, nullptr);
  duckdb_.table_function_set_bind(function, on_bind);
  duckdb_.table_function_set_init(function, on_init);
  duckdb_.table_function_set_function(function, on_call);
  const DuckDbState registered = duckdb_.register_table_function(db.connection(), function);
  duckdb_.destroy_table_function(&function);
  if (registered != DuckDbState::success)
    throw std::runtime_error("DuckDB does not take the rows of " + std::string(table));
}

TableRows::~TableRows() {
  clear();
  if (chunk_ != nullptr) duckdb_.destroy_data_chunk(&chunk_);
  for (DuckDbTypeHandle*& type : types_) duckdb_.destroy_logical_type(&type);
}

void TableRows::open_chunk() {
  chunk_ = duckdb_.create_data_chunk(types_.data(), types_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ColumnPlace place = place_in(duckdb_, chunk_, i);
    targets_[i] = {columns_[i].name, place.data, place.vector, nullptr};
  }
}

void TableRows::set_null(Target& target) {
  if (target.valid == nullptr) {
    duckdb_.vector_ensure_validity_writable(target.vector);
    target.valid = duckdb_.vector_get_validity(target.vector);
  }
  target.valid[row_ / 64] &= ~(std::uint64_t{1} << row_ % 64);
}

DuckDbText TableRows::text_of(std::string_view text) noexcept {
  DuckDbText out;
  out.length = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), UINT32_MAX));
  if (out.length <= kDuckDbInside) {
    char bytes[kDuckDbInside] = {};
    std::memcpy(bytes, text.data(), out.length);
    std::memcpy(reinterpret_cast<char*>(&out) + sizeof out.length, bytes, sizeof bytes);
  } else {
    std::memcpy(out.begin, text.data(), sizeof out.begin);
    out.pointer = text.data();
  }
  return out;
}

void TableRows::seal() {
  if (row_ == 0) return;
  duckdb_.data_chunk_set_size(chunk_, row_);
  sealed_.push_back({chunk_, row_});
  row_ = 0;
  open_chunk();
}

void TableRows::clear() {
  for (Sealed& sealed : sealed_) duckdb_.destroy_data_chunk(&sealed.chunk);
  sealed_.clear();
  row_ = rows_ = 0;
}

void TableRows::sort_from(std::uint64_t first, const std::vector<std::string_view>& columns,
                          std::size_t constant) {
  const std::vector<std::uint32_t> order = order_from(first, columns);
  for (std::size_t i = constant; i < columns_.size() && !order.empty(); ++i) move_rows(first, order, i);
}

/// Places of a column in all chunks, the open one last.
template <typename See>
void TableRows::each_place(std::size_t column, std::uint64_t first, See&& see) {
  for (std::uint64_t row = first; row < rows_;) {
    const std::size_t at = row / at_once_;
    DuckDbChunkHandle* const chunk = at < sealed_.size() ? sealed_[at].chunk : chunk_;
    ColumnPlace place = place_in(duckdb_, chunk, column);
    const std::uint64_t end = std::min(rows_, (at + 1) * at_once_);
    for (; row < end; ++row) see(place, row % at_once_);
    if (chunk == chunk_) targets_[column].valid = place.valid;
  }
}

std::vector<std::uint32_t> TableRows::order_from(std::uint64_t first,
                                                 const std::vector<std::string_view>& columns) {
  std::vector<RowKey> keys(rows_ - first);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i].row = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < std::min(columns.size(), kMaxSortColumns); ++i) {
    const auto column = std::find_if(columns_.begin(), columns_.end(),
                                     [&](const LakeColumn& one) { return one.name == columns[i]; });
    std::size_t next = 0;
    each_place(static_cast<std::size_t>(column - columns_.begin()), first,
               [&](const ColumnPlace& place, std::uint64_t row) {
                 RowKey& key = keys[next++];
                 if (place.has(row))
                   key.values[i] = sort_value(column->type, place.data + row * facts_of(*column).bytes);
               });
  }
  std::vector<std::uint32_t> out;
  if (std::is_sorted(keys.begin(), keys.end())) return out;
  std::sort(keys.begin(), keys.end());
  out.reserve(keys.size());
  for (const RowKey& key : keys) out.push_back(key.row);
  return out;
}

template <std::size_t kBytes>
void TableRows::move_values(std::uint64_t first, const std::vector<std::uint32_t>& order,
                            std::size_t column) {
  using Value = std::array<std::byte, kBytes>;
  std::vector<Value> values(order.size());
  std::vector<std::uint8_t> present(order.size());
  std::size_t next = 0;
  bool all = true;
  each_place(column, first, [&](const ColumnPlace& place, std::uint64_t row) {
    values[next] = reinterpret_cast<const Value*>(place.data)[row];
    present[next] = place.has(row);
    all = all && present[next] != 0;
    ++next;
  });
  next = 0;
  each_place(column, first, [&](ColumnPlace& place, std::uint64_t row) {
    const std::uint32_t from = order[next++];
    reinterpret_cast<Value*>(place.data)[row] = values[from];
    if (all || place.has(row) == (present[from] != 0)) return;
    if (place.valid == nullptr) {
      duckdb_.vector_ensure_validity_writable(place.vector);
      place.valid = duckdb_.vector_get_validity(place.vector);
    }
    place.valid[row / 64] ^= std::uint64_t{1} << row % 64;
  });
}

void TableRows::move_rows(std::uint64_t first, const std::vector<std::uint32_t>& order, std::size_t column) {
  switch (facts_of(columns_[column]).bytes) {
    case 1:
      return move_values<1>(first, order, column);
    case 4:
      return move_values<4>(first, order, column);
    case 8:
      return move_values<8>(first, order, column);
    default:
      return move_values<sizeof(DuckDbText)>(first, order, column);
  }
}

void TableRows::on_bind(DuckDbBindHandle* info) {
  const DuckDbFunctions& duckdb = load_duckdb();
  const auto* const rows = static_cast<const TableRows*>(duckdb.bind_get_extra_info(info));
  for (std::size_t i = 0; i < rows->columns_.size(); ++i)
    duckdb.bind_add_result_column(info, std::string(rows->columns_[i].name).c_str(), rows->types_[i]);
  duckdb.bind_set_cardinality(info, rows->rows_, true);
}

void TableRows::on_init(DuckDbInitHandle* info) {
  const DuckDbFunctions& duckdb = load_duckdb();
  duckdb.init_set_init_data(info, new ScanState, [](void* state) { delete static_cast<ScanState*>(state); });
  duckdb.init_set_max_threads(info, 64);  // DuckDB has its own limit
}

void TableRows::on_call(DuckDbCallHandle* info, DuckDbChunkHandle* out) {
  const DuckDbFunctions& duckdb = load_duckdb();
  const auto* const rows = static_cast<const TableRows*>(duckdb.function_get_extra_info(info));
  const std::size_t at = static_cast<ScanState*>(duckdb.function_get_init_data(info))->next++;
  if (at >= rows->sealed_.size()) return duckdb.data_chunk_set_size(out, 0);
  const Sealed& sealed = rows->sealed_[at];
  for (std::size_t i = 0; i < rows->columns_.size(); ++i) {
    duckdb.vector_reference_vector(duckdb.data_chunk_get_vector(out, i),
                                   duckdb.data_chunk_get_vector(sealed.chunk, i));
  }
  duckdb.data_chunk_set_size(out, sealed.rows);
}

}  // namespace rangefinder
