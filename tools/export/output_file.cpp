// SPDX-License-Identifier: Apache-2.0
#include "tools/export/output_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/analysis/read/missing.h"
#include "tools/export/unfinished_files.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  throw Missing("cannot write " + file.string() + ": " + std::strerror(error) +
                "\n  Name another place with --out.");
}

bool is_taken(const fs::path& target) {
  std::error_code ignored;
  return fs::symlink_status(target, ignored).type() != fs::file_type::not_found;
}

/// True for a pipe, a terminal, /dev/stdout: a rename must not replace it.
bool is_stream(const fs::path& target) {
  if (target == "-") return true;
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

int open_stream(const fs::path& target) {
  const int file =
      target == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) cannot_write(target, errno);
  return file;
}

}  // namespace

TargetExists::TargetExists(const fs::path& target)
    : std::runtime_error(target.string() + " exists\n  Name another place with --out, or add --force.") {}

TemporaryTarget::TemporaryTarget(fs::path target, Overwrite overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
  std::error_code ignored;
  if (fs::is_directory(target_, ignored)) cannot_write(target_, EISDIR);
  if (overwrite_ == Overwrite::no && is_taken(target_)) throw TargetExists(target_);
  temporary_ =
      target_.parent_path() / ("." + target_.filename().string() + ".part-" + std::to_string(getpid()));
  slot_ = remember_unfinished(temporary_);
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    const int error = errno;
    forget_unfinished(*slot_);
    cannot_write(target_, error);
  }
  close(file);
}

TemporaryTarget::~TemporaryTarget() {
  if (!slot_) return;
  unlink(temporary_.c_str());
  forget_unfinished(*slot_);
}

void TemporaryTarget::commit() {
  // NOREPLACE, because another process may have created the target since the constructor's check. File
  // systems without it return EINVAL; then only that check protects the target.
  const unsigned flags = overwrite_ == Overwrite::no ? RENAME_NOREPLACE : 0;
  int done = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), flags);
  if (done != 0 && errno == EINVAL) done = rename(temporary_.c_str(), target_.c_str());
  if (done != 0 && errno == EEXIST) throw TargetExists(target_);
  if (done != 0) cannot_write(target_, errno);
  forget_unfinished(*std::exchange(slot_, std::nullopt));
}

OutputFile::OutputFile(const fs::path& target, Overwrite overwrite) : target_(target) {
  text_.reserve(kBufferBytes + kBufferBytes / 4);
  if (is_stream(target)) {
    file_ = open_stream(target);
    return;
  }
  place_.emplace(target, overwrite);
  file_ = open(place_->temporary().c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) cannot_write(target, errno);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
}

void OutputFile::write_out() {
  std::size_t done = 0;
  while (done < text_.size()) {
    const ssize_t n = write(file_, text_.data() + done, text_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_write(target_, errno);
    done += static_cast<std::size_t>(n);
  }
  written_ += text_.size();
  text_.clear();
}

void OutputFile::commit() {
  write_out();
  // Some file systems (NFS, quotas) report a full disk only at close().
  if (close(std::exchange(file_, -1)) != 0) cannot_write(target_, errno);
  if (place_) place_->commit();
}

OutputFolder::OutputFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (fs::is_directory(folder_, error)) return;
  slot_ = remember_unfinished_folder(folder_);
  fs::create_directory(folder_, error);
  if (!error && fs::is_directory(folder_, error)) return;
  forget_unfinished(*std::exchange(slot_, std::nullopt));
  cannot_write(folder_, error ? error.value() : ENOTDIR);
}

OutputFolder::~OutputFolder() {
  if (!slot_) return;
  rmdir(folder_.c_str());  // fails if it has files
  forget_unfinished(*slot_);
}

void OutputFolder::commit() noexcept {
  if (slot_) forget_unfinished(*std::exchange(slot_, std::nullopt));
}

}  // namespace rangefinder
