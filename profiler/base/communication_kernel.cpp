// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/communication_kernel.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace rangefinder {
namespace {

enum class Match {
  function,  ///< the function's own name starts with it
  contains   ///< the name with its namespaces contains it
};

struct Pattern {
  Match match;
  std::string_view text;
  std::string_view from_library;
};

// The first match counts. Sources: kernels of NCCL 2.18 to 2.28, PyTorch 2.11, vLLM, SGLang, FlashInfer,
// TensorRT-LLM, MSCCL++, DeepEP, Transformer Engine and XLA.
constexpr std::array kPatterns{
    Pattern{Match::function, "ncclDevKernel", "NCCL"},
    Pattern{Match::function, "ncclKernel", "NCCL"},
    Pattern{Match::function, "ncclSymkDevKernel", "NCCL"},
    Pattern{Match::function, "ncclSymDevKernel", "NCCL"},
    Pattern{Match::contains, "nvshmem", "NVSHMEM"},
    Pattern{Match::contains, "symmetric_memory::", "symmetric memory"},
    Pattern{Match::contains, "intra_node_comm::", "symmetric memory"},
    Pattern{Match::contains, "vllm::cross_device_reduce", "vLLM"},
    Pattern{Match::contains, "sglang::cross_device_reduce", "SGLang"},
    Pattern{Match::function, "cross_device_reduce", "vLLM"},
    Pattern{Match::contains, "mscclpp", "MSCCL++"},
    Pattern{Match::contains, "deep_ep::", "DeepEP"},
    Pattern{Match::contains, "userbuffers", "Transformer Engine"},
    Pattern{Match::contains, "tensorrt_llm::kernels::ar_fusion", "TensorRT-LLM"},
    Pattern{Match::contains, "flashinfer::trtllm_allreduce", "FlashInfer"},
    Pattern{Match::contains, "flashinfer::trtllm_mnnvl_allreduce", "FlashInfer"},
    Pattern{Match::contains, "stream_executor::gpu::AllReduce", "XLA"},
    Pattern{Match::contains, "stream_executor::gpu::RaggedAllToAll", "XLA"},
    Pattern{Match::function, "one_shot_", "symmetric memory"},
    Pattern{Match::function, "two_shot_", "symmetric memory"},
    Pattern{Match::function, "multimem_", "symmetric memory"},
    // The same operations by other writers.
    Pattern{Match::function, "oneShotAllReduce", kNamedCommunication},
    Pattern{Match::function, "twoShotAllReduce", kNamedCommunication},
    Pattern{Match::function, "oneshotAllreduce", kNamedCommunication},
    Pattern{Match::function, "twoshotAllreduce", kNamedCommunication},
    Pattern{Match::function, "all_reduce_", kNamedCommunication},
    Pattern{Match::function, "allreduce_", kNamedCommunication},
    Pattern{Match::function, "AllReduce", kNamedCommunication},
    Pattern{Match::function, "allReduce", kNamedCommunication},
    Pattern{Match::function, "all_gather_", kNamedCommunication},
    Pattern{Match::function, "allgather_", kNamedCommunication},
    Pattern{Match::function, "reduce_scatter_", kNamedCommunication},
    Pattern{Match::function, "all_to_all_", kNamedCommunication},
};

std::string_view function_in(std::string_view qualified) {
  const std::size_t colons = qualified.rfind("::");
  return colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
}

std::string operation_in(std::string_view function) {
  constexpr std::array<std::pair<std::string_view, const char*>, 10> kOperations{
      {{"allreduce", "AllReduce"},
       {"crossdevicereduce", "AllReduce"},
       {"allgather", "AllGather"},
       {"reducescatter", "ReduceScatter"},
       {"alltoall", "AlltoAll"},
       {"sendrecv", "SendRecv"},
       {"broadcast", "Broadcast"},
       {"barrier", "Barrier"},
       {"generic", ""},
       {"kernelreduce", "Reduce"}}};
  std::string plain;  // lower case, without '_'
  for (const char c : function) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto* const known = std::find_if(kOperations.begin(), kOperations.end(), [&plain](const auto& one) {
    return plain.find(one.first) != std::string::npos;
  });
  return known == kOperations.end() ? std::string(function) : known->second;
}

}  // namespace

std::string qualified_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  if (demangled.starts_with("void ")) demangled.remove_prefix(5);
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '<') ++depth;
    if (depth == 0 && c == '(') {
      if (!demangled.substr(i).starts_with(kAnonymous)) break;
      out += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (depth == 0) {
      out += c;
    }
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

std::optional<CommunicationKernel> communication_kernel(std::string_view demangled) {
  const std::string qualified = qualified_name(demangled);
  const std::string_view function = function_in(qualified);
  for (const Pattern& pattern : kPatterns) {
    const bool contains = pattern.match == Match::contains;
    if (contains ? qualified.find(pattern.text) == std::string::npos : !function.starts_with(pattern.text))
      continue;
    return CommunicationKernel{
        pattern.from_library,
        std::string(contains ? "name contains " : "name starts with ") + std::string(pattern.text),
        operation_in(function)};
  }
  return {};
}

std::string communication_operation(std::string_view demangled) {
  return operation_in(function_in(qualified_name(demangled)));
}

}  // namespace rangefinder
