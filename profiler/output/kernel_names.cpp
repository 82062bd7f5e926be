// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/kernel_names.h"

#include <cstring>
#include <utility>

#include "profiler/base/communication_kernel.h"
#include "profiler/events/cut_text.h"
#include "profiler/output/demangle.h"
#include "profiler/output/kernel_library.h"

namespace rangefinder {
namespace {

std::string demangled_name(const std::string& mangled) {
  std::string out = demangle(mangled);
  if (out.size() <= KernelNames::kMaxNameBytes) return out;
  std::string kept(KernelNames::kMaxNameBytes, '\0');
  kept.resize(cut_text(out, hash_text(out), kept).size());
  return kept;
}

}  // namespace

KernelNames::KernelNames(LossLedger& loss, const std::string& communication) : loss_(loss), names_(2) {
  if (!communication.empty()) communication_.emplace(communication);
  names_[kOtherKernel] = {kOtherKernel, "(other)", "(other)", "own", "more than 65,536 kernel names"};
}

std::uint32_t KernelNames::intern_pointer(const char* mangled) {
  if (const auto at = by_pointer_.find(mangled); at != by_pointer_.end()) {
    if (names_[at->second].mangled == mangled) return at->second;
  }
  const std::uint32_t id = intern(std::string_view(mangled, strnlen(mangled, NameTable::kMaxReadBytes)));
  if (by_pointer_.size() >= kMaxNames) by_pointer_.clear();
  by_pointer_[mangled] = id;
  return id;
}

std::uint32_t KernelNames::intern(std::string_view mangled) {
  char cut[kMaxNameBytes];
  const bool too_long = mangled.size() > kMaxNameBytes;
  const std::string_view kept = too_long ? cut_text(mangled, hash_text(mangled), cut) : mangled;
  if (const auto at = by_text_.find(kept); at != by_text_.end()) return at->second;
  if (too_long) loss_.add(Loss::names_truncated);
  if (names_.size() > kMaxNames) {
    loss_.add(Loss::names_folded);
    return kOtherKernel;
  }
  KernelNameRecord record;
  record.id = static_cast<std::uint32_t>(names_.size());
  record.mangled = kept;
  record.demangled = demangled_name(record.mangled);
  const KernelOrigin origin = kernel_origin(record.mangled, record.demangled);
  record.from_library = origin.from_library;
  record.evidence = origin.evidence;
  if (communication_ && communication_->is_in(record.demangled.substr(0, NamePattern::kMaxMatched))) {
    record.from_library = kNamedCommunication;
    record.evidence = "--communication";
  }
  by_text_.emplace(kept, record.id);
  names_.push_back(std::move(record));
  return names_.back().id;
}

bool KernelNames::SameConfig::operator()(const LaunchConfigRecord& a,
                                         const LaunchConfigRecord& b) const noexcept {
  return a.grid == b.grid && a.block == b.block && a.cluster == b.cluster && a.registers == b.registers &&
         a.static_shared_bytes == b.static_shared_bytes && a.dynamic_shared_bytes == b.dynamic_shared_bytes &&
         a.shared_bytes_executed == b.shared_bytes_executed &&
         a.local_bytes_per_thread == b.local_bytes_per_thread;
}

std::size_t KernelNames::HashConfig::operator()(const LaunchConfigRecord& c) const noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::uint32_t part :
       {c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.cluster.x, c.registers,
        c.static_shared_bytes, c.dynamic_shared_bytes, c.shared_bytes_executed, c.local_bytes_per_thread}) {
    hash = (hash ^ part) * 0x100000001b3u;
  }
  return hash ^ (hash >> 29);
}

std::uint32_t KernelNames::intern(const LaunchConfigRecord& config) {
  if (const auto at = config_ids_.find(config); at != config_ids_.end()) return at->second;
  if (config_ids_.size() >= kMaxConfigs) {
    config_ids_.clear();
    older_configs_ = std::move(configs_);
    configs_.clear();
  }
  const std::uint32_t id = next_config_++;
  config_ids_.emplace(config, id);
  configs_.emplace(id, config).first->second.id = id;
  return id;
}

const LaunchConfigRecord& KernelNames::config(std::uint32_t id) const {
  const auto at = configs_.find(id);
  return at != configs_.end() ? at->second : older_configs_.at(id);
}

}  // namespace rangefinder
