// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace_files.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "trace-";
constexpr const char* kSummaryFile = "summary.json";

void collect(const fs::path& folder, std::vector<TraceFolder>& out) {
  TraceFolder trace = open_trace_folder(folder);
  if (!trace.segments.empty() || trace.has_summary) out.push_back(std::move(trace));
  std::vector<fs::path> below;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    // Symbolic links are not followed: they may lead to a parent folder, or to themselves.
    if (!entry.is_symlink() && entry.is_directory()) below.push_back(entry.path());
  }
  std::sort(below.begin(), below.end());
  for (const fs::path& path : below) collect(path, out);
}

/// The folder above host=…/rank=…/pid=…, of which only rank=… must be there; empty: there is none.
fs::path job_folder(const TraceFolder& trace) {
  fs::path folder = fs::absolute(trace.folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "dir/"
  const auto leave = [&folder](std::string_view level) {
    if (!folder.filename().native().starts_with(level)) return false;
    folder = folder.parent_path();
    return true;
  };
  leave("pid=");
  if (!leave("rank=")) return {};
  leave("host=");
  return folder;
}

}  // namespace

bool segment_number(const fs::path& file, std::uint32_t& number) {
  const std::string name = file.filename().string();
  std::string_view text = name;
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return false;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return suffix == ".ndjson" || suffix == ".ndjson.zst";
}

bool is_trace_file(const fs::path& file) {
  std::uint32_t number = 0;
  return segment_number(file, number) || file.filename() == kSummaryFile;
}

std::uint64_t bytes_of(const TraceFolder& trace) {
  std::uint64_t bytes = 0;
  for (const SegmentFile& segment : trace.segments) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(segment.path, error);
    if (!error) bytes += size;
  }
  return bytes;
}

TraceFolder open_trace_folder(const fs::path& folder) {
  TraceFolder out;
  out.folder = folder;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    SegmentFile segment{entry.path(), 0};
    if (segment_number(segment.path, segment.number)) out.segments.push_back(std::move(segment));
    if (entry.path().filename() == kSummaryFile) out.has_summary = true;
  }
  if (error) throw Missing("cannot read the folder " + folder.string() + ": " + error.message());
  std::sort(out.segments.begin(), out.segments.end(), [](const SegmentFile& a, const SegmentFile& b) {
    return a.number != b.number ? a.number < b.number : a.path.native().size() < b.path.native().size();
  });
  // A segment may exist in both forms until the compressor removes the plain one. Keep the plain one.
  const auto same = [](const SegmentFile& a, const SegmentFile& b) { return a.number == b.number; };
  out.segments.erase(std::unique(out.segments.begin(), out.segments.end(), same), out.segments.end());
  return out;
}

std::vector<TraceFolder> find_traces(const fs::path& place) {
  if (!fs::exists(place)) {
    throw Missing(
        place.string() + " does not exist" +
        "\n  Name the folder that `rangefinder run` wrote, as in: rangefinder report rangefinder-4711");
  }
  std::vector<TraceFolder> out;
  if (fs::is_directory(place)) {
    collect(place, out);
  } else {
    TraceFolder single;
    single.folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
    SegmentFile segment{place, 0};
    if (!segment_number(place, segment.number)) segment.number = 0;  // a file of a trace may have any name
    single.whole = false;
    single.segments.push_back(std::move(segment));
    out.push_back(std::move(single));
  }
  if (out.empty()) {
    throw Missing("no trace in " + place.string() +
                  ": there is no trace-*.ndjson and no summary.json in it or below it\n"
                  "  Name the folder that `rangefinder run` wrote.");
  }
  return out;
}

bool ranks_of_one_job(const std::vector<TraceFolder>& traces) {
  if (traces.size() < 2) return false;
  const fs::path job = job_folder(traces.front());
  return !job.empty() && std::all_of(traces.begin(), traces.end(),
                                     [&job](const TraceFolder& trace) { return job_folder(trace) == job; });
}

}  // namespace rangefinder
