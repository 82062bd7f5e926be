// SPDX-License-Identifier: Apache-2.0
//
// Interned names and launch configurations of kernels. NameTable does the same for NVTX.
//
//   const char* from CUPTI ─▶ pointer seen? same text? ─▶ id
//                                      └ no ─▶ demangle, library ─▶ new id
//
// CUPTI gives each kernel one pointer, so the pointer is looked up first. Its text is
// still compared: memory of an unloaded module is reused.
//
// Bounded: after kMaxNames names every new one is kOtherKernel. At kMaxConfigs the
// configurations are forgotten; ids keep rising. Drain thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/base/name_pattern.h"
#include "profiler/events/name_table.h"
#include "schema/loss.h"
#include "schema/record.h"

namespace rangefinder {

inline constexpr std::uint32_t kOtherKernel = 1;

class KernelNames {
 public:
  static constexpr std::size_t kMaxNames = 65'536;
  static constexpr std::size_t kMaxConfigs = 262'144;
  static constexpr std::size_t kMaxNameBytes = 16'384;

  /// `communication`: a valid regular expression for kernels that communicate though their names are not
  /// known to (communication_kernel.h); or empty.
  explicit KernelNames(LossLedger& loss, const std::string& communication = "");

  /// Id of the kernel that CUPTI names at `mangled`.
  [[nodiscard]] std::uint32_t intern_pointer(const char* mangled);
  [[nodiscard]] std::uint32_t intern(std::string_view mangled);
  [[nodiscard]] const KernelNameRecord& name(std::uint32_t id) const { return names_[id]; }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size() - 1; }

  /// Id of `config` (its own id is ignored).
  [[nodiscard]] std::uint32_t intern(const LaunchConfigRecord& config);
  /// Also finds ids forgotten at the last clearing: a record may have waited for its launch meanwhile.
  [[nodiscard]] const LaunchConfigRecord& config(std::uint32_t id) const;

 private:
  struct SameConfig {
    bool operator()(const LaunchConfigRecord& a, const LaunchConfigRecord& b) const noexcept;
  };
  struct HashConfig {
    std::size_t operator()(const LaunchConfigRecord& c) const noexcept;
  };
  struct HashText {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return hash_text(text); }
  };
  LossLedger& loss_;
  std::optional<NamePattern> communication_;
  std::vector<KernelNameRecord> names_;  // by id; 0 unused
  std::unordered_map<std::string, std::uint32_t, HashText, std::equal_to<>> by_text_;
  std::unordered_map<const char*, std::uint32_t> by_pointer_;
  std::unordered_map<LaunchConfigRecord, std::uint32_t, HashConfig, SameConfig> config_ids_;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs_, older_configs_;
  std::uint32_t next_config_ = 1;
};

}  // namespace rangefinder
