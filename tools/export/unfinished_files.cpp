// SPDX-License-Identifier: Apache-2.0
#include "tools/export/unfinished_files.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <string>

#include "tools/analysis/read/missing.h"

namespace rangefinder {
namespace {

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

std::size_t remember(const std::filesystem::path& path, SlotUse use) {
  // Absolute: the tool may change its working directory.
  const std::string text = std::filesystem::absolute(path).string();
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

}  // namespace

std::size_t remember_unfinished(const std::filesystem::path& file) {
  return remember(file, kFile);
}

std::size_t remember_unfinished_folder(const std::filesystem::path& folder) {
  return remember(folder, kFolder);
}

void forget_unfinished(std::size_t slot) noexcept {
  slots[slot].use = kFree;
}

}  // namespace rangefinder
