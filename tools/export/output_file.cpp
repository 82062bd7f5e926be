// SPDX-License-Identifier: Apache-2.0
#include "tools/export/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

// Unfinished files are removed when a signal ends the tool. Their names are in static memory, so that a
// signal handler may read them. For tools only: the injected library installs no handler. SIGKILL leaves the
// files behind.

constexpr std::size_t kMaxUnfinished = 64;  // at once

enum SlotUse : sig_atomic_t { kFree, kFile, kFolder };

struct Slot {
  volatile sig_atomic_t use = kFree;  // written last: the handler sees only complete paths
  std::array<char, PATH_MAX> path{};
};
// In .bss, never freed: a signal may arrive at any time.
std::array<Slot, kMaxUnfinished> slots;

void remove_all(SlotUse use) noexcept {
  for (const Slot& slot : slots) {
    if (slot.use != use) continue;
    if (use == kFile) {
      unlink(slot.path.data());
    } else {
      rmdir(slot.path.data());
    }
  }
}

void die_cleanly(int signal_number) {
  remove_all(kFile);
  remove_all(kFolder);
  // SA_RESETHAND has restored the default action, so the parent process sees the signal.
  raise(signal_number);
}

void install_handlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler == die_cleanly) continue;
    if (old.sa_handler == SIG_IGN) continue;  // under nohup it stays ignored
    struct sigaction action {};
    action.sa_handler = die_cleanly;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

/// The first call installs the handlers. Throws Missing if no slot is free or the path is too long. A folder
/// is removed if it is empty. Not thread-safe.
std::size_t remember(const fs::path& path, SlotUse use) {
  // Absolute: the tool may change its working directory.
  const std::string text = fs::absolute(path).string();
  if (text.size() >= PATH_MAX) throw Missing("cannot write " + path.string() + ": the path is too long");
  install_handlers();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].use != kFree) continue;
    std::memcpy(slots[i].path.data(), text.c_str(), text.size() + 1);
    slots[i].use = use;
    return i;
  }
  throw Missing("cannot write " + path.string() + ": too many files are being written at once");
}

/// The file has its name.
void forget(std::size_t slot) noexcept {
  slots[slot].use = kFree;
}

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  throw Missing("cannot write " + file.string() + ": " + std::strerror(error) +
                "\n  Name another place with --out.");
}

bool target_exists(const fs::path& target) {
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
  if (overwrite_ == Overwrite::no && target_exists(target_)) throw TargetExists(target_);
  temporary_ =
      target_.parent_path() / ("." + target_.filename().string() + ".part-" + std::to_string(getpid()));
  slot_ = remember(temporary_, kFile);
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    const int error = errno;
    forget(*slot_);
    cannot_write(target_, error);
  }
  close(file);
}

TemporaryTarget::~TemporaryTarget() {
  if (!slot_) return;
  unlink(temporary_.c_str());
  forget(*slot_);
}

void TemporaryTarget::commit() {
  // NOREPLACE, because another process may have created the target since the constructor's check. File
  // systems without it return EINVAL; then only that check protects the target.
  const unsigned flags = overwrite_ == Overwrite::no ? RENAME_NOREPLACE : 0;
  int done = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), flags);
  if (done != 0 && errno == EINVAL) done = rename(temporary_.c_str(), target_.c_str());
  if (done != 0 && errno == EEXIST) throw TargetExists(target_);
  if (done != 0) cannot_write(target_, errno);
  forget(*std::exchange(slot_, std::nullopt));
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
  slot_ = remember(folder_, kFolder);
  fs::create_directory(folder_, error);
  if (!error && fs::is_directory(folder_, error)) return;
  forget(*std::exchange(slot_, std::nullopt));
  cannot_write(folder_, error ? error.value() : ENOTDIR);
}

OutputFolder::~OutputFolder() {
  if (!slot_) return;
  rmdir(folder_.c_str());  // fails if it has files
  forget(*slot_);
}

void OutputFolder::commit() noexcept {
  if (slot_) forget(*std::exchange(slot_, std::nullopt));
}

}  // namespace rangefinder
