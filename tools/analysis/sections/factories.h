// SPDX-License-Identifier: Apache-2.0
//
// The sections that read lines of their own, a file each.
//
// section.cpp lists them with name and purpose; nobody else has to know more of one than this.
#pragma once

#include <memory>

#include "tools/analysis/tables/section.h"

namespace rangefinder {

/// Everything about one kernel, or about all whose name matches SectionView::name.
[[nodiscard]] std::unique_ptr<Section> make_kernel_section(const SectionView& view);
/// Copies by direction and memory; memsets.
[[nodiscard]] std::unique_ptr<Section> make_memcpy_section(const SectionView& view);
/// Peak and live bytes by path; what was never freed.
[[nodiscard]] std::unique_ptr<Section> make_memory_section(const SectionView& view);
/// What a launch costs on the host and how long it waits for the GPU.
[[nodiscard]] std::unique_ptr<Section> make_launches_section(const SectionView& view);
/// Where host threads waited.
[[nodiscard]] std::unique_ptr<Section> make_sync_section(const SectionView& view);
/// Streams, how they overlap, and where one waited for another.
[[nodiscard]] std::unique_ptr<Section> make_streams_section(const SectionView& view);
/// How much of the time each GPU computed, copied, did both or nothing.
[[nodiscard]] std::unique_ptr<Section> make_gpu_section(const SectionView& view);
/// What was sent to other GPUs and processes, and how much of it nothing else hid.
[[nodiscard]] std::unique_ptr<Section> make_communication_section(const SectionView& view);
/// Where the host was while a GPU had nothing to do.
[[nodiscard]] std::unique_ptr<Section> make_idle_section(const SectionView& view);
/// One row a repetition; outliers. SectionView::name: glob of the range.
[[nodiscard]] std::unique_ptr<Section> make_iterations_section(const SectionView& view);
/// Executable graphs and captures.
[[nodiscard]] std::unique_ptr<Section> make_graphs_section(const SectionView& view);
[[nodiscard]] std::unique_ptr<Section> make_monitor_section(const SectionView& view);
/// What CUDA, CUPTI and recording took for themselves.
[[nodiscard]] std::unique_ptr<Section> make_overhead_section(const SectionView& view);
/// What happened and is not in the trace.
[[nodiscard]] std::unique_ptr<Section> make_loss_section(const SectionView& view);

}  // namespace rangefinder
