// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/out_template.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "profiler/base/out_template.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

const char* lookup(const char* name) {
  return std::getenv(name);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string with_percent_doubled(const std::string& text) {
  std::string out;
  out_template::append_value(out, text, true);
  return out;
}

}  // namespace

std::string prepare_out_template(const std::string& text) {
  if (text.empty()) throw WrongUse("--out needs the name of a folder, as in --out trace-%p");
  const ExpandedOut expanded = expand_out_template(text, {"", host_name(), rank_from(lookup)}, lookup);
  if (!expanded.problem.empty()) throw WrongUse("--out: " + expanded.problem);
  if (expanded.text.front() == '/') return expanded.text;
  return with_percent_doubled(fs::current_path().string()) + "/" + expanded.text;
}

fs::path fixed_folder(const std::string& prepared) {
  if (names_process(prepared)) return {};
  return expand_out_template(prepared, {"0", "", ""}, lookup).text;
}

void clear_folder(const fs::path& folder, bool force) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  if (!fs::is_directory(folder, error)) {
    throw WrongUse("--out: " + folder.string() +
                   " is a file, not a folder\n  Choose another place with --out.");
  }
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_trace_file(entry.path())) found.push_back(entry.path());
  }
  if (!found.empty() && !force) {
    throw WrongUse(
        folder.string() + " already holds a trace\n" +
        "  Choose another place with --out (%p gives every run its own folder), or replace the trace with "
        "--force.");
  }
  for (const fs::path& file : found) {
    if (!fs::remove(file, error) && error)
      throw Missing("cannot remove " + file.string() + ": " + error.message());
  }
}

}  // namespace rangefinder
