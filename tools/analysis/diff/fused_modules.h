// SPDX-License-Identifier: Apache-2.0
//
// Kernels that one of two traces has fused over several modules, as torch.compile fuses, and the other has
// not.
//
//   path of a fused kernel            modules that it computes a part of
//   layers/3/(norm + attn.q)          layers/3/norm and what is below it, layers/3/attn, layers/3/attn/q
//   layers/3/(norm + act + 2 more)    every module below layers/3
//
// Their common parent, layers/3, has the same work in both traces. The time of one of these modules is known
// only up to the fused kernels' time.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

class FusedModules {
 public:
  /// Whether the path is that of kernels fused over several modules.
  [[nodiscard]] static bool is_fused(std::string_view path) noexcept;

  /// `path`: is_fused().
  void add(const std::string& path);
  /// Paths of the fused kernels that compute a part of the module, but not all work of it.
  [[nodiscard]] std::vector<std::string> with_part_of(std::string_view path) const;
  [[nodiscard]] bool empty() const noexcept { return below_.empty(); }

 private:
  struct Fused {
    std::string path;
    std::vector<std::string> parts;  ///< modules relative to the common parent; an empty one: any below it
  };
  std::map<std::string, std::vector<Fused>, std::less<>> below_;  ///< by the common parent
};

}  // namespace rangefinder
