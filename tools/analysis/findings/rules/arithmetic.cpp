// SPDX-License-Identifier: Apache-2.0
//
// Rules about what kernels compute with, and what their warps wait for.
#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/queries/kernel_kinds.h"

namespace rangefinder {
namespace {

constexpr const char* kWide = "const float4 words = reinterpret_cast<const float4*>(input)[i];";

constexpr StallAdvice kStallAdvice[] = {
    {"stall_long_scoreboard", "for loads from memory",
     "keep more bytes in flight: coalesce, load wider words or several before their use, prefetch with "
     "cp.async or TMA, and keep what is used again in shared memory",
     kWide},
    {"stall_gmma", "for products of warp groups",
     "keep more than one product of a warp group in flight, and more stages of tiles in shared memory",
     "warpgroup_wait<1>();"},
    {"stall_drain", "for its last stores",
     "coalesce the stores at the end of the kernel, or spread them over its work", kWide},
    {"stall_imc_miss", "for constants",
     "let all threads of a warp read the same constant, and load other values through global memory", ""},
    {"stall_short_scoreboard", "for shared memory or special functions",
     "remove bank conflicts, make fewer and wider accesses to shared memory, and use fewer special functions "
     "(exp, sin, reciprocal)",
     "__shared__ float tile[32][33];"},
    {"stall_wait", "for the fixed latency of instructions",
     "give each thread independent instructions (unroll its loops), or each multiprocessor more warps",
     "#pragma unroll 4"},
    {"stall_barrier", "at barriers",
     "use smaller blocks, give their warps equal work, and do less between barriers",
     "__syncwarp();  // where only one warp shares the data"},
    {"stall_lg_throttle", "for the queue of loads and stores",
     "access wider words instead of several narrow ones, and keep local arrays in registers", kWide},
    {"stall_mio_throttle", "for the queue of shared memory and special functions",
     "make fewer and wider accesses to shared memory, and use fewer special functions and dynamic branches",
     "const float4 words = *reinterpret_cast<const float4*>(&tile[row][column]);"},
    {"stall_membar", "for memory barriers", "use fewer fences, and fences of the block where they are enough",
     "__threadfence_block();"},
    {"stall_no_instruction", "for instructions",
     "make the hot code smaller than the instruction cache: unroll and inline less", "#pragma unroll 1"},
    {"stall_branch_resolving", "for the targets of branches",
     "take branches out of the inner loops: unroll them, or select a value instead", "#pragma unroll"},
    {"stall_dispatch_stall", "for the dispatcher",
     "check the instructions with most samples in Nsight Compute: busy units and conflicts between registers "
     "hold them back",
     ""},
    {"stall_sleeping", "asleep", "sleep for a shorter time, or wait at a barrier object instead",
     "cuda::barrier<cuda::thread_scope_block>"},
    {"stall_tex_throttle", "for the queue of textures",
     "read fewer textures at a time, or read the data by loads from global memory", ""},
};

double peak_of_type(const GpuRecord* gpu, std::string_view type) {
  if (gpu == nullptr) return 0;
  const auto at = std::find_if(gpu->peak_flops.begin(), gpu->peak_flops.end(),
                               [type](const auto& peak) { return peak.first == type; });
  return at == gpu->peak_flops.end() ? 0 : at->second;
}

/// Measured pipes say more than the name. Tensor cores that work in less than 5 % of the cycles do not carry
/// the product; 30 % of the FMA pipe is more than addresses and the softmax of a product on tensor cores
/// take.
bool runs_in_fp32(const std::string& name, const NamedValues& measured) {
  constexpr double kIdleTensor = 5, kBusyFma = 30;
  const auto tensor = measured.value("tensor_pipe"), fma = measured.value("fp32_pipe");
  if (!tensor || !fma) return is_fp32_product(name);
  if (*tensor >= kIdleTensor) return false;
  return is_fp32_product(name) || (keeps_few_warps(name) && *fma >= kBusyFma);
}

struct PeaksOfTypes {
  double fp32 = 0, tf32 = 0;
};

struct Fp32Products {
  std::uint64_t ns = 0, count = 0, heaviest_ns = 0;
  std::uint32_t heaviest = 0;
  double saved_ns = 0;
  void add(const KernelUse& use, const MeasuredKernel& measured, const PeaksOfTypes& peaks) {
    ns += use.total_ns;
    count += use.count;
    const double of_tf32 = peaks.fp32 / peaks.tf32;
    const double stays = std::clamp(measured.dram_share().value_or(0), of_tf32, 1.0);
    // A product that keeps the GPU's pipes busy for 10 % of the time has no more than these to save.
    const double arithmetic = measured.values.value("compute_throughput").value_or(100) / 100;
    saved_ns += static_cast<double>(use.total_ns) * std::min(1 - stays, arithmetic * (1 - of_tf32));
    if (use.total_ns <= heaviest_ns) return;
    heaviest_ns = use.total_ns;
    heaviest = use.name;
  }
};

void add_fp32_math(const FindingContext& context, const Fp32Products& products, const PeaksOfTypes& peaks,
                   const std::map<std::string, std::uint64_t>& modules, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  const auto saved_ns = static_cast<std::uint64_t>(products.saved_ns);
  const double of_time = context.of_gpu(products.ns);
  if (of_time < kMinOfTime || context.of_gpu(saved_ns) < kMinOfTime) return;
  Finding finding{"fp32_math", "", context.of_analysed(products.ns), context.of_analysed(saved_ns)};
  set_modules(context, modules, finding);
  set_kernel(context, products.heaviest, finding);
  finding.effect = finding.where.empty() ? "Matrix products run in FP32 instead of on tensor cores"
                                         : "computes matrix products in FP32 instead of on tensor cores";
  finding.why = "Tensor cores compute " + factor_text(peaks.tf32 / peaks.fp32) + " as fast in TF32, and " +
                percent_text(of_time) +
                " of the GPU time is in these products. The saving assumes that arithmetic limits them; a "
                "memory-bound product saves less.";
  finding.evidence = {evidence_ns("gpu_ns", "GPU time of these kernels", products.ns),
                      evidence_count("kernels", "kernels", products.count),
                      evidence_of_gpu(context, products.ns),
                      evidence_number("fp32_peak_tflops", "FP32 peak in TFLOP/s", peaks.fp32 * 1e-12),
                      evidence_number("tf32_peak_tflops", "TF32 peak in TFLOP/s", peaks.tf32 * 1e-12),
                      evidence_text("basis", "the potential saving assumes a limit by", "arithmetic")};
  const MeasuredKernel& measured = context.kernels.measured(products.heaviest);
  if (const auto dram = measured.dram_share())
    finding.evidence.push_back(evidence_share("dram_peak_share", "share of the DRAM peak", *dram));
  add_measured(finding, measured.values,
               {"tensor_pipe", "fp32_pipe", "compute_throughput", "memory_throughput"});
  finding.next_step = "allow TF32, or compute in FP16 or BF16, and check the result against FP32";
  finding.code = "torch.set_float32_matmul_precision(\"high\")";
  out.push_back(std::move(finding));
}

}  // namespace

std::span<const StallAdvice> stall_advice() noexcept {
  return kStallAdvice;
}

const StallAdvice* find_stall_advice(std::string_view metric) noexcept {
  const auto at = std::find_if(std::begin(kStallAdvice), std::end(kStallAdvice),
                               [metric](const StallAdvice& advice) { return advice.metric == metric; });
  return at == std::end(kStallAdvice) ? nullptr : at;
}

// Matrix products run on the FP32 pipes instead of on tensor cores.
//
// Detected by the kernel's name (sgemm, simt), and where they were measured (`--metrics pipes`) by the pipes:
// a product, convolution or attention with idle tensor cores and a busy FMA pipe. The saving compares the
// GPU's peaks for FP32 and TF32. It holds for a compute-bound product; a memory-bound one saves less: where
// DRAM bytes were measured, their time at the DRAM's peak stays. L1 and L2 traffic depends on the tiles. One
// setting mends all modules, so they are one finding.
void find_fp32_math(const FindingContext& context, std::vector<Finding>& out) {
  const PeaksOfTypes peaks{peak_of_type(context.gpu(), "fp32"), peak_of_type(context.gpu(), "tf32_tensor")};
  if (peaks.fp32 <= 0 || peaks.tf32 <= peaks.fp32) return;  // no TF32 tensor cores, or peaks unknown
  Fp32Products all;
  std::map<std::string, std::uint64_t> modules;
  for (const KernelPlace& place : context.places) {
    const MeasuredKernel& measured = context.kernels.measured(place.use.name);
    if (!runs_in_fp32(context.kernel_name(place.use.name), measured.values)) continue;
    const double before_ns = all.saved_ns;
    all.add(place.use, measured, peaks);
    modules[context.module_text(place.path)] += static_cast<std::uint64_t>(all.saved_ns - before_ns);
  }
  add_fp32_math(context, all, peaks, modules, out);
}

namespace {

/// What keeps a product from its tensor cores.
struct TensorLimit {
  std::string why, next_step, code;
};

TensorLimit limit_by_unit(const NamedValue& throughput, bool memory) {
  TensorLimit out;
  out.why = std::string(throughput.part == nullptr ? throughput.metric->title : throughput.part->title) +
            " holds it, at " + percent_text(throughput.value / 100) + " of its peak.";
  out.next_step = memory
                      ? "move fewer bytes for each product: larger tiles, a larger batch, narrower types, or "
                        "fuse it with its neighbours"
                      : "take work out of the main loop of the product: conversions, exponentials, "
                        "computations of addresses";
  return out;
}

TensorLimit tensor_limit(const MeasuredKernel& measured) {
  for (const char* const name : {"memory_throughput", "compute_throughput"}) {
    const NamedValue* const throughput = measured.values.find(name);
    if (throughput != nullptr && throughput->value >= 100 * kRoofShare)
      return limit_by_unit(*throughput, name == std::string_view("memory_throughput"));
  }
  for (const NamedValue& stall : measured.values.stalls()) {
    const StallAdvice* const advice = find_stall_advice(stall.metric->name);
    if (advice == nullptr) continue;
    return {"Its warps wait " + std::string(advice->waits) + " in " + percent_text(stall.value / 100) +
                " of their time (" + stall.metric->title + "), more than for anything else.",
            advice->fix, advice->code};
  }
  return {"What holds it was not measured.", "measure which unit is busy, and what its warps wait for",
          "rangefinder run --counters exact --metrics speed-of-light,stalls -- PROGRAM"};
}

}  // namespace

// A product, convolution or attention on tensor cores hardly uses them (`--metrics pipes`).
//
// Names what limits it, as far as measured: a unit at 60 % of its peak or more (speed-of-light), else
// what its warps wait for (stalls). Below 20 % of the tensor cores' cycles something else takes most of the
// time. A kernel whose name does not say that it uses them must use them in 1 % of the cycles. There is no
// saving: how much of it a fix returns depends on what limits the kernel. Grids under half a wave are
// grid_under_one_wave's; products that do not use tensor cores are fp32_math's.
bool low_tensor_use_of_kernel(const KernelUse& use, const FindingContext& context,
                              std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.05;
  constexpr double kMaxTensor = 20, kUsesTensor = 1;  // percent of the cycles
  const MeasuredKernel& measured = context.kernels.measured(use.name);
  const auto tensor = measured.values.value("tensor_pipe");
  if (!tensor || *tensor >= kMaxTensor || context.of_gpu(use.total_ns) < kMinOfTime) return false;
  const std::string& name = context.kernel_name(use.name);
  const bool named = product_unit(name).starts_with("tensor");
  if (!named && (*tensor < kUsesTensor || !keeps_few_warps(name))) return false;
  if (context.under_half_a_wave(use)) return false;
  const TensorLimit limit = tensor_limit(measured);
  Finding finding = finding_of_kernel("low_tensor_use", use, context);
  finding.effect =
      kernel_subject(finding) + "uses its tensor cores in " + percent_text(*tensor / 100) + " of the cycles";
  finding.why = "`" + finding.kernel + "` takes " + context.each_text(finding.of_ns) + context.per() +
                ", and its tensor cores work in " + percent_text(*tensor / 100) + " of the cycles. " +
                limit.why;
  finding.evidence = {evidence_ns("gpu_ns", "GPU time", use.total_ns),
                      evidence_of_gpu(context, use.total_ns)};
  add_measured(finding, measured.values,
               {"tensor_pipe", "fp32_pipe", "compute_throughput", "memory_throughput", "achieved_occupancy"});
  finding.next_step = limit.next_step;
  finding.code = limit.code;
  out.push_back(std::move(finding));
  return true;
}

namespace {

/// Mean number of threads of a block's warps; its last warp may be partly empty.
double threads_of_warps(const LaunchConfigRecord* config) {
  constexpr double kWarp = 32;
  if (config == nullptr) return kWarp;
  const std::uint64_t threads = std::uint64_t{config->block.x} * config->block.y * config->block.z;
  const std::uint64_t warps = (threads + 31) / 32;
  return warps == 0 ? kWarp : static_cast<double>(threads) / static_cast<double>(warps);
}

}  // namespace

// Warps execute instructions for few of their 32 threads (`--metrics occupancy`).
//
//   threads per instruction < 24     a quarter of the lanes does nothing
//
// Branches that diverge are the usual cause. Blocks that are no multiple of 32 threads are another: where
// they explain 95 % of the value, the finding says so. The saving holds if instructions limit the kernel; a
// kernel at 60 % of a memory peak or more is not reported, because its lanes wait for bytes.
bool divergence_of_kernel(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02, kWarp = 32, kMinThreads = 24, kExplained = 0.95;
  const MeasuredKernel& measured = context.kernels.measured(use.name);
  const auto threads = measured.values.value("threads_per_instruction");
  if (!threads || *threads >= kMinThreads || context.of_gpu(use.total_ns) < kMinOfTime) return false;
  if (measured.memory_share().value_or(0) >= kRoofShare) return false;
  const double idle = 1 - *threads / kWarp;
  const double in_block = threads_of_warps(context.kernels.config(use.config));
  const bool by_block = *threads >= kExplained * in_block;
  Finding finding = finding_of_kernel("divergence", use, context);
  finding.effect =
      kernel_subject(finding) + "leaves " + percent_text(idle) + " of the lanes of its warps idle";
  finding.saving_ns = static_cast<std::uint64_t>(idle * static_cast<double>(finding.of_ns));
  finding.why = "An instruction of `" + finding.kernel + "` has " + three_digits(*threads) +
                " active threads of 32" +
                (by_block ? ", because its blocks have " + three_digits(in_block) + " threads a warp."
                          : ": branches diverge, or threads end early.") +
                " The saving assumes that instructions limit it.";
  finding.evidence = {
      evidence_number("threads_per_instruction", "active threads of a warp instruction", *threads),
      evidence_share("idle_lanes", "lanes without a thread", idle),
      evidence_number("threads_per_warp", "threads that the blocks have for each warp", in_block),
      evidence_ns("gpu_ns", "GPU time", use.total_ns), evidence_of_gpu(context, use.total_ns)};
  add_measured(finding, measured.values, {"compute_throughput", "memory_throughput", "issue_slots"});
  finding.next_step = by_block ? "choose blocks of a multiple of 32 threads"
                               : "let the threads of a warp take the same branch: sort or compact the work "
                                 "by kind, or select a value instead of a branch";
  if (!by_block) finding.code = "const float y = x > 0 ? a : b;  // a select, no branch";
  out.push_back(std::move(finding));
  return true;
}

namespace {

std::string limits_text(const MeasuredKernel& measured) {
  const auto compute = measured.compute_share(), memory = measured.memory_share();
  if (!compute || !memory) return "Whether a unit limits it was not measured: add --metrics speed-of-light.";
  return "Compute reaches " + percent_text(*compute) + " and memory " + percent_text(*memory) +
         " of a peak, so neither limits it.";
}

}  // namespace

// The warps of a kernel wait for one reason most of the time (`--metrics stalls`).
//
// A stall matters only where no unit is busy: with compute or memory at 60 % of a peak or more, warps wait
// for that unit, and the kernel is as fast as it allows. Reported from 30 % of the warps' time on: a fix that
// halves the stall then returns 15 % of it. Not reported for grids under half a wave: their latency comes
// from the size of the problem (grid_under_one_wave). Of the reasons, the most frequent that a fix exists for
// (stall_advice()).
bool stalls_of_kernel(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  constexpr double kMinStall = 30;  // percent of the time of all resident warps
  const MeasuredKernel& measured = context.kernels.measured(use.name);
  const std::vector<NamedValue> stalls = measured.values.stalls();
  const auto top = std::find_if(stalls.begin(), stalls.end(), [](const NamedValue& stall) {
    return find_stall_advice(stall.metric->name) != nullptr;
  });
  if (top == stalls.end() || top->value < kMinStall || context.of_gpu(use.total_ns) < kMinOfTime)
    return false;
  if (measured.memory_share().value_or(0) >= kRoofShare || measured.compute_share().value_or(0) >= kRoofShare)
    return false;
  if (context.under_half_a_wave(use)) return false;
  const StallAdvice& advice = *find_stall_advice(top->metric->name);
  const std::string share = percent_text(top->value / 100);
  Finding finding = finding_of_kernel("stalls", use, context);
  finding.effect = kernel_subject(finding) + "waits " + advice.waits + " in " + share + " of its warps' time";
  finding.why = top->metric->title + std::string(" is the state of the warps of `") + finding.kernel +
                "` in " + share + " of their time. " + limits_text(measured);
  finding.evidence = {evidence_text("stall", "most frequent reason", top->metric->title),
                      evidence_share("stall_share", "its share of the warps' time", top->value / 100),
                      evidence_ns("gpu_ns", "GPU time", use.total_ns),
                      evidence_of_gpu(context, use.total_ns)};
  add_measured(finding, measured.values,
               {"compute_throughput", "memory_throughput", "issue_slots", "achieved_occupancy"});
  finding.next_step = advice.fix;
  finding.code = advice.code;
  out.push_back(std::move(finding));
  return true;
}

}  // namespace rangefinder
