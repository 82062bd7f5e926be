// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/environment.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace rangefinder {

bool set_environment(const std::string& name, const std::string& value) noexcept {
  char** const old = environ;
  std::size_t count = 0;
  while (old != nullptr && old[count] != nullptr) ++count;

  // Both leaked on purpose: they are the environment of the process from now on.
  auto** const copy = static_cast<char**>(std::malloc((count + 2) * sizeof(char*)));
  auto* const entry = static_cast<char*>(std::malloc(name.size() + value.size() + 2));
  if (copy == nullptr || entry == nullptr) {
    std::free(copy);
    std::free(entry);
    return false;
  }
  std::memcpy(entry, name.data(), name.size());
  entry[name.size()] = '=';
  std::memcpy(entry + name.size() + 1, value.c_str(), value.size() + 1);

  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool same = std::strncmp(old[i], name.c_str(), name.size()) == 0 && old[i][name.size()] == '=';
    if (!same) copy[kept++] = old[i];
  }
  copy[kept++] = entry;
  copy[kept] = nullptr;
  std::atomic_ref<char**>(environ).store(copy, std::memory_order_release);
  return true;
}

}  // namespace rangefinder
