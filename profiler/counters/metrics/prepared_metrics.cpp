// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/prepared_metrics.h"

#include <dlfcn.h>
#include <nvperf_host.h>

#include <utility>

namespace rangefinder {
namespace {

// As declared in nvperf_device_host.h of the Nsight Perf SDK. CUPTI 13.0 passes the same sizes.
struct DeviceScratchParams {
  std::size_t structSize = sizeof(DeviceScratchParams);
  void* pPriv = nullptr;
  const char* pChipName = nullptr;
  std::size_t scratchBufferSize = 0;  // out
};
struct DeviceInitializeParams {
  std::size_t structSize = sizeof(DeviceInitializeParams);
  void* pPriv = nullptr;
  std::uint8_t* pScratchBuffer = nullptr;
  std::size_t scratchBufferSize = 0;
  const char* pChipName = nullptr;
  const std::uint8_t* pCounterDataImage = nullptr;  // alternative to the chip's name
  std::size_t counterDataImageSize = 0;
  NVPW_MetricsEvaluator* pMetricsEvaluator = nullptr;  // out
};

}  // namespace

struct PreparedMetrics::Library {
  NVPA_Status (*initialize_host)(NVPW_InitializeHost_Params*);
  NVPA_Status (*scratch_size)(DeviceScratchParams*);
  NVPA_Status (*initialize)(DeviceInitializeParams*);
  NVPA_Status (*destroy)(NVPW_MetricsEvaluator_Destroy_Params*);
  NVPA_Status (*find)(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params*);
  NVPA_Status (*set_device)(NVPW_MetricsEvaluator_SetDeviceAttributes_Params*);
  NVPA_Status (*evaluate)(NVPW_MetricsEvaluator_EvaluateToGpuValues_Params*);

  /// The library instance that libcupti has loaded, or nullptr.
  static const Library* get() {
    static const Library* const loaded = [] {
      static Library library;
      void* const handle = dlopen("libnvperf_host.so", RTLD_LAZY | RTLD_NOLOAD);
      const auto resolve = [handle](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        return function != nullptr;
      };
      const bool complete =
          handle != nullptr && resolve(library.initialize_host, "NVPW_InitializeHost") &&
          resolve(library.scratch_size, "NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize") &&
          resolve(library.initialize, "NVPW_Device_MetricsEvaluator_Initialize") &&
          resolve(library.destroy, "NVPW_MetricsEvaluator_Destroy") &&
          resolve(library.find, "NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest") &&
          resolve(library.set_device, "NVPW_MetricsEvaluator_SetDeviceAttributes") &&
          resolve(library.evaluate, "NVPW_MetricsEvaluator_EvaluateToGpuValues");
      return complete ? &library : nullptr;
    }();
    return loaded;
  }
};

struct PreparedMetrics::Evaluator {
  NVPW_MetricsEvaluator* handle = nullptr;
  std::vector<NVPW_MetricEvalRequest> requests;
  bool knows_device = false;
};

PreparedMetrics::PreparedMetrics(const Library& library)
    : library_(library), evaluator_(std::make_unique<Evaluator>()) {}

PreparedMetrics::~PreparedMetrics() {
  if (evaluator_->handle == nullptr) return;
  NVPW_MetricsEvaluator_Destroy_Params params{NVPW_MetricsEvaluator_Destroy_Params_STRUCT_SIZE, nullptr,
                                              evaluator_->handle};
  library_.destroy(&params);
}

std::unique_ptr<PreparedMetrics> PreparedMetrics::make(const std::string& chip,
                                                       std::span<const char* const> names) {
  const Library* const library = Library::get();
  if (library == nullptr) return nullptr;
  NVPW_InitializeHost_Params host{NVPW_InitializeHost_Params_STRUCT_SIZE, nullptr};
  DeviceScratchParams scratch;
  scratch.pChipName = chip.c_str();
  if (library->initialize_host(&host) != NVPA_STATUS_SUCCESS ||
      library->scratch_size(&scratch) != NVPA_STATUS_SUCCESS)
    return nullptr;

  std::unique_ptr<PreparedMetrics> made(new PreparedMetrics(*library));
  made->scratch_.resize(scratch.scratchBufferSize);
  DeviceInitializeParams init;
  init.pScratchBuffer = made->scratch_.data();
  init.scratchBufferSize = made->scratch_.size();
  init.pChipName = chip.c_str();
  if (library->initialize(&init) != NVPA_STATUS_SUCCESS) return nullptr;
  Evaluator& evaluator = *made->evaluator_;
  evaluator.handle = init.pMetricsEvaluator;

  for (const char* const name : names) {
    NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params find{};
    find.structSize = NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params_STRUCT_SIZE;
    find.pMetricsEvaluator = evaluator.handle;
    find.pMetricName = name;
    find.pMetricEvalRequest = &evaluator.requests.emplace_back();
    find.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    if (library->find(&find) != NVPA_STATUS_SUCCESS) return nullptr;
  }
  return made;
}

bool PreparedMetrics::evaluate(std::span<const std::uint8_t> image, std::size_t sample,
                               std::span<double> values) {
  Evaluator& evaluator = *evaluator_;
  if (values.size() < evaluator.requests.size()) return false;
  if (!std::exchange(evaluator.knows_device, true)) {
    NVPW_MetricsEvaluator_SetDeviceAttributes_Params device{};
    device.structSize = NVPW_MetricsEvaluator_SetDeviceAttributes_Params_STRUCT_SIZE;
    device.pMetricsEvaluator = evaluator.handle;
    device.pCounterDataImage = image.data();
    device.counterDataImageSize = image.size();
    if (library_.set_device(&device) != NVPA_STATUS_SUCCESS) return false;
  }
  NVPW_MetricsEvaluator_EvaluateToGpuValues_Params params{};
  params.structSize = NVPW_MetricsEvaluator_EvaluateToGpuValues_Params_STRUCT_SIZE;
  params.pMetricsEvaluator = evaluator.handle;
  params.pMetricEvalRequests = evaluator.requests.data();
  params.numMetricEvalRequests = evaluator.requests.size();
  params.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
  params.metricEvalRequestStrideSize = sizeof(NVPW_MetricEvalRequest);
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = sample;
  params.pMetricValues = values.data();
  return library_.evaluate(&params) == NVPA_STATUS_SUCCESS;
}

}  // namespace rangefinder
