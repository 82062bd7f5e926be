// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/trace_answers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "tools/analysis/queries/section_kinds.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/tables/section.h"
#include "tools/export/export_format.h"
#include "tools/export/prometheus_families.h"
#include "tools/page/page.h"
#include "tools/serve/flat_rows.h"
#include "tools/serve/timeline_rows.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxKept = 32;
constexpr std::size_t kMaxKeptBytes = std::size_t{128} << 20;
constexpr std::array kSections{"modules", "kernels", "findings"};

/// Feeds several sections in one pass over the trace.
class SectionsTogether final : public Section {
 public:
  explicit SectionsTogether(const SectionView& view) {
    for (const char* const name : kSections) all_.push_back(find_section(name)->make(view));
  }
  void begin(const TraceFolder& files) override {
    for (const auto& section : all_) section->begin(files);
  }
  void line(const Line& line) override {
    for (const auto& section : all_) section->line(line);
  }
  [[nodiscard]] std::vector<Table> tables(const SectionInput&) override { return {}; }
  [[nodiscard]] OrderedJson json(const SectionInput& input) override {
    OrderedJson out = OrderedJson::object();
    for (const auto& section : all_) out.update(section->json(input));
    return out;
  }

 private:
  std::vector<std::unique_ptr<Section>> all_;
};

/// A temporary folder for files of this process.
class PrivateFolder {
 public:
  PrivateFolder() : path_((fs::temp_directory_path() / "rangefinder-serve-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw Missing("cannot create the folder " + path_ + ": " + std::strerror(errno));
  }
  ~PrivateFolder() { rmdir(path_.c_str()); }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] fs::path file(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

struct OpenFile {
  explicit OpenFile(int number) : file(number) {}
  ~OpenFile() { close(file); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int file;
};

HttpParts parts_of(std::shared_ptr<OpenFile> open) {
  return [open = std::move(open)]() -> std::optional<std::string> {
    std::string part(std::size_t{1} << 18, '\0');
    ssize_t n = 0;
    do n = read(open->file, part.data(), part.size());
    while (n < 0 && errno == EINTR);
    if (n <= 0) return std::nullopt;
    part.resize(static_cast<std::size_t>(n));
    return part;
  };
}

}  // namespace

TraceAnswers::Text TraceAnswers::kept(const std::string& key) {
  const auto at =
      std::find_if(kept_.begin(), kept_.end(), [&key](const Kept& one) { return one.key == key; });
  if (at == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, at);
  return kept_.front().text;
}

TraceAnswers::Text TraceAnswers::keep(const std::string& key, std::string text) {
  kept_.push_front({key, std::make_shared<const std::string>(std::move(text))});
  std::size_t bytes = 0, n = 0;
  for (auto at = kept_.begin(); at != kept_.end(); ++at) {
    bytes += at->text->size();
    if (++n == 1 || (n <= kMaxKept && bytes <= kMaxKeptBytes)) continue;
    const Text front = kept_.front().text;
    kept_.erase(at, kept_.end());
    return front;
  }
  return kept_.front().text;
}

TraceAnswers::Text TraceAnswers::made(const std::string& key, const std::function<std::string()>& make) {
  const std::lock_guard lock(reading_);
  if (Text known = kept(key)) return known;
  return keep(key, make());
}

TraceAnswers::Text TraceAnswers::rows(const IndexedTrace& trace, Rows which) {
  const std::lock_guard lock(reading_);
  const auto key = [&trace](Rows one) {
    return std::string(kSections[static_cast<std::size_t>(one)]) + "\n" + trace.state;
  };
  if (Text known = kept(key(which))) return known;
  const SectionView view;
  SectionsTogether sections(view);
  const TraceTotals totals = load_trace(trace.files, nullptr, &sections);
  const RowValues values = load_row_values(totals);
  const OrderedJson report = sections.json({totals, values, view});
  keep(key(Rows::modules), compact_json(flat_modules(report)));
  keep(key(Rows::kernels), compact_json(flat_rows(report.value("kernels", OrderedJson::array()))));
  keep(key(Rows::findings), compact_json(flat_rows(report.value("findings", OrderedJson::array()))));
  return kept(key(which));
}

TraceAnswers::Text TraceAnswers::timeline(const IndexedTrace& trace, std::size_t stretches) {
  return made("timeline " + std::to_string(stretches) + "\n" + trace.state,
              [&] { return compact_json(timeline_rows(trace.files, stretches)); });
}

TraceAnswers::Text TraceAnswers::page(const IndexedTrace& trace) {
  return made("page\n" + trace.state, [&trace] {
    std::ostringstream out;
    write_page({trace.files}, out);
    return std::move(out).str();
  });
}

TraceAnswers::Text TraceAnswers::metrics(const IndexedTrace& trace, std::size_t modules,
                                         std::size_t kernels) {
  return made("metrics\n" + trace.state, [&] {
    PrometheusLimits limits;
    limits.modules = modules;
    limits.kernels = kernels;
    std::string out;
    trace_families({trace.files}, limits).append(out);
    return out;
  });
}

HttpParts TraceAnswers::perfetto(const IndexedTrace& trace) {
  const std::lock_guard lock(reading_);
  const PrivateFolder folder;
  ExportRequest request;
  request.traces = {trace.files};
  request.out = folder.file("trace.json");
  (void)export_perfetto(request);
  const int file = open(request.out.c_str(), O_RDONLY | O_CLOEXEC);
  unlink(request.out.c_str());
  if (file < 0) throw Missing(std::string("the export cannot be read: ") + std::strerror(errno));
  return parts_of(std::make_shared<OpenFile>(file));
}

}  // namespace rangefinder
