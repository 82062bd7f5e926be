// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/kernel_origins.h"

#include <algorithm>

namespace rangefinder {

void KernelOrigins::add(const KernelOriginRecord& record) {
  SourceLines source(ModuleSourceRecord{record.path, "", 0, record.file, record.line});
  std::vector<OriginLine>& all = by_kernel_[record.kernel];
  const auto same = std::find_if(all.begin(), all.end(), [&](const OriginLine& one) {
    return one.operators == record.operators && one.source.of_call == source.of_call;
  });
  if (same == all.end()) {
    all.push_back({record.operators, std::move(source), {record.path}});
  } else {
    same->paths.insert(record.path);
  }
}

const std::vector<OriginLine>& KernelOrigins::of(std::uint32_t kernel) const {
  static const std::vector<OriginLine> kNone;
  const auto at = by_kernel_.find(kernel);
  return at == by_kernel_.end() ? kNone : at->second;
}

std::string KernelOrigins::text(std::uint32_t kernel) const {
  constexpr std::size_t kMax = 3;
  const std::vector<OriginLine>& all = of(kernel);
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kMax); ++i)
    out += (i == 0 ? "" : "; ") + all[i].operators + all[i].source.in_brackets();
  if (all.size() > kMax)
    out += "; " + std::to_string(all.size() - kMax) + (all.size() > kMax + 1 ? " more lines" : " more line");
  return out;
}

}  // namespace rangefinder
