// SPDX-License-Identifier: Apache-2.0
//
// The functions of DuckDB's stable C API that we call, as a table of pointers.
//
//   load_duckdb() ─▶ DuckDbFunctions ─▶ DuckDb (duckdb.h), TableRows (table_rows.h)
//
// DuckDB is loaded when a verb needs it, never linked: Debian has no package of it, and only `lake` and `sql`
// use it. The prototypes are our own, after the documentation of the C API, so that the build needs no
// header. A member has DuckDB's name without its prefix: duckdb.query(connection, text, &result).
#pragma once

#include <cstdint>
#include <string>

namespace rangefinder {

// Handles. Only pointers to them are used.
struct DuckDbDatabaseHandle;
struct DuckDbConnectionHandle;
struct DuckDbPreparedHandle;
struct DuckDbExtractedHandle;
struct DuckDbTableFunctionHandle;
struct DuckDbBindHandle;
struct DuckDbInitHandle;
struct DuckDbCallHandle;
struct DuckDbConfigHandle;
struct DuckDbChunkHandle;
struct DuckDbVectorHandle;
struct DuckDbTypeHandle;

/// duckdb_state
enum class DuckDbState : int { success = 0, error = 1 };

/// duckdb_type, those that we read or write. Values of others are shown as DuckDB's own text.
enum class DuckDbType : int {
  invalid = 0,
  boolean = 1,
  tinyint = 2,
  smallint = 3,
  integer = 4,
  bigint = 5,
  utinyint = 6,
  usmallint = 7,
  uinteger = 8,
  ubigint = 9,
  real = 10,
  double_precision = 11,
  hugeint = 16,
  varchar = 17,
  decimal = 19
};

/// duckdb_statement_type, those that `sql` accepts.
enum class DuckDbStatement : int { invalid = 0, select = 1, explain = 4 };

/// duckdb_result, whole: fetch_chunk() takes a copy of it.
struct DuckDbResult {
  std::uint64_t unused_columns = 0, unused_rows = 0, unused_changed = 0;
  void* unused_data = nullptr;
  char* unused_error = nullptr;
  void* internal = nullptr;
};

/// duckdb_string_t: up to 12 bytes inside, longer texts by pointer with their first four bytes.
struct DuckDbText {
  std::uint32_t length = 0;
  char begin[4] = {};
  union {
    const char* pointer;
    char rest[8];
  };
};
static_assert(sizeof(DuckDbText) == 16);
inline constexpr std::uint32_t kDuckDbInside = 12;

/// duckdb_hugeint
struct DuckDbHuge {
  std::uint64_t lower = 0;
  std::int64_t upper = 0;
};

// X(name, result, parameters)
#define RANGEFINDER_DUCKDB_FUNCTIONS(X)                                                                 \
  X(library_version, const char*, ())                                                                   \
  X(free, void, (void*))                                                                                \
  X(create_config, DuckDbState, (DuckDbConfigHandle**))                                                 \
  X(set_config, DuckDbState, (DuckDbConfigHandle*, const char*, const char*))                           \
  X(destroy_config, void, (DuckDbConfigHandle**))                                                       \
  X(open_ext, DuckDbState, (const char*, DuckDbDatabaseHandle**, DuckDbConfigHandle*, char**))          \
  X(close, void, (DuckDbDatabaseHandle**))                                                              \
  X(connect, DuckDbState, (DuckDbDatabaseHandle*, DuckDbConnectionHandle**))                            \
  X(disconnect, void, (DuckDbConnectionHandle**))                                                       \
  X(query, DuckDbState, (DuckDbConnectionHandle*, const char*, DuckDbResult*))                          \
  X(destroy_result, void, (DuckDbResult*))                                                              \
  X(result_error, const char*, (DuckDbResult*))                                                         \
  X(column_count, std::uint64_t, (DuckDbResult*))                                                       \
  X(column_name, const char*, (DuckDbResult*, std::uint64_t))                                           \
  X(column_type, DuckDbType, (DuckDbResult*, std::uint64_t))                                            \
  X(column_logical_type, DuckDbTypeHandle*, (DuckDbResult*, std::uint64_t))                             \
  X(decimal_scale, std::uint8_t, (DuckDbTypeHandle*))                                                   \
  X(decimal_internal_type, DuckDbType, (DuckDbTypeHandle*))                                             \
  X(create_logical_type, DuckDbTypeHandle*, (DuckDbType))                                               \
  X(destroy_logical_type, void, (DuckDbTypeHandle**))                                                   \
  X(extract_statements, std::uint64_t, (DuckDbConnectionHandle*, const char*, DuckDbExtractedHandle**)) \
  X(extract_statements_error, const char*, (DuckDbExtractedHandle*))                                    \
  X(destroy_extracted, void, (DuckDbExtractedHandle**))                                                 \
  X(prepare_extracted_statement, DuckDbState,                                                           \
    (DuckDbConnectionHandle*, DuckDbExtractedHandle*, std::uint64_t, DuckDbPreparedHandle**))           \
  X(prepare_error, const char*, (DuckDbPreparedHandle*))                                                \
  X(destroy_prepare, void, (DuckDbPreparedHandle**))                                                    \
  X(prepared_statement_type, DuckDbStatement, (DuckDbPreparedHandle*))                                  \
  X(prepared_statement_column_count, std::uint64_t, (DuckDbPreparedHandle*))                            \
  X(prepared_statement_column_name, const char*, (DuckDbPreparedHandle*, std::uint64_t))                \
  X(prepared_statement_column_type, DuckDbType, (DuckDbPreparedHandle*, std::uint64_t))                 \
  X(execute_prepared, DuckDbState, (DuckDbPreparedHandle*, DuckDbResult*))                              \
  X(fetch_chunk, DuckDbChunkHandle*, (DuckDbResult))                                                    \
  X(create_data_chunk, DuckDbChunkHandle*, (DuckDbTypeHandle**, std::uint64_t))                         \
  X(destroy_data_chunk, void, (DuckDbChunkHandle**))                                                    \
  X(data_chunk_get_size, std::uint64_t, (DuckDbChunkHandle*))                                           \
  X(data_chunk_set_size, void, (DuckDbChunkHandle*, std::uint64_t))                                     \
  X(data_chunk_get_vector, DuckDbVectorHandle*, (DuckDbChunkHandle*, std::uint64_t))                    \
  X(vector_get_data, void*, (DuckDbVectorHandle*))                                                      \
  X(vector_get_validity, std::uint64_t*, (DuckDbVectorHandle*))                                         \
  X(vector_ensure_validity_writable, void, (DuckDbVectorHandle*))                                       \
  X(vector_size, std::uint64_t, ())                                                                     \
  X(vector_reference_vector, void, (DuckDbVectorHandle*, DuckDbVectorHandle*))                          \
  X(create_table_function, DuckDbTableFunctionHandle*, ())                                              \
  X(destroy_table_function, void, (DuckDbTableFunctionHandle**))                                        \
  X(table_function_set_name, void, (DuckDbTableFunctionHandle*, const char*))                           \
  X(table_function_set_extra_info, void, (DuckDbTableFunctionHandle*, void*, void (*)(void*)))          \
  X(table_function_set_bind, void, (DuckDbTableFunctionHandle*, void (*)(DuckDbBindHandle*)))           \
  X(table_function_set_init, void, (DuckDbTableFunctionHandle*, void (*)(DuckDbInitHandle*)))           \
  X(table_function_set_function, void,                                                                  \
    (DuckDbTableFunctionHandle*, void (*)(DuckDbCallHandle*, DuckDbChunkHandle*)))                      \
  X(register_table_function, DuckDbState, (DuckDbConnectionHandle*, DuckDbTableFunctionHandle*))        \
  X(bind_get_extra_info, void*, (DuckDbBindHandle*))                                                    \
  X(bind_add_result_column, void, (DuckDbBindHandle*, const char*, DuckDbTypeHandle*))                  \
  X(bind_set_cardinality, void, (DuckDbBindHandle*, std::uint64_t, bool))                               \
  X(init_set_init_data, void, (DuckDbInitHandle*, void*, void (*)(void*)))                              \
  X(init_set_max_threads, void, (DuckDbInitHandle*, std::uint64_t))                                     \
  X(function_get_extra_info, void*, (DuckDbCallHandle*))                                                \
  X(function_get_init_data, void*, (DuckDbCallHandle*))

struct DuckDbFunctions {
#define X(name, result, parameters) result(*name) parameters = nullptr;
  RANGEFINDER_DUCKDB_FUNCTIONS(X)
#undef X

  [[nodiscard]] std::string version() const {
    return library_version();
  }
};

/// RANGEFINDER_DUCKDB, else beside this program or in ../lib, else as the system finds libduckdb.so. Loaded
/// by the first call, for the whole process. Throws Missing, with where to get it. Any thread.
[[nodiscard]] const DuckDbFunctions& load_duckdb();

}  // namespace rangefinder
