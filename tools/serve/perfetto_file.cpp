// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/perfetto_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tools/analysis/model/missing.h"
#include "tools/export/export_format.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

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

HttpParts parts_of(std::shared_ptr<std::FILE> file) {
  return [file = std::move(file)]() -> std::optional<std::string> {
    std::string part(std::size_t{1} << 18, '\0');
    part.resize(std::fread(part.data(), 1, part.size(), file.get()));
    if (part.empty()) return std::nullopt;
    return part;
  };
}

}  // namespace

HttpParts perfetto_file(const TraceFolder& trace) {
  static std::mutex exporting;
  const std::lock_guard lock(exporting);
  const PrivateFolder folder;
  ExportRequest request;
  request.traces = {trace};
  request.out = folder.file("trace.json");
  (void)export_perfetto(request);
  std::FILE* const file = std::fopen(request.out.c_str(), "rbe");
  const int error = errno;
  unlink(request.out.c_str());
  if (file == nullptr) throw Missing(std::string("the export cannot be read: ") + std::strerror(error));
  return parts_of(std::shared_ptr<std::FILE>(file, [](std::FILE* open) { std::fclose(open); }));
}

}  // namespace rangefinder
