// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "profiler/conditions/condition_value.h"
#include "profiler/conditions/gpu_conditions.h"
#include "profiler/conditions/nvml_functions.h"
#include "profiler/cupti/loader.h"
#include "profiler/launch/gpu_query.h"
#include "profiler/output/process_facts.h"
#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/forked_question.h"
#include "tools/rangefinder/installation.h"

namespace rangefinder {
namespace {

using nlohmann::json;

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string result_text(void* driver, CUresult result) {
  const char* text = nullptr;
  const auto get = symbol<CUresult(CUresult, const char**)>(driver, "cuGetErrorString");
  if (get != nullptr && get(result, &text) == CUDA_SUCCESS && text != nullptr) return text;
  return "CUDA error " + std::to_string(static_cast<int>(result));
}

json list_gpus(void* driver) {
  json gpus = json::array();
  const auto count_gpus = symbol<CUresult(int*)>(driver, "cuDeviceGetCount");
  const auto get_name = symbol<CUresult(char*, int, CUdevice)>(driver, "cuDeviceGetName");
  int count = 0;
  if (count_gpus == nullptr || get_name == nullptr || count_gpus(&count) != CUDA_SUCCESS) return gpus;
  for (int gpu = 0; gpu < count; ++gpu) {
    std::array<char, 256> name{};
    if (get_name(name.data(), static_cast<int>(name.size()), gpu) == CUDA_SUCCESS)
      gpus.push_back(name.data());
  }
  return gpus;
}

/// {"text": "SM 345 MHz, memory 3,201 MHz, 77 of 700 W, clocks lowered by gpu_idle", "limited": false}; null:
/// NVML does not say.
json conditions_of(const NvmlFunctions& nvml, const std::string& uuid) {
  GpuConditions gpu(nvml, uuid.c_str(), getpid());
  constexpr int kTurnsForAll = 10;
  ConditionValues values{};
  for (int turn = 0; gpu.is_found() && turn < kTurnsForAll; ++turn) values = gpu.read(0);
  const auto number = [&values](Condition what) { return count_text(value_of(values, what).value_or(0)); };
  if (!value_of(values, Condition::sm_mhz)) return nullptr;
  std::string text =
      "SM " + number(Condition::sm_mhz) + " MHz, memory " + number(Condition::memory_mhz) + " MHz";
  if (value_of(values, Condition::power_w))
    text += ", " + number(Condition::power_w) + " of " + number(Condition::power_limit_w) + " W";
  if (value_of(values, Condition::temperature_c)) text += ", " + number(Condition::temperature_c) + " °C";
  if (value_of(values, Condition::other_processes).value_or(0) != 0)
    text += ", " + number(Condition::other_processes) + " processes on it";
  constexpr std::uint64_t kGpuIdle = 0x1;
  const std::uint64_t reasons = value_of(values, Condition::throttle).value_or(0);
  std::string names;
  for (const ThrottleReason& reason : kThrottleReasons)
    if ((reasons & reason.bit) != 0) names += (names.empty() ? "" : ", ") + std::string(reason.name);
  if (!names.empty()) text += ", clocks lowered by " + names;
  return {{"text", text}, {"limited", (reasons & ~kGpuIdle) != 0}};
}

json list_conditions() {
  json out = json::array();
  const NvmlFunctions nvml = load_nvml();
  if (nvml.Init == nullptr || nvml.Init() != kNvmlSuccess) return out;
  for (const GpuRecord& gpu : query_gpus()) {
    if (json conditions = conditions_of(nvml, gpu.uuid); !conditions.is_null())
      out.push_back(std::move(conditions));
  }
  return out;
}

/// "" if this process can become CUPTI's only subscriber, else the reason.
std::string try_subscribing() {
  CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti(wanted_cupti(), library, failure)) return {};
  CUpti_SubscriberHandle handle{};
  std::array<char, 64> other{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "rangefinder doctor";
  params.oldSubscriberName = other.data();
  params.oldSubscriberSize = other.size();
  const CUptiResult result = library.functions.Subscribe_v2(
      &handle, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr, &params);
  if (result != CUPTI_SUCCESS) {
    return cupti_result_text(library.functions, result) +
           (other[0] == '\0' ? "" : " (held by \"" + std::string(other.data()) + "\")");
  }
  library.functions.Unsubscribe(handle);
  return {};
}

std::string query_driver() {
  // The driver loads the libraries that these name, which would change the result.
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("NVTX_INJECTION64_PATH");
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  json answer = json::object();
  if (driver == nullptr) return answer.dump();
  answer["loaded"] = true;
  const auto get_version = symbol<CUresult(int*)>(driver, "cuDriverGetVersion");
  int version = 0;
  if (get_version != nullptr && get_version(&version) == CUDA_SUCCESS) answer["version"] = version;
  const auto init = symbol<CUresult(unsigned)>(driver, "cuInit");
  const CUresult result = init == nullptr ? CUDA_ERROR_UNKNOWN : init(0);
  if (result != CUDA_SUCCESS) {
    answer["init_error"] = result_text(driver, result);
    return answer.dump();
  }
  answer["gpus"] = list_gpus(driver);
  answer["conditions"] = list_conditions();
  answer["subscribe_error"] = try_subscribing();
  return answer.dump();
}

std::string version_text(int version) {
  const std::string cuda = "CUDA " + cuda_version_text(version);
  const std::string release = read_driver_release();
  return release.empty() ? cuda : release + ", " + cuda;
}

HealthFinding driver_finding(const json& answer) {
  constexpr const char* kInstall =
      "Install NVIDIA's driver 580 or newer, or start the container with GPUs (--gpus all).";
  if (!answer.value("loaded", false))
    return {"driver", Health::no, "libcuda.so.1 cannot be loaded", kInstall};
  const int version = answer.value("version", 0);
  if (answer.contains("init_error")) {
    return {"driver", Health::no,
            version_text(version) + ", but cuInit fails: " + answer["init_error"].get<std::string>(),
            "See `nvidia-smi`. Reboot if the driver was updated while its kernel module was loaded."};
  }
  constexpr int kNeeded = 13'000;
  if (version < kNeeded) return {"driver", Health::no, version_text(version) + ", 13.0 is needed", kInstall};
  return {"driver", Health::ok, version_text(version), ""};
}

}  // namespace

GpuCheck check_gpu() {
  GpuCheck check;
  std::vector<HealthFinding>& out = check.findings;
  const Answer asked = ask_in_child(query_driver);
  if (!asked.arrived) {
    out = {{"driver", Health::no, "querying the driver failed: " + asked.text,
            "See `nvidia-smi` and the kernel's log."}};
    return check;
  }
  const json answer = json::parse(asked.text, nullptr, false);
  out = {driver_finding(answer)};
  check.driver_version = answer.value("version", 0);
  if (!answer.contains("gpus")) {
    out.push_back({"gpu", Health::no, "not visible without a working driver", "Fix the driver first."});
    return check;
  }
  check.has_gpu = !answer["gpus"].empty();
  if (!check.has_gpu) {
    out.push_back(
        {"gpu", Health::no, "the driver reports none", "Check whether CUDA_VISIBLE_DEVICES hides them."});
  }
  for (const json& name : answer["gpus"]) out.push_back({"gpu", Health::ok, name.get<std::string>(), ""});
  for (const json& conditions : answer.value("conditions", json::array())) {
    const bool limited = conditions.value("limited", false);
    out.push_back(
        {"clocks", limited ? Health::warn : Health::ok, conditions.value("text", ""),
         limited ? "See `nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE,CLOCK`: runs under such clocks are "
                   "slower than others."
                 : "",
         false});
  }
  const std::string subscriber = answer.value("subscribe_error", "");
  out.push_back(
      subscriber.empty()
          ? HealthFinding{"cupti owner", Health::ok, "no other tool holds it", ""}
          : HealthFinding{"cupti owner", Health::no,
                          "a process that starts here cannot subscribe: " + subscriber,
                          "Another tool is loaded into every process: see the lines `other tool`."});
  return check;
}

}  // namespace rangefinder
