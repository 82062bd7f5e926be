// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/perfetto_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tools/analysis/read/missing.h"
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

HttpParts perfetto_file(const TraceFolder& trace) {
  static std::mutex exporting;
  const std::lock_guard lock(exporting);
  const PrivateFolder folder;
  ExportRequest request;
  request.traces = {trace};
  request.out = folder.file("trace.json");
  (void)export_perfetto(request);
  const int file = open(request.out.c_str(), O_RDONLY | O_CLOEXEC);
  unlink(request.out.c_str());
  if (file < 0) throw Missing(std::string("the export cannot be read: ") + std::strerror(errno));
  return parts_of(std::make_shared<OpenFile>(file));
}

}  // namespace rangefinder
