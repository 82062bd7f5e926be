// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/lake_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/export/output_file.h"
#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRunBytes = 128, kMaxFileName = 250;

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; value >>= 4) out[i] = kDigits[value & 15];
  return out;
}

nlohmann::ordered_json json_of(const LakeManifest& m) {
  return {{"schema", "rangefinder.lake"},
          {"version", "1.0"},
          {"run", m.key.run},
          {"host", m.key.host},
          {"boot_unix_ns", std::to_string(m.key.boot_ns)},
          {"pid", m.key.pid},
          {"start_unix_ns", std::to_string(m.key.start_ns)},
          {"rank", m.rank},
          {"executable", m.executable},
          {"command", m.command},
          {"tool_version", m.tool_version},
          {"trace", m.trace},
          {"trace_bytes", m.trace_bytes},
          {"added_unix_s", m.added_unix_s},
          {"part", m.part},
          {"part_processes", m.part_processes},
          {"tables", m.tables}};
}

LakeManifest manifest_of(const nlohmann::ordered_json& row) {
  LakeManifest out;
  out.key = {row.at("run"), row.at("host"), std::stoll(row.at("boot_unix_ns").get<std::string>()),
             row.at("pid"), std::stoll(row.at("start_unix_ns").get<std::string>())};
  out.rank = row.at("rank");
  out.executable = row.at("executable");
  out.command = row.at("command");
  out.tool_version = row.at("tool_version");
  out.trace = row.at("trace");
  out.trace_bytes = row.at("trace_bytes");
  out.added_unix_s = row.at("added_unix_s");
  out.part = row.at("part");
  out.part_processes = row.at("part_processes");
  row.at("tables").get_to(out.tables);
  return out;
}

LakeManifest read_manifest(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  try {
    return manifest_of(nlohmann::ordered_json::parse(in));
  } catch (const std::exception& error) {
    throw Missing(file.string() + " is no manifest of a lake: " + error.what());
  }
}

/// Ranks in the order of their numbers.
std::tuple<std::string, std::size_t, std::string, std::int64_t> place_of(const LakeManifest& m) {
  return {m.key.run, m.rank.size(), m.rank, m.key.start_ns};
}

}  // namespace

std::string encoded_run(const std::string& name) {
  const auto refuse = [&name](const std::string& why) {
    return WrongName("the run name " + (name.empty() ? "\"\"" : name.substr(0, kMaxRunBytes)) + " " + why +
                     ": give another with --run");
  };
  if (name.empty() || name == "." || name == "..") throw refuse("names no folder");
  if (name.size() > kMaxRunBytes) throw refuse("is longer than 128 bytes");
  std::string out = percent_text(name, "-._");
  if (out.size() > kMaxFileName) throw refuse("has too many characters that no file name has");
  return out;
}

LakeFolder::LakeFolder(const fs::path& place, Use use)
    : root_(fs::absolute(place).lexically_normal() / "v1") {
  std::error_code error;
  if (use == Use::add) {
    fs::create_directories(root_ / "processes", error);
    if (!error) fs::create_directories(root_ / "staging", error);
    if (error) throw Missing("cannot create " + root_.string() + ": " + error.message());
  } else if (!is_lake(place)) {
    throw Missing("there is no lake in " + place.string() + ": make one with `rangefinder lake add`");
  }
  const std::string file = (root_ / "lock").string();
  // Readers of a lake that they cannot write to go without a lock.
  lock_ = open(file.c_str(), use == Use::read ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0 && use == Use::read) return;
  if (lock_ < 0) throw Missing("cannot write " + file);
  if (flock(lock_, (use == Use::remove ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return;
  close(lock_);
  throw Missing(place.string() +
                " is in use by another `rangefinder lake` or `rangefinder sql`: try again when it "
                "has ended");
}

LakeFolder::~LakeFolder() {
  if (lock_ >= 0) close(lock_);
}

bool LakeFolder::is_lake(const fs::path& place) {
  std::error_code error;
  return fs::is_directory(place / "v1" / "processes", error);
}

std::vector<LakeManifest> LakeFolder::manifests() const {
  std::vector<LakeManifest> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root_ / "processes")) {
    if (entry.path().extension() == ".json" && entry.path().filename().string().front() != '.')
      out.push_back(read_manifest(entry.path()));
  }
  std::sort(out.begin(), out.end(),
            [](const LakeManifest& a, const LakeManifest& b) { return place_of(a) < place_of(b); });
  return out;
}

fs::path LakeFolder::manifest_file(const LakeManifest& manifest) const {
  return root_ / "processes" / ("run=" + encoded_run(manifest.key.run)) /
         (hex(manifest.key.number()) + ".json");
}

void LakeFolder::write(const LakeManifest& manifest) const {
  const fs::path file = manifest_file(manifest);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  OutputFile out(file, Overwrite::yes);
  out.text() = dump_json(json_of(manifest)) + "\n";
  out.commit();
}

void LakeFolder::remove(const LakeManifest& manifest) const {
  std::error_code ignored;
  const fs::path file = manifest_file(manifest);
  fs::remove(file, ignored);
  fs::remove(file.parent_path(), ignored);  // the last one
}

fs::path LakeFolder::part_file(const std::string& table, const std::string& run,
                               const std::string& part) const {
  return root_ / table / ("run=" + encoded_run(run)) / ("part-" + part + ".parquet");
}

fs::path LakeFolder::new_staging() const {
  fs::path out = root_ / "staging" / new_part_name();
  fs::create_directories(out);
  return out;
}

std::uintmax_t LakeFolder::remove_garbage() const {
  std::set<fs::path> named;
  for (const LakeManifest& manifest : manifests()) {
    for (const std::string& table : manifest.tables)
      named.insert(part_file(table, manifest.key.run, manifest.part));
  }
  std::uintmax_t bytes = 0;
  std::vector<fs::path> folders, garbage;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root_)) {
    if (entry.is_directory()) {
      folders.push_back(entry.path());
    } else if (entry.path().extension() == ".parquet" && !named.contains(entry.path())) {
      garbage.push_back(entry.path());
      bytes += entry.file_size();
    }
  }
  std::error_code ignored;
  for (const fs::path& file : garbage) fs::remove(file, ignored);
  // The deepest first; those with files stay, and the three that every lake has.
  std::sort(folders.rbegin(), folders.rend());
  for (const fs::path& folder : folders) {
    if (folder != root_ / "processes" && folder != root_ / "staging") fs::remove(folder, ignored);
  }
  return bytes;
}

std::string new_part_name() {
  std::random_device random;
  return hex(std::uint64_t{random()} << 32 | random());
}

}  // namespace rangefinder
