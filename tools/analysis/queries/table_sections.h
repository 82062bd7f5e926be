// SPDX-License-Identifier: Apache-2.0
//
// The sections that use the totals of the trace: the tree of modules, their forward and backward passes, and
// the kernels by name.
#pragma once

#include <memory>

#include "tools/analysis/queries/factories.h"

namespace rangefinder {

/// With SectionView::total that of make_total_section().
[[nodiscard]] std::unique_ptr<Section> make_modules_section(const SectionView& view);
/// The selected paths as one row. Reads the work of each iteration too.
[[nodiscard]] std::unique_ptr<Section> make_total_section(const SectionView& view);
[[nodiscard]] std::unique_ptr<Section> make_layers_section(const SectionView& view);
/// Reads the kernel lines too, for median and 95th percentile.
[[nodiscard]] std::unique_ptr<Section> make_kernels_section(const SectionView& view);

}  // namespace rangefinder
