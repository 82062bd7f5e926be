// SPDX-License-Identifier: Apache-2.0
//
// Which kernels communicate: they move data between GPUs, or wait for another GPU. By name, as a trace does
// not show it otherwise.
//
//   "void vllm::cross_device_reduce_2stage<…>(…)"  ─▶ library "vLLM", operation "AllReduce"
//
// This is the only such table: for kernel_name lines (profiler/output), for kernels that exact counters
// must not measure (ExactFilter), and for reports, so that it holds for older traces too. Users add names by
// --communication. A name does not tell the protocol or the reduction: NCCL launches one kernel for several.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rangefinder {

struct CommunicationKernel {
  std::string_view from_library;  ///< "NCCL", "NVSHMEM", "vLLM", …; "symmetric memory": PyTorch's, or like it
  std::string evidence;           ///< "name starts with ncclDevKernel"
  std::string operation;          ///< "AllReduce"; the function's name, if that does not tell
};

/// The value of `library` in a kernel_name line for kernels that --communication names.
inline constexpr std::string_view kNamedCommunication = "communication";

/// "void a::(anonymous namespace)::f<b::c>(int)" ─▶ "a::(anonymous namespace)::f": template arguments and
/// parameters are what a kernel works on, not what it does.
[[nodiscard]] std::string qualified_name(std::string_view demangled);
/// nullopt: the kernel does not communicate, as far as its name tells.
[[nodiscard]] std::optional<CommunicationKernel> communication_kernel(std::string_view demangled);
/// What the function's name tells of any kernel that is known to communicate, as in CommunicationKernel.
[[nodiscard]] std::string communication_operation(std::string_view demangled);

}  // namespace rangefinder
