// SPDX-License-Identifier: Apache-2.0
//
// The views that `sql` asks: one for each table of the lake, and answers to what is asked most.
//
//   manifests ─▶ files, and which processes of them count ─┐
//   tables of TraceTables in memory ───────────────────────┴▶ CREATE VIEW kernels, …, modules, causes, …
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/lake/duckdb.h"
#include "tools/lake/lake_folder.h"

namespace rangefinder {

/// A part of a lake: files with the rows of some processes.
struct LakePart {
  std::string run;
  std::uint64_t processes = 0;         ///< that it has rows of
  std::vector<std::string> tables;     ///< that it has a file of
  std::vector<std::uint64_t> counted;  ///< processes whose rows in it count
};
using LakeParts = std::map<std::string, LakePart>;  ///< by name
[[nodiscard]] LakeParts parts_of(const LakeFolder& lake);

/// SELECT of the rows of a table that count, with their run; empty: the parts have none.
[[nodiscard]] std::string rows_of(const LakeTable& table, const LakeFolder& lake, const LakeParts& parts);

/// Over the tables of TraceTables in `db`.
void create_views(DuckDb& db);
/// Over the files of a lake.
void create_views(DuckDb& db, const LakeFolder& lake);

}  // namespace rangefinder
