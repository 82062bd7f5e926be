// SPDX-License-Identifier: Apache-2.0
//
// rangefinder export DIR… --to FORMAT [--out OUT] [--force]
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/base/edit_distance.h"
#include "profiler/base/number_text.h"
#include "tools/command_line/command_line.h"
#include "tools/export/export_format.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::vector<std::string> places;
  std::string to;
  std::string out;
  std::string step_range;
  std::size_t max_modules = ExportRequest{}.max_modules;
  bool force = false;
};

/// Beside the trace, as in rangefinder-4711.perfetto.json.
fs::path default_target(const std::string& place, const ExportFormat& format) {
  fs::path base = fs::absolute(place).lexically_normal();
  if (!base.has_filename() || base.filename() == "summary.json") base = base.parent_path();  // "dir/"
  return base.parent_path() / (base.filename().string() + std::string(format.ending));
}

fs::path target_of(const ExportOptions& options, const ExportFormat& format) {
  if (options.out.empty()) return default_target(options.places.front(), format);
  if (options.out == "-" && !format.to_stdout) {
    throw WrongUse("--out -: " + options.to + " does not fit one stream; name a file or folder");
  }
  fs::path out = options.out;
  if (const fs::path compressed = out.extension(); compressed == ".gz" || compressed == ".zst") {
    throw WrongUse("--out " + options.out + ": the file would not be compressed. Name " +
                   out.stem().string() + ", and compress it afterwards, or pass --out - to " +
                   (compressed == ".gz" ? "gzip" : "zstd"));
  }
  std::error_code ignored;
  // An existing folder takes the file.
  if (format.shape == ExportShape::file && fs::is_directory(out, ignored)) {
    out /= default_target(options.places.front(), format).filename();
  }
  return out;
}

int export_traces(const ExportOptions& options) {
  const ExportFormat* const format = find_export_format(options.to);
  if (format == nullptr) {
    std::vector<std::string> known;
    for (const ExportFormat& one : export_formats()) known.emplace_back(one.name);
    throw WrongUse("there is no format " + options.to + suggestion_or_all_text(known, options.to));
  }
  ExportRequest request;
  request.overwrite = options.force ? Overwrite::yes : Overwrite::no;
  request.step_range = options.step_range;
  request.max_modules = options.max_modules;
  request.traces = named_traces(options.places);
  request.out = target_of(options, *format);
  if (request.out == "-" && format->shape == ExportShape::file_a_trace && request.traces.size() > 1) {
    throw WrongUse("--out -: " + counted_text(request.traces.size(), "trace gives", "traces give") + " one " +
                   options.to + " file each; name a folder");
  }
  try {
    const ExportResult result = format->write(request);
    for (const std::string& note : result.notes) std::cerr << "rangefinder: " << printable(note) << "\n";
    if (request.out != "-") {
      for (const fs::path& file : result.files) std::cout << file.string() << "\n";
    }
  } catch (const TargetExists& error) {
    throw WrongUse(error.what());
  }
  return kExitOk;
}

}  // namespace

void add_export(CommandLine& line, Action& action) {
  const auto options = std::make_shared<ExportOptions>();
  Verb verb = line.verb("export", "Convert traces to the format of another tool");
  verb.option("DIR", options->places, "Folder of a trace, or one with traces below it").required();
  std::vector<Choice> formats;
  for (const ExportFormat& format : export_formats())
    formats.push_back({std::string(format.name), std::string(format.about)});
  verb.option("--to", options->to, "Format, one of:").type_name("FORMAT").required().choices(formats);
  verb.option("-o,--out", options->out,
              "File or folder to write, - for standard output [beside the trace, named after it]")
      .type_name("OUT");
  verb.flag("--force", options->force, "Overwrite existing files");
  verb.option("--step-range", options->step_range,
              "kineto, perfetto: rename ranges of this name or path to ProfilerStep#0, #1, …")
      .type_name("RANGE");
  verb.option(
          "--modules", options->max_modules,
          "prometheus: maximum number of modules with their own rows; the rest is summed as (other) [200]")
      .type_name("N")
      .positive();
  verb.callback([options, &action] { action = [options] { return export_traces(*options); }; });
}

}  // namespace rangefinder
