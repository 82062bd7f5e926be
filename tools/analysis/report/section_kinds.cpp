// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/section_kinds.h"

#include <algorithm>

namespace rangefinder {

const std::vector<SectionKind>& section_kinds() {
  static const std::vector<SectionKind> kKinds{
      kOverviewSection,   kModulesSection,  kLayersSection,     kKernelsSection, kKernelSection,
      kMetricsSection,    kRooflineSection, kFindingsSection,   kMemcpySection,  kMemorySection,
      kLaunchesSection,   kSyncSection,     kStreamsSection,    kGpuSection,     kCommunicationSection,
      kIdleSection,       kStacksSection,   kIterationsSection, kGraphsSection,  kMonitorSection,
      kConditionsSection, kOverheadSection, kLossSection};
  return kKinds;
}

const SectionKind* find_section(std::string_view name, bool check) {
  if (check && name == kCaptureCheckSection.name) return &kCaptureCheckSection;
  const auto& kinds = section_kinds();
  const auto at =
      std::find_if(kinds.begin(), kinds.end(), [name](const SectionKind& kind) { return kind.name == name; });
  return at == kinds.end() ? nullptr : &*at;
}

}  // namespace rangefinder
