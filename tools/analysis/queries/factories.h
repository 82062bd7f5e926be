// SPDX-License-Identifier: Apache-2.0
//
// The sections that read trace lines themselves, one file each.
//
// section_kinds.cpp lists them with name and purpose. Other code needs only these factories.
#pragma once

#include <memory>

#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/tables/section.h"

namespace rangefinder {

// What the sections read of rows.
inline constexpr Columns kHostCallColumns =
    Column::syncs | Column::allocs | Column::events | Column::captures | Column::launch_times;
inline constexpr Columns kModulesColumns = Column::launch_path | Column::launch_thread;
inline constexpr Columns kKernelsColumns =
    Column::work_times | Column::work_place | Column::work_name | Column::work_config;
inline constexpr Columns kKernelColumns = kKernelsColumns | Column::work_path | Column::exact;
inline constexpr Columns kMetricsColumns = Column::exact;
inline constexpr Columns kMemcpyColumns = Column::work_times | Column::copies;
inline constexpr Columns kMemoryColumns = kHostCallColumns;
inline constexpr Columns kLaunchesColumns =
    Column::work_times | Column::work_correlation | Column::launch_times | Column::launch_thread |
    Column::launch_path | Column::launch_call | Column::launch_correlation;
inline constexpr Columns kSyncColumns = kHostCallColumns | Column::launch_thread | Column::launch_path |
                                        Column::launch_call | Column::range_times | Column::range_thread;
inline constexpr Columns kGpuColumns = Column::work_times | Column::work_place;
inline constexpr Columns kStreamsColumns = kGpuColumns | Column::work_correlation | Column::events |
                                           Column::launch_times | Column::launch_call |
                                           Column::launch_correlation;
inline constexpr Columns kGraphsColumns = Column::work_times | Column::work_correlation | Column::work_graph |
                                          Column::captures | Column::launch_times | Column::launch_thread |
                                          Column::launch_call | Column::launch_correlation;
inline constexpr Columns kIdleColumns = kHostCallColumns | Column::launch_thread | Column::launch_context |
                                        Column::range_times | Column::range_thread | Column::range_path;

/// What ran, one iteration, where its time went, findings, and the upper modules.
[[nodiscard]] std::unique_ptr<Section> make_overview_section(const SectionView& view);
/// All data of one kernel, or of all kernels whose name matches SectionView::name.
[[nodiscard]] std::unique_ptr<Section> make_kernel_section(const SectionView& view);
/// Named metrics of every module and kernel.
[[nodiscard]] std::unique_ptr<Section> make_metrics_section(const SectionView& view);
/// FLOP per byte, attained rate and roof of every module.
[[nodiscard]] std::unique_ptr<Section> make_roofline_section(const SectionView& view);
/// Copies by direction and memory; memsets.
[[nodiscard]] std::unique_ptr<Section> make_memcpy_section(const SectionView& view);
/// Peak and live bytes by path; memory that was never freed.
[[nodiscard]] std::unique_ptr<Section> make_memory_section(const SectionView& view);
/// Host cost of launches, and how long they wait for the GPU.
[[nodiscard]] std::unique_ptr<Section> make_launches_section(const SectionView& view);
/// Where host threads waited.
[[nodiscard]] std::unique_ptr<Section> make_sync_section(const SectionView& view);
/// Streams, their overlap, and waits of one stream for another.
[[nodiscard]] std::unique_ptr<Section> make_streams_section(const SectionView& view);
/// Shares of the time in which each GPU computed, copied, did both or was idle.
[[nodiscard]] std::unique_ptr<Section> make_gpu_section(const SectionView& view);
/// Communication with other GPUs and processes, and its exposed time.
[[nodiscard]] std::unique_ptr<Section> make_communication_section(const SectionView& view);
/// Idle time of GPUs, by the host's range at the time.
[[nodiscard]] std::unique_ptr<Section> make_idle_section(const SectionView& view);
/// One row per iteration; outliers. SectionView::name: glob of the range.
[[nodiscard]] std::unique_ptr<Section> make_iterations_section(const SectionView& view);
/// Executable graphs and captures.
[[nodiscard]] std::unique_ptr<Section> make_graphs_section(const SectionView& view);
/// Calls that prevent the capture of CUDA graphs: `graphs` with SectionView::check.
[[nodiscard]] std::unique_ptr<Section> make_capture_check_section(const SectionView& view);
[[nodiscard]] std::unique_ptr<Section> make_monitor_section(const SectionView& view);
/// Time that CUDA, CUPTI and recording took.
[[nodiscard]] std::unique_ptr<Section> make_overhead_section(const SectionView& view);
/// Events that are missing from the trace, by cause.
[[nodiscard]] std::unique_ptr<Section> make_loss_section(const SectionView& view);

}  // namespace rangefinder
