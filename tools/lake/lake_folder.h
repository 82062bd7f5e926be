// SPDX-License-Identifier: Apache-2.0
//
// The folder of a lake: which processes are in it, and in which files.
//
//   LAKE/v1/kernels/run=R/part-….parquet     rows of 8 to 96 processes
//   LAKE/v1/processes/run=R/….json           a manifest for each process, which names its part
//   LAKE/v1/staging/…/                       what is being written
//   LAKE/v1/lock                             shared by those who add and read, exclusive for those who remove
//
// A row counts if the manifest of its process names the part that it is in. Manifests are written last, by
// rename: until then nothing of the process is there, and a second add of it replaces all its rows at once.
// What no manifest names is garbage, which compact() removes. So a kill at any time does no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/lake/trace_tables.h"

namespace rangefinder {

/// One process of the lake.
struct LakeManifest {
  ProcessKey key;
  std::string rank, executable, command, trace, tool_version;
  std::uint64_t trace_bytes = 0;  ///< of its segments when it was added
  std::int64_t added_unix_s = 0;
  std::string part;                  ///< the name of its files
  std::uint64_t part_processes = 0;  ///< processes with rows in the part, counted or not
  std::vector<std::string> tables;   ///< that the part has a file of
};

/// "team/7" as "team%2F7". Throws WrongName for "", ".", ".." and more than 128 bytes.
[[nodiscard]] std::string encoded_run(const std::string& name);

class WrongName : public std::runtime_error {
 public:
  explicit WrongName(const std::string& message) : std::runtime_error(message) {}
};

class LakeFolder {
 public:
  enum class Use : std::uint8_t { read, add, remove };

  /// Creates the folders to add to it. Throws Missing where there is no lake, or another process uses it in a
  /// way that excludes `use`.
  LakeFolder(const std::filesystem::path& place, Use use);
  ~LakeFolder();
  LakeFolder(const LakeFolder&) = delete;
  LakeFolder& operator=(const LakeFolder&) = delete;

  /// True: the folder has a lake.
  [[nodiscard]] static bool is_lake(const std::filesystem::path& place);
  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }

  /// In the order of run, rank and start.
  [[nodiscard]] std::vector<LakeManifest> manifests() const;
  /// Replaces that of the same process.
  void write(const LakeManifest& manifest) const;
  void remove(const LakeManifest& manifest) const;

  [[nodiscard]] std::filesystem::path part_file(const std::string& table, const std::string& run,
                                                const std::string& part) const;
  /// A new folder of one's own.
  [[nodiscard]] std::filesystem::path new_staging() const;
  /// Deletes files that no manifest names, and what is left of killed adds. Needs Use::remove.
  std::uintmax_t remove_garbage() const;

 private:
  [[nodiscard]] std::filesystem::path manifest_file(const LakeManifest& manifest) const;

  std::filesystem::path root_;  // LAKE/v1
  int lock_ = -1;
};

/// A name that no other part has.
[[nodiscard]] std::string new_part_name();

}  // namespace rangefinder
