// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/duckdb.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "tools/analysis/model/missing.h"

namespace rangefinder {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr const char* kOnlySelect =
    "only a SELECT runs, or an EXPLAIN of one: nothing is written, attached or set";

/// Functions in place of a table that read tables and files, or nothing. Others write logs and plans into
/// files, or run a query that is not in the text.
constexpr std::array<std::string_view, 18> kTableFunctions{"regressions",      "range",
                                                           "generate_series",  "unnest",
                                                           "repeat",           "json_each",
                                                           "json_tree",        "read_parquet",
                                                           "parquet_scan",     "parquet_schema",
                                                           "parquet_metadata", "parquet_file_metadata",
                                                           "read_text",        "glob",
                                                           "read_csv",         "duckdb_columns",
                                                           "duckdb_tables",    "duckdb_functions"};

/// The first function in place of a table that is none of these; empty: there is none. `tree`: a query as
/// DuckDB parsed it.
std::string other_function(const nlohmann::json& tree) {
  if (tree.is_object() && tree.contains("type") && tree["type"] == "TABLE_FUNCTION") {
    const std::string name = tree.at("function").at("function_name");
    if (std::find(kTableFunctions.begin(), kTableFunctions.end(), name) == kTableFunctions.end()) return name;
  }
  if (!tree.is_structured()) return {};
  for (const nlohmann::json& part : tree) {
    if (std::string name = other_function(part); !name.empty()) return name;
  }
  return {};
}

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

/// 123 with scale 2 as "1.23".
std::string huge_text(__int128 value, std::uint8_t scale) {
  const bool negative = value < 0;
  auto rest = negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (scale != 0) {
    if (digits.size() <= scale) digits.insert(0, scale + 1U - digits.size(), '0');
    digits.insert(digits.size() - scale, ".");
  }
  return negative ? "-" + digits : digits;
}

/// A number where one is exact enough for it, otherwise its text.
CellValue huge_value(__int128 value, std::uint8_t scale) {
  if (scale != 0) return static_cast<double>(value) / std::pow(10.0, scale);
  if (value >= 0 && value <= static_cast<__int128>(UINT64_MAX)) return static_cast<std::uint64_t>(value);
  if (value < 0 && value >= static_cast<__int128>(INT64_MIN)) return static_cast<std::int64_t>(value);
  return huge_text(value, 0);
}

__int128 wide(const DuckDbHuge& value) {
  return static_cast<__int128>(value.upper) << 64 | static_cast<__int128>(value.lower);
}

std::string_view view_of(const DuckDbText& text) {
  return {text.length <= kDuckDbInside ? text.begin : text.pointer, text.length};
}

/// One column of a result.
struct ResultColumn {
  DuckDbType type = DuckDbType::invalid;
  std::uint8_t scale = 0;  ///< of a decimal
  DuckDbType stored = DuckDbType::invalid;

  [[nodiscard]] CellValue value(const void* data, std::uint64_t row) const;
};

template <typename T>
T at(const void* data, std::uint64_t row) {
  return static_cast<const T*>(data)[row];
}

CellValue ResultColumn::value(const void* data, std::uint64_t row) const {
  switch (stored) {
    case DuckDbType::boolean:
      return at<bool>(data, row);
    case DuckDbType::tinyint:
      return std::int64_t{at<std::int8_t>(data, row)};
    case DuckDbType::smallint:
      return huge_value(at<std::int16_t>(data, row), scale);
    case DuckDbType::integer:
      return huge_value(at<std::int32_t>(data, row), scale);
    case DuckDbType::bigint:
      return huge_value(at<std::int64_t>(data, row), scale);
    case DuckDbType::utinyint:
      return std::uint64_t{at<std::uint8_t>(data, row)};
    case DuckDbType::usmallint:
      return std::uint64_t{at<std::uint16_t>(data, row)};
    case DuckDbType::uinteger:
      return std::uint64_t{at<std::uint32_t>(data, row)};
    case DuckDbType::ubigint:
      return at<std::uint64_t>(data, row);
    case DuckDbType::real:
      return double{at<float>(data, row)};
    case DuckDbType::double_precision:
      return at<double>(data, row);
    case DuckDbType::hugeint:
      return huge_value(wide(at<DuckDbHuge>(data, row)), scale);
    case DuckDbType::varchar:
      return std::string(view_of(at<DuckDbText>(data, row)));
    default:
      return {};
  }
}

bool is_readable(DuckDbType type) {
  constexpr std::array kOthers{DuckDbType::hugeint, DuckDbType::varchar, DuckDbType::decimal};
  for (const DuckDbType other : kOthers) {
    if (type == other) return true;
  }
  return type >= DuckDbType::boolean && type <= DuckDbType::double_precision;
}

/// What an EXPLAIN or EXPLAIN ANALYZE explains. Empty for other forms of it, such as with comments before the
/// query.
std::string explained_query(std::string_view text) {
  const auto skip_word = [&text](std::string_view word) {
    std::string_view rest = text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
    const bool same =
        rest.size() > word.size() &&
        std::equal(word.begin(), word.end(), rest.begin(),
                   [](char a, char b) { return a == std::toupper(static_cast<unsigned char>(b)); }) &&
        kSpaces.find(rest[word.size()]) != std::string_view::npos;
    if (same) text = rest.substr(word.size());
    return same;
  };
  if (!skip_word("EXPLAIN")) return {};
  skip_word("ANALYZE");
  return std::string(text);
}

}  // namespace

