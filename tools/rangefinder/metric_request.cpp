// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/metric_request.h"

#include <dlfcn.h>

#include <cstdlib>

#include "profiler/counters/metrics/metric_catalog.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "tools/analysis/model/missing.h"
#include "tools/rangefinder/forked_question.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

constexpr char kFault = '!';  // begins the child's answer if the request cannot be served

/// "TURNS REQUEST" for the GPU here; "" without a GPU or a plan; kFault and why it cannot be served.
std::string planned_answer(const std::string& request, const CuptiSearch& search) {
  const CuptiLibrary library = load_metric_library(search);
  const std::string gpu_chip = chip_of_gpu(library.functions);
  const std::string chip = gpu_chip.empty() ? kDefaultChip : gpu_chip;
  const MetricPlan plan = plan_metrics(library.functions, chip, {}, request);
  if (plan.wrong_name) return kFault + plan.error;
  if (gpu_chip.empty() || !plan.error.empty()) return {};
  if (!plan.groups.empty()) return std::to_string(plan.groups.size()) + " " + planned_request(plan);
  return kFault +
         ("this GPU (" + chip + ") can count none of it in one pass; `rangefinder metrics --metrics " +
          request + "` shows why");
}

}  // namespace

CuptiLibrary load_metric_library(const CuptiSearch& search) {
  // cuInit would load the library that this names into this process, which is not to be traced.
  unsetenv("CUDA_INJECTION64_PATH");
  CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti(search, library, failure)) throw Missing(failure.reason);
  preload_counter_library(library);
  return library;
}

std::vector<std::string> known_chips(const CuptiFunctions& cupti) {
  std::vector<std::string> chips;
  if (const CUptiResult result = supported_chips(cupti, chips); result != CUPTI_SUCCESS)
    throw Missing("CUPTI cannot list the chips it knows: " + cupti_result_text(cupti, result));
  return chips;
}

std::string chip_of_gpu(const CuptiFunctions& cupti) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return {};
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  if (init == nullptr || init(0) != CUDA_SUCCESS) return {};
  CUpti_Profiler_Initialize_Params profiler{};
  profiler.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  if (cupti.ProfilerInitialize(&profiler) != CUPTI_SUCCESS) return {};
  CUpti_Device_GetChipName_Params params{};
  params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  if (cupti.DeviceGetChipName(&params) != CUPTI_SUCCESS || params.pChipName == nullptr) return {};
  return params.pChipName;
}

PlannedMetrics plan_metric_request(const std::string& request, const CuptiSearch& search) {
  const Answer answer = ask_in_child([&] { return planned_answer(request, search); });
  if (!answer.arrived || answer.text.empty()) return {request, 0};
  if (answer.text.front() == kFault) throw WrongUse("--metrics: " + answer.text.substr(1));
  const std::size_t blank = answer.text.find(' ');
  return {answer.text.substr(blank + 1), std::stoul(answer.text.substr(0, blank))};
}

}  // namespace rangefinder
