// SPDX-License-Identifier: Apache-2.0
//
// NVML with one GPU and one MIG instance of it, for tests. As strict as NVML: a call before Init, or with a
// handle that it has not given, fails. Counts calls by function.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "profiler/conditions/nvml_functions.h"

namespace rangefinder::test {

struct FakeNvml {
  static constexpr const char* kUuid = "GPU-7e1c5a00-0000-0000-0000-000000000001";
  static constexpr const char* kMigUuid = "MIG-7e1c5a00-0000-0000-0000-000000000002";

  bool initialised = false;
  unsigned sm_mhz = 1980, memory_mhz = 2619, milliwatts = 350'400, limit_milliwatts = 700'000, celsius = 41;
  unsigned long long reasons = 0x4;
  NvmlUtilization load{90, 35};
  unsigned long long power_capped_ns = 5'000'000'000, thermal_capped_ns = 0;
  unsigned long long ecc_corrected = 2, ecc_uncorrected = 1;
  unsigned mig = 0;
  int compute_mode = 0;
  unsigned highest_memory_mhz = 3201, bus_bits = 6144;
  double dram_pct = 0;                     // between the two samples of a call
  std::vector<int> gpm_samples;            // taken; never moved: room for all
  std::vector<NvmlProcess> processes;      // of the GPU
  std::vector<NvmlProcess> mig_processes;  // of the MIG instance
  std::deque<unsigned> xids;
  std::map<std::string, NvmlReturn> errors;  // by function; absent: it succeeds
  std::map<std::string, int> calls;

  /// Replaces the one before; the functions have no argument for it.
  static FakeNvml& instance() {
    static FakeNvml fake;
    return fake;
  }
  static FakeNvml& reset() {
    instance() = {};
    return instance();
  }
  static NvmlFunctions functions();
  static NvmlFunctions none() { return {}; }

  static NvmlDevice gpu() { return reinterpret_cast<NvmlDevice>(&instance().sm_mhz); }
  static NvmlDevice mig_instance() { return reinterpret_cast<NvmlDevice>(&instance().mig); }
  static NvmlEventSet event_set() { return reinterpret_cast<NvmlEventSet>(&instance().xids); }