std::string sql_text(std::string_view text) {
  return quoted(text, '\'');
}

std::string sql_name(std::string_view name) {
  return quoted(name, '"');
}

class DuckDb::Result {
 public:
  explicit Result(const DuckDbFunctions& duckdb) : duckdb_(duckdb) {}
  ~Result() { duckdb_.destroy_result(&result_); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  DuckDbResult* out() { return &result_; }
  [[nodiscard]] std::string error() {
    const char* const text = duckdb_.result_error(&result_);
    return text == nullptr ? "unknown error" : text;
  }
  [[nodiscard]] std::uint64_t columns() { return duckdb_.column_count(&result_); }
  [[nodiscard]] std::string name(std::uint64_t i) { return duckdb_.column_name(&result_, i); }
  [[nodiscard]] ResultColumn column(std::uint64_t i) {
    ResultColumn out;
    out.type = out.stored = duckdb_.column_type(&result_, i);
    if (out.type != DuckDbType::decimal) return out;
    DuckDbTypeHandle* type = duckdb_.column_logical_type(&result_, i);
    out.scale = duckdb_.decimal_scale(type);
    out.stored = duckdb_.decimal_internal_type(type);
    duckdb_.destroy_logical_type(&type);
    return out;
  }
  /// see(chunk)
  template <typename See>
  void each_chunk(See&& see) {
    while (DuckDbChunkHandle* chunk = duckdb_.fetch_chunk(result_)) {
      see(chunk);
      duckdb_.destroy_data_chunk(&chunk);
    }
  }

 private:
  const DuckDbFunctions& duckdb_;
  DuckDbResult result_;
};

/// The only statement of a text.
class DuckDb::Prepared {
 public:
  Prepared(const DuckDbFunctions& duckdb, DuckDbConnectionHandle* connection, const std::string& text)
      : duckdb_(duckdb) {
    const std::uint64_t count = duckdb_.extract_statements(connection, text.c_str(), &extracted_);
    if (count == 0) {
      const char* const error = duckdb_.extract_statements_error(extracted_);
      error_ = error == nullptr || *error == '\0' ? "the query is empty" : error;
    } else if (count > 1) {
      error_ = "these are several statements: ask one query at a time";
    } else if (duckdb_.prepare_extracted_statement(connection, extracted_, 0, &statement_) !=
               DuckDbState::success) {
      const char* const error = duckdb_.prepare_error(statement_);
      error_ = error == nullptr ? "the query cannot be prepared" : error;
    }
  }
  ~Prepared() {
    duckdb_.destroy_prepare(&statement_);
    duckdb_.destroy_extracted(&extracted_);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  void require(DuckDbStatement type) const {
    if (!error_.empty()) throw Refused(error_);
    if (duckdb_.prepared_statement_type(statement_) != type) throw Refused(kOnlySelect);
  }
  /// The same query, with DuckDB's texts of dates, lists and other types that a table has no value for.
  /// Empty: it has no such column.
  [[nodiscard]] std::string with_texts(const std::string& query) const {
    std::string names, values;
    bool readable = true;
    const std::uint64_t count = duckdb_.prepared_statement_column_count(statement_);
    for (std::uint64_t i = 0; i < count; ++i) {
      char* const title = const_cast<char*>(duckdb_.prepared_statement_column_name(statement_, i));
      const std::string name = "c" + std::to_string(i), separator = i == 0 ? "" : ", ";
      const bool plain = is_readable(duckdb_.prepared_statement_column_type(statement_, i));
      readable = readable && plain;
      names += separator + name;
      values += separator + (plain ? name : "CAST(" + name + " AS VARCHAR)") + " AS " + sql_name(title);
      duckdb_.free(title);
    }
    if (readable) return {};
    const std::string inner = query.substr(0, query.find_last_not_of("; \t\r\n") + 1);
    return "SELECT " + values + " FROM (" + inner + "\n) AS asked(" + names + ")";
  }
  void execute(Result& result) const {
    if (duckdb_.execute_prepared(statement_, result.out()) != DuckDbState::success)
      throw Refused(result.error());
  }

 private:
  const DuckDbFunctions& duckdb_;
  DuckDbExtractedHandle* extracted_ = nullptr;
  DuckDbPreparedHandle* statement_ = nullptr;
  std::string error_;
};

DuckDb::DuckDb(const DuckDbLimits& limits) : duckdb_(load_duckdb()) {
  DuckDbConfigHandle* config = nullptr;
  std::vector<std::pair<const char*, std::string>> settings{
      {"threads", std::to_string(limits.threads)}, {"temp_directory", limits.temporary.string()},
      {"autoinstall_known_extensions", "false"},   {"autoload_known_extensions", "false"},
      {"allow_community_extensions", "false"},
  };
  if (limits.memory_bytes != 0)
    settings.emplace_back("memory_limit", std::to_string(limits.memory_bytes) + "B");
  if (duckdb_.create_config(&config) != DuckDbState::success)
    throw std::runtime_error("DuckDB does not start");
  bool known = true;
  for (const auto& [name, value] : settings)
    known = duckdb_.set_config(config, name, value.c_str()) == DuckDbState::success && known;
  char* error = nullptr;
  const DuckDbState opened =
      known ? duckdb_.open_ext(":memory:", &database_, config, &error) : DuckDbState::error;
  duckdb_.destroy_config(&config);
  if (opened != DuckDbState::success || duckdb_.connect(database_, &connection_) != DuckDbState::success) {
    const std::string reason = error == nullptr ? "its settings are unknown to it" : error;
    duckdb_.free(error);
    duckdb_.close(&database_);
    throw Missing("DuckDB " + duckdb_.version() + " does not start: " + reason);
  }
}

DuckDb::~DuckDb() {
  duckdb_.disconnect(&connection_);
  duckdb_.close(&database_);
}

void DuckDb::run(const std::string& sql) {
  Result result(duckdb_);
  if (duckdb_.query(connection_, sql.c_str(), result.out()) != DuckDbState::success)
    throw std::runtime_error("DuckDB: " + result.error());
}

Table DuckDb::ask(const std::string& sql) {
  Result result(duckdb_);
  if (duckdb_.query(connection_, sql.c_str(), result.out()) != DuckDbState::success)
    throw std::runtime_error("DuckDB: " + result.error());
  return table_of(result);
}

void DuckDb::lock(const std::filesystem::path& folder) {
  // In this order: the folders can no longer be set once access is off.
  if (!folder.empty()) run("SET allowed_directories = [" + sql_text((folder / "").string()) + "]");
  run("SET enable_external_access = false");
  run("SET lock_configuration = true");
}

void DuckDb::require_query(const std::string& query) {
  const Table answer = ask("SELECT json_serialize_sql(" + sql_text(query) + ")");
  const auto tree = nlohmann::json::parse(std::get<std::string>(answer.rows.at(0).at(0).value));
  if (tree.value("error", true)) {
    const bool is_mistake = tree.value("error_type", "") == "parser";
    throw Refused(is_mistake ? tree.value("error_message", "the query cannot be read") : kOnlySelect);
  }
  const std::size_t count = tree.at("statements").size();
  if (count == 0) throw Refused("the query is empty");
  if (count > 1) throw Refused("these are several statements: ask one query at a time");
  if (const std::string name = other_function(tree); !name.empty()) {
    throw Refused("the function " + name +
                  " is not for queries about traces: it may write, or hide what it reads");
  }
}

Table DuckDb::answer(const std::string& query, Explain explain) {
  const std::string explained = explained_query(query);
  if (explain == Explain::yes && !explained.empty())
    throw Refused("--explain takes the query without EXPLAIN");
  // Before it is prepared: DuckDB calls some functions then.
  require_query(explained.empty() ? query : explained);
  const Prepared asked(duckdb_, connection_, explain == Explain::yes ? "EXPLAIN " + query : query);
  asked.require(explain == Explain::yes || !explained.empty() ? DuckDbStatement::explain
                                                              : DuckDbStatement::select);
  Result result(duckdb_);
  if (const std::string shown = asked.with_texts(query); !shown.empty()) {
    const Prepared texts(duckdb_, connection_, shown);
    texts.require(DuckDbStatement::select);
    texts.execute(result);
  } else {
    asked.execute(result);
  }
  return table_of(result);
}

bool DuckDb::is_plan(const Table& answer) {
  return answer.columns.size() == 2 && answer.columns[0].key == "explain_key";
}

Table DuckDb::table_of(Result& result) const {
  Table out;
  out.sortable = false;
  std::vector<ResultColumn> columns;
  for (std::uint64_t i = 0; i < result.columns(); ++i) {
    const std::string name = result.name(i);
    columns.push_back(result.column(i));
    out.columns.push_back({name, name, Unit::text});
  }
  result.each_chunk([&](DuckDbChunkHandle* chunk) {
    const std::uint64_t rows = duckdb_.data_chunk_get_size(chunk);
    const std::size_t first = out.rows.size();
    out.rows.resize(first + rows, std::vector<Cell>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      DuckDbVectorHandle* const vector = duckdb_.data_chunk_get_vector(chunk, i);
      const void* const data = duckdb_.vector_get_data(vector);
      const std::uint64_t* const valid = duckdb_.vector_get_validity(vector);
      for (std::uint64_t row = 0; row < rows; ++row) {
        if (valid != nullptr && (valid[row / 64] >> row % 64 & 1) == 0) continue;
        out.rows[first + row][i].value = columns[i].value(data, row);
      }
    }
  });
  return out;
}

}  // namespace rangefinder
