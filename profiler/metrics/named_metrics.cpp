// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/named_metrics.h"

#include <algorithm>
#include <array>

namespace rangefinder {
namespace {

using enum MetricTopic;
using enum MetricForm;
using enum Better;

constexpr bool kOptional = true;

// Parts of the compute throughput, as in Nsight's breakdown of sm__throughput. Not in it: sm__mio_inst_issued
// and the internal activity, which take more than one pass, and sm__inst_executed_pipe_adu, whose count in
// one pass was 1.1 to 1.4 times ncu's for four of 18 kernels (H100).
constexpr MetricInput kComputeParts[] = {
    {"sm__issue_active", "issue slots"},
    {"sm__pipe_tensor_cycles_active", "tensor pipe"},
    {"sm__pipe_fma_cycles_active", "FMA pipe"},
    {"sm__pipe_alu_cycles_active", "ALU pipe"},
    {"sm__inst_executed_pipe_xu", "XU pipe"},
    {"sm__pipe_fp64_cycles_active", "FP64 pipe"},
    {"sm__inst_executed_pipe_lsu", "LSU pipe"},
    {"sm__inst_executed_pipe_uniform", "uniform pipe"},
    {"sm__pipe_fmaheavy_cycles_active", "FMA heavy pipe", kOptional},
    {"sm__mio_pq_read_cycles_active", "MIO queue reads"},
};

#define L1_PARTS                                                                                            \
  {"l1tex__data_pipe_lsu_wavefronts", "L1 wavefronts"}, {"l1tex__lsuin_requests", "L1 requests"},           \
      {"l1tex__m_xbar2l1tex_read_sectors", "L2 to L1"},                                                     \
      {"l1tex__m_l1tex2xbar_req_cycles_active", "L1 to L2"}, {"l1tex__data_bank_reads", "L1 bank reads"}, { \
    "l1tex__data_bank_writes", "L1 bank writes"                                                             \
  }
#define L2_PARTS                                                                  \
  {"lts__t_sectors", "L2 sectors"}, {"lts__t_tag_requests", "L2 tag lookups"},    \
      {"lts__d_sectors", "L2 data"}, {"lts__xbar2lts_cycles_active", "SM to L2"}, \
      {"lts__lts2xbar_cycles_active", "L2 to SM", kOptional}, {                   \
    "lts__d_sectors_fill_device", "L2 fills from DRAM", kOptional                 \
  }
#define DRAM_PARTS \
  { "dram__bytes", "DRAM" }

constexpr MetricInput kL1Parts[] = {L1_PARTS};
constexpr MetricInput kL2Parts[] = {L2_PARTS};
constexpr MetricInput kDramParts[] = {DRAM_PARTS};
constexpr MetricInput kMemoryParts[] = {{"dram__bytes", "DRAM", kOptional}, L2_PARTS, L1_PARTS};
#undef L1_PARTS
#undef L2_PARTS
#undef DRAM_PARTS

template <std::size_t kCount>
using Inputs = std::array<MetricInput, kCount>;

constexpr Inputs<1> kWarpsActive{{{"sm__warps_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kIssueActive{{{"sm__issue_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kInstructions{{{"sm__inst_executed.sum"}}};
constexpr Inputs<1> kSmCycles{{{"sm__cycles_active.sum"}}};
constexpr Inputs<1> kThreadInstructions{{{"smsp__thread_inst_executed.sum"}}};
constexpr Inputs<1> kWarpInstructions{{{"smsp__inst_executed.sum"}}};

constexpr Inputs<1> kL1Hits{{{"l1tex__t_sectors_lookup_hit.sum"}}};
constexpr Inputs<1> kL1Sectors{{{"l1tex__t_sectors.sum"}}};
constexpr Inputs<1> kL2Hits{{{"lts__t_sectors_lookup_hit.sum"}}};
constexpr Inputs<2> kL2Lookups{{{"lts__t_sectors_lookup_hit.sum"}, {"lts__t_sectors_lookup_miss.sum"}}};
constexpr Inputs<1> kLoadSectors{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}}};
constexpr Inputs<1> kLoadRequests{{{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}}};
constexpr Inputs<1> kStoreSectors{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}}};
constexpr Inputs<1> kStoreRequests{{{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}}};
constexpr Inputs<2> kConflicts{{{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
                                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}}};
constexpr Inputs<2> kSharedRequests{
    {{"smsp__inst_executed_op_shared_ld.sum"}, {"smsp__inst_executed_op_shared_st.sum"}}};
constexpr Inputs<1> kSharedWavefronts{{{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}}};
constexpr Inputs<2> kLocalSectors{
    {{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"}, {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}}};

constexpr Inputs<1> kTensor{{{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kFma{{{"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<2> kFp16{
    {{"sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active", "", kOptional},
     {"sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "", kOptional}}};
constexpr Inputs<1> kFp64{{{"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kAlu{{{"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kLsu{{{"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"}}};
constexpr Inputs<1> kXu{{{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"}}};

// FLOP by type. Names of tensor metrics differ by chip; CUPTI counts a multiply-add as two. Thread
// instructions by pipe, not by operation: metrics such as smsp__sass_thread_inst_executed_op_ffma_pred_on
// need patched code and a pass of their own on every chip, without the time.
constexpr MetricInput kOperations[] = {
    {"sm__ops_path_tensor_src_fp16.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "", kOptional},
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", kOptional},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp8.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp4_dst_fp32.sum", "", kOptional},
    {"sm__ops_path_tensor_src_int8.sum", "", kOptional},
    {"sm__ops_path_tensor_src_fp64.sum", "", kOptional},
    {"smsp__thread_inst_executed_pipe_fma_pred_on.sum"},
    {"smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum", "", kOptional},
    {"smsp__thread_inst_executed_pipe_fp16_pred_on.sum", "", kOptional},
    {"smsp__thread_inst_executed_pipe_fp64_pred_on.sum"},
};

// Warp-cycles by reason. Shares of their sum equal shares of the ratios per issued instruction that Nsight
// Compute shows. They add up over launches, and take 6 groups instead of 9 on GH100.
#define STALLED(reason) "smsp__warps_issue_stalled_" #reason ".sum"
constexpr MetricInput kWarpCycles[] = {
    {STALLED(long_scoreboard)},
    {STALLED(gmma), "", kOptional},
    {STALLED(drain)},
    {STALLED(imc_miss)},
    {STALLED(short_scoreboard)},
    {STALLED(wait)},
    {STALLED(selected)},
    {STALLED(not_selected)},
    {STALLED(barrier)},
    {STALLED(math_pipe_throttle)},
    {STALLED(lg_throttle)},
    {STALLED(mio_throttle)},
    {STALLED(membar)},
    {STALLED(no_instruction)},
    {STALLED(branch_resolving)},
    {STALLED(dispatch_stall)},
    {STALLED(sleeping)},
    {STALLED(tex_throttle), "", kOptional},
    {STALLED(misc)},
};
#undef STALLED

constexpr NamedMetric stall(const char* name, const char* title, std::size_t at, Better better,
                            const char* meaning) {
  return {name,        title,  title,  "%", stalls, ratio, 100, std::span(kWarpCycles).subspan(at, 1),
          kWarpCycles, better, meaning};
}

constexpr NamedMetric kMetrics[] = {
    {"compute_throughput",
     "compute throughput",
     "compute",
     "%",
     speed_of_light,
     peak_share,
     100,
     kComputeParts,
     {},
     higher,
     "How near the multiprocessors are to their limits: the busiest of the listed pipes and queues, over the "
     "GPU time. Nsight Compute adds two parts that take several passes."},
    {"memory_throughput",
     "memory throughput",
     "memory",
     "%",
     speed_of_light,
     peak_share,
     100,
     kMemoryParts,
     {},
     higher,
     "How near L1, L2 and DRAM are to their limits: the busiest of the listed parts, over the GPU time."},
    {"l1_throughput",
     "L1 throughput",
     "L1",
     "%",
     speed_of_light,
     peak_share,
     100,
     kL1Parts,
     {},
     higher,
     "The busiest part of the L1 and shared memory, over the GPU time. Nsight Compute shows it over the "
     "cycles in which a multiprocessor was active."},
    {"l2_throughput",
     "L2 throughput",
     "L2",
     "%",
     speed_of_light,
     peak_share,
     100,
     kL2Parts,
     {},
     higher,
     "The busiest listed part of the L2, over the GPU time. Nsight Compute adds internal activity, which has "
     "no name and shares no pass: its value is higher where DRAM is busy."},
    {"dram_throughput",
     "DRAM throughput",
     "DRAM",
     "%",
     speed_of_light,
     peak_share,
     100,
     kDramParts,
     {},
     higher,
     "Bytes read and written over the DRAM's peak at its clock, over the GPU time."},

    {"l1_hit_rate", "L1 hit rate", "L1 hits", "%", memory, ratio, 100, kL1Hits, kL1Sectors, higher,
     "Sectors found in the L1, of all that were looked up there."},
    {"l2_hit_rate", "L2 hit rate", "L2 hits", "%", memory, ratio, 100, kL2Hits, kL2Lookups, higher,
     "Sectors found in the L2, of all that were looked up there. Hits and misses are counted in different "
     "launches, in turn."},
    {"load_sectors_per_request", "sectors per load", "sectors/load", "sectors", memory, ratio, 1,
     kLoadSectors, kLoadRequests, lower,
     "Sectors of 32 bytes for each load of a warp from global memory: 4 for neighbouring words of 4 bytes, "
     "16 "
     "for words of 16 bytes, 32 if each thread is in a sector of its own."},
    {"store_sectors_per_request", "sectors per store", "sectors/store", "sectors", memory, ratio, 1,
     kStoreSectors, kStoreRequests, lower,
     "The same for stores. A counter range adds one store of its own to each launch."},
    {"load_bytes_used", "load bytes used", "loads used", "%", memory, ratio, 400, kLoadRequests, kLoadSectors,
     higher,
     "Share of the bytes moved by loads that the threads requested, if each thread loads a word of 4 bytes: "
     "4 "
     "sectors over those measured. With words of 8 bytes it is twice the value, with 16 bytes four times."},
    {"store_bytes_used", "store bytes used", "stores used", "%", memory, ratio, 400, kStoreRequests,
     kStoreSectors, higher, "The same for stores."},
    {"shared_conflicts_per_request", "bank conflicts per request", "conflicts", "cycles", memory, ratio, 1,
     kConflicts, kSharedRequests, lower,
     "Extra cycles of shared memory for each load or store instruction of a warp; 31 if all threads of a "
     "warp "
     "use different words of one bank."},
    {"local_bytes",
     "local memory",
     "local",
     "bytes",
     memory,
     sum,
     32,
     kLocalSectors,
     {},
     lower,
     "Bytes of local memory that moved through the L1: spilled registers, and arrays indexed at run time."},
    {"l1_bytes",
     "L1 bytes",
     "L1 bytes",
     "bytes",
     memory,
     sum,
     32,
     kL1Sectors,
     {},
     lower,
     "Bytes looked up in the L1, in sectors of 32 bytes, without shared memory."},
    {"shared_bytes",
     "shared-memory bytes",
     "shared",
     "bytes",
     memory,
     sum,
     128,
     kSharedWavefronts,
     {},
     lower,
     "128 bytes for each wavefront of shared memory: what it could have moved in that time, an upper bound."},

    {"achieved_occupancy",
     "achieved occupancy",
     "occupancy",
     "%",
     occupancy,
     first,
     1,
     kWarpsActive,
     {},
     higher,
     "Resident warps of a multiprocessor, of the most that it can hold, while it has any."},
    {"issue_slots",
     "issue slots used",
     "issue",
     "%",
     occupancy,
     first,
     1,
     kIssueActive,
     {},
     higher,
     "Cycles in which a scheduler issued an instruction, while its multiprocessor has warps."},
    {"ipc", "IPC", "IPC", "instructions/cycle", occupancy, ratio, 1, kInstructions, kSmCycles, higher,
     "Warp instructions that a multiprocessor executes in a cycle, while it has warps; the most is 4."},
    {"threads_per_instruction", "threads per instruction", "threads", "threads", occupancy, ratio, 1,
     kThreadInstructions, kWarpInstructions, higher,
     "Active threads of a warp instruction, of 32: fewer where branches diverge. It stands for Nsight's "
     "branch "
     "efficiency, which needs patched code."},

    {"tensor_pipe",
     "tensor cores",
     "tensor",
     "%",
     pipes,
     first,
     1,
     kTensor,
     {},
     higher,
     "Cycles in which the tensor cores of a multiprocessor work, while it has warps."},
    {"fp32_pipe",
     "FP32 (FMA) pipe",
     "FP32",
     "%",
     pipes,
     first,
     1,
     kFma,
     {},
     neither,
     "The same for the FMA pipe, which computes FP32 and integer multiplications, and from compute "
     "capability "
     "8.6 on packed FP16."},
    {"fp16_pipe",
     "FP16 pipe",
     "FP16",
     "%",
     pipes,
     first,
     1,
     kFp16,
     {},
     neither,
     "Packed half-precision instructions, of the highest rate at which they could be issued."},
    {"fp64_pipe",
     "FP64 pipe",
     "FP64",
     "%",
     pipes,
     first,
     1,
     kFp64,
     {},
     neither,
     "The same for the FP64 pipe."},
    {"alu_pipe",
     "integer (ALU) pipe",
     "ALU",
     "%",
     pipes,
     first,
     1,
     kAlu,
     {},
     neither,
     "The same for the ALU: integer and logic instructions, comparisons, conversions. Integer "
     "multiplications "
     "are in the FMA pipe."},
    {"lsu_pipe",
     "load/store (LSU) pipe",
     "LSU",
     "%",
     pipes,
     first,
     1,
     kLsu,
     {},
     neither,
     "Instructions of loads, stores and shared memory, of the highest rate."},
    {"xu_pipe",
     "transcendental (XU) pipe",
     "XU",
     "%",
     pipes,
     first,
     1,
     kXu,
     {},
     neither,
     "Instructions such as exp, sin, reciprocal and conversions, of the highest rate."},

    {"flops",
     "FLOP/s",
     "FLOP/s",
     "FLOP/s",
     roofline,
     flop,
     1,
     kOperations,
     {},
     higher,
     "Floating-point operations per second, a multiply-add counting as two. Those of the FMA pipe are an "
     "upper "
     "bound: it counts instructions, so additions and integer multiplications count as multiply-adds."},
    {"flop_per_byte",
     "FLOP per DRAM byte",
     "FLOP/byte",
     "FLOP/byte",
     roofline,
     flop,
     1,
     kOperations,
     {},
     neither,
     "Those operations over the DRAM bytes read and written: the x axis of the roofline."},

    stall("stall_long_scoreboard", "Long Scoreboard", 0, lower,
          "Waits for a load from L1, L2, DRAM, local or texture memory."),
    stall("stall_gmma", "GMMA", 1, lower, "Waits for a tensor core product of a warp group."),
    stall("stall_drain", "Drain", 2, lower, "Waits at the end of the program for stores to be accepted."),
    stall("stall_imc_miss", "IMC Miss", 3, lower, "Waits for a constant that is not in the cache."),
    stall("stall_short_scoreboard", "Short Scoreboard", 4, lower,
          "Waits for shared memory, or for a special function."),
    stall("stall_wait", "Wait", 5, lower, "Waits the fixed latency of the instruction before."),
    stall("stall_selected", "Selected", 6, higher, "Issued an instruction; no stall."),
    stall("stall_not_selected", "Not Selected", 7, neither, "Could issue; another warp did."),
    stall("stall_barrier", "Barrier", 8, lower, "Waits for other warps at a barrier."),
    stall("stall_math_pipe_throttle", "Math Pipe Throttle", 9, lower, "Waits for an arithmetic pipe."),
    stall("stall_lg_throttle", "LG Throttle", 10, lower,
          "Waits for a place in the queue of local and global loads and stores."),
    stall("stall_mio_throttle", "MIO Throttle", 11, lower,
          "Waits for the queue of shared memory and special functions."),
    stall("stall_membar", "Membar", 12, lower, "Waits for a memory barrier."),
    stall("stall_no_instruction", "No Instruction", 13, lower,
          "Waits for its next instruction: a jump, or a cache miss of the code."),
    stall("stall_branch_resolving", "Branch Resolving", 14, lower, "Waits for the target of a branch."),
    stall("stall_dispatch_stall", "Dispatch Stall", 15, lower,
          "Waits because the dispatcher holds the instruction back."),
    stall("stall_sleeping", "Sleeping", 16, lower, "All threads of the warp sleep (nanosleep)."),
    stall("stall_tex_throttle", "Tex Throttle", 17, lower, "Waits for a place in the queue of textures."),
    stall("stall_misc", "Misc", 18, lower, "Other reasons."),
};

}  // namespace

std::span<const NamedMetric> named_metrics() noexcept {
  return kMetrics;
}

const char* topic_name(MetricTopic topic) noexcept {
  constexpr std::array kNames{"speed-of-light", "memory", "occupancy", "pipes", "stalls", "roofline"};
  return kNames[static_cast<std::size_t>(topic)];
}

const NamedMetric* find_named_metric(std::string_view name) noexcept {
  const auto at = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                               [name](const NamedMetric& metric) { return metric.name == name; });
  return at == std::end(kMetrics) ? nullptr : at;
}

}  // namespace rangefinder