  /// What each function returns; counts the call. Values of the whole GPU are not those of an instance.
  static NvmlReturn answer(const char* function, bool handle_is_known) {
    constexpr NvmlReturn kUninitialised = 1, kInvalidArgument = 2;
    FakeNvml& fake = instance();
    ++fake.calls[function];
    if (!fake.initialised) return kUninitialised;
    if (!handle_is_known) return kInvalidArgument;
    const auto error = fake.errors.find(function);
    return error == fake.errors.end() ? kNvmlSuccess : error->second;
  }
  template <typename Value>
  static NvmlReturn give(const char* function, NvmlDevice device, Value value, Value* out) {
    const NvmlReturn result = answer(function, device == gpu());
    if (result == kNvmlSuccess) *out = value;
    return result;
  }
};

inline void fake_identity(NvmlFunctions& table) {
  table.Init = [] {
    FakeNvml::instance().initialised = true;
    return FakeNvml::answer("Init", true);
  };
  table.DeviceGetHandleByUUID = [](const char* uuid, NvmlDevice* device) {
    constexpr NvmlReturn kNotFound = 6;
    const NvmlReturn result = FakeNvml::answer("DeviceGetHandleByUUID", true);
    if (result != kNvmlSuccess) return result;
    if (std::strcmp(uuid, FakeNvml::kUuid) == 0) {
      *device = FakeNvml::gpu();
    } else if (std::strcmp(uuid, FakeNvml::kMigUuid) == 0) {
      *device = FakeNvml::mig_instance();
    } else {
      return kNotFound;
    }
    return kNvmlSuccess;
  };
  table.DeviceGetParent = [](NvmlDevice device, NvmlDevice* parent) {
    const NvmlReturn result = FakeNvml::answer("DeviceGetParent", device == FakeNvml::mig_instance());
    if (result == kNvmlSuccess) *parent = FakeNvml::gpu();
    return result;
  };
}

inline void fake_cheap_readings(NvmlFunctions& table) {
  table.DeviceGetClockInfo = [](NvmlDevice device, int clock, unsigned* mhz) {
    const FakeNvml& fake = FakeNvml::instance();
    return clock == kNvmlClockSm ? FakeNvml::give("sm", device, fake.sm_mhz, mhz)
                                 : FakeNvml::give("memory", device, fake.memory_mhz, mhz);
  };
  table.DeviceGetPowerUsage = [](NvmlDevice device, unsigned* milliwatts) {
    return FakeNvml::give("power", device, FakeNvml::instance().milliwatts, milliwatts);
  };
  table.DeviceGetCurrentClocksEventReasons = [](NvmlDevice device, unsigned long long* reasons) {
    return FakeNvml::give("reasons", device, FakeNvml::instance().reasons, reasons);
  };
  table.DeviceGetUtilizationRates = [](NvmlDevice device, NvmlUtilization* load) {
    return FakeNvml::give("load", device, FakeNvml::instance().load, load);
  };
  table.DeviceGetFieldValues = [](NvmlDevice device, int count, NvmlFieldValue* fields) {
    constexpr int kUnsignedLongLong = 3;
    const FakeNvml& fake = FakeNvml::instance();
    const NvmlReturn result = FakeNvml::answer("fields", device == FakeNvml::gpu());
    for (int i = 0; result == kNvmlSuccess && i < count; ++i) {
      NvmlFieldValue& field = fields[i];
      field.value_type = kUnsignedLongLong;
      field.result = FakeNvml::answer(("field " + std::to_string(field.field_id)).c_str(), true);
      field.value.u64 =
          field.field_id == kNvmlFieldPowerCappedNs ? fake.power_capped_ns : fake.thermal_capped_ns;
    }
    return result;
  };
}

inline void fake_dear_readings(NvmlFunctions& table) {
  table.DeviceGetEnforcedPowerLimit = [](NvmlDevice device, unsigned* milliwatts) {
    return FakeNvml::give("limit", device, FakeNvml::instance().limit_milliwatts, milliwatts);
  };
  table.DeviceGetTemperature = [](NvmlDevice device, int, unsigned* celsius) {
    return FakeNvml::give("temperature", device, FakeNvml::instance().celsius, celsius);
  };
  table.DeviceGetTotalEccErrors = [](NvmlDevice device, int type, int, unsigned long long* count) {
    const FakeNvml& fake = FakeNvml::instance();
    return type == kNvmlEccCorrected ? FakeNvml::give("corrected", device, fake.ecc_corrected, count)
                                     : FakeNvml::give("uncorrected", device, fake.ecc_uncorrected, count);
  };
  table.DeviceGetMigMode = [](NvmlDevice device, unsigned* current, unsigned* pending) {
    *pending = FakeNvml::instance().mig;
    return FakeNvml::give("mig", device, FakeNvml::instance().mig, current);
  };
  table.DeviceGetComputeMode = [](NvmlDevice device, int* mode) {
    return FakeNvml::give("mode", device, FakeNvml::instance().compute_mode, mode);
  };
  table.DeviceGetComputeRunningProcesses = [](NvmlDevice device, unsigned* count, NvmlProcess* out) {
    const bool is_gpu = device == FakeNvml::gpu();
    const NvmlReturn result = FakeNvml::answer("processes", is_gpu || device == FakeNvml::mig_instance());
    const auto& list = is_gpu ? FakeNvml::instance().processes : FakeNvml::instance().mig_processes;
    if (result != kNvmlSuccess) return result;
    const unsigned room = *count;
    *count = static_cast<unsigned>(list.size());
    if (list.size() > room) return kNvmlInsufficientSize;
    std::copy(list.begin(), list.end(), out);
    return result;
  };
}

inline void fake_gpm(NvmlFunctions& table) {
  table.DeviceGetMaxClockInfo = [](NvmlDevice device, int, unsigned* mhz) {
    return FakeNvml::give("max clock", device, FakeNvml::instance().highest_memory_mhz, mhz);
  };
  table.DeviceGetMemoryBusWidth = [](NvmlDevice device, unsigned* bits) {
    return FakeNvml::give("bus", device, FakeNvml::instance().bus_bits, bits);
  };
  table.GpmSampleAlloc = [](NvmlGpmSample* sample) {
    std::vector<int>& samples = FakeNvml::instance().gpm_samples;
    samples.reserve(2);
    samples.push_back(0);
    *sample = reinterpret_cast<NvmlGpmSample>(&samples.back());
    return FakeNvml::answer("alloc", samples.size() <= 2);
  };
  table.GpmSampleGet = [](NvmlDevice device, NvmlGpmSample sample) {
    static int number = 0;
    *reinterpret_cast<int*>(sample) = ++number;
    return FakeNvml::answer("sample", device == FakeNvml::gpu());
  };
  table.GpmMetricsGet = [](NvmlGpmMetrics* metrics) {
    const bool in_order =
        *reinterpret_cast<const int*>(metrics->first) < *reinterpret_cast<const int*>(metrics->second);
    const bool is_dram =
        metrics->version == 1 && metrics->count == 1 && metrics->metrics[0].id == kNvmlGpmDramUsedPct;
    metrics->metrics[0].result = FakeNvml::answer("metric", true);
    metrics->metrics[0].value = FakeNvml::instance().dram_pct;
    return FakeNvml::answer("metrics", in_order && is_dram);
  };
}

inline void fake_events(NvmlFunctions& table) {
  table.EventSetCreate = [](NvmlEventSet* set) {
    *set = FakeNvml::event_set();
    return FakeNvml::answer("EventSetCreate", true);
  };
  table.DeviceRegisterEvents = [](NvmlDevice device, unsigned long long types, NvmlEventSet set) {
    return FakeNvml::answer("DeviceRegisterEvents", device == FakeNvml::gpu() && types == kNvmlEventXid &&
                                                        set == FakeNvml::event_set());
  };
  table.EventSetWait = [](NvmlEventSet set, NvmlEvent* event, unsigned timeout_ms) {
    FakeNvml& fake = FakeNvml::instance();
    const NvmlReturn result =
        FakeNvml::answer("EventSetWait", set == FakeNvml::event_set() && timeout_ms == 0);
    if (result != kNvmlSuccess) return result;
    if (fake.xids.empty()) return kNvmlTimeout;
    *event = {FakeNvml::gpu(), kNvmlEventXid, fake.xids.front(), 0, 0};
    fake.xids.pop_front();
    return result;
  };
}

inline NvmlFunctions FakeNvml::functions() {
  NvmlFunctions table;
  fake_identity(table);
  fake_cheap_readings(table);
  fake_dear_readings(table);
  fake_gpm(table);
  fake_events(table);
  return table;
}

}  // namespace rangefinder::test
