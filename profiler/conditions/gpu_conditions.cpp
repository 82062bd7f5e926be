// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/gpu_conditions.h"

#include <algorithm>
#include <optional>

#include "profiler/conditions/condition_value.h"
#include "profiler/conditions/reading_turns.h"

namespace rangefinder {
namespace {

constexpr unsigned kNoXidWait = 0;

/// Calls a member of the table, which may be absent.
template <typename Function, typename... Arguments>
NvmlReturn call_nvml(Function* function, Arguments... arguments) noexcept {
  return function == nullptr ? kNvmlNotSupported : function(arguments...);
}

constexpr std::uint64_t rounded_watts(unsigned milliwatts) noexcept {
  return (std::uint64_t{milliwatts} + 500) / 1000;
}

}  // namespace

// Readings of one period take different turns as long as they are neighbours here, and not more than the
// period.
constexpr std::array<GpuConditions::Reading, GpuConditions::kReadingCount> GpuConditions::kReadings{{
    {&GpuConditions::read_xids, 1},
    {&GpuConditions::read_sm_clock, 1},
    {&GpuConditions::read_memory_clock, 1},
    {&GpuConditions::read_power, 1},
    {&GpuConditions::read_throttle, 1},
    {&GpuConditions::read_utilization, 1},
    {&GpuConditions::read_capped_times, 1},
    {&GpuConditions::read_dram, 1},
    {&GpuConditions::read_processes, 10},
    {&GpuConditions::read_ecc_corrected, 10},
    {&GpuConditions::read_ecc_uncorrected, 10},
    {&GpuConditions::read_mig, 10},
    {&GpuConditions::read_compute_mode, 10},
    {&GpuConditions::read_power_limit, 10},
    {&GpuConditions::read_temperature, 10},
}};

GpuConditions::GpuConditions(const NvmlFunctions& nvml, const char* uuid, pid_t self) noexcept
    : nvml_(nvml), self_(self) {
  find(uuid);
  if (!is_found()) return;
  register_xids();
  dram_.emplace(nvml_, device_);
}

void GpuConditions::find(const char* uuid) noexcept {
  if (call_nvml(nvml_.DeviceGetHandleByUUID, uuid, &visible_) != kNvmlSuccess) return;
  device_ = visible_;
  // Fails for a device that is no MIG instance.
  NvmlDevice parent = nullptr;
  if (call_nvml(nvml_.DeviceGetParent, visible_, &parent) == kNvmlSuccess && parent != nullptr) {
    device_ = parent;
  }
}

void GpuConditions::register_xids() noexcept {
  if (nvml_.EventSetWait == nullptr || call_nvml(nvml_.EventSetCreate, &events_) != kNvmlSuccess ||
      call_nvml(nvml_.DeviceRegisterEvents, device_, kNvmlEventXid, events_) != kNvmlSuccess) {
    unavailable_[kXidReading] = true;
  }
}

void GpuConditions::restart() noexcept {
  values_ = {};
  turn_ = 0;
  if (dram_) dram_->restart();
}

const ConditionValues& GpuConditions::read(std::int64_t now_ns) noexcept {
  now_ns_ = now_ns;
  for (std::size_t i = 0; i < kReadingCount; ++i) {
    if (unavailable_[i] || !is_reading_due(turn_, i, kReadings[i].period)) continue;
    const NvmlReturn result = (this->*kReadings[i].read)();
    if (result == kNvmlNotSupported || result == kNvmlNoPermission) unavailable_[i] = true;
    if (result == kNvmlGpuIsLost) lose_gpu();
  }
  ++turn_;
  return values_;
}

// Each further call would fail, some of them after a timeout of the driver. The event of XID 79 still
// arrives.
void GpuConditions::lose_gpu() noexcept {
  const bool no_xids = unavailable_[kXidReading];
  unavailable_.fill(true);
  unavailable_[kXidReading] = no_xids;
  values_ = {};
  if (!no_xids) keep_xids();
}

NvmlReturn GpuConditions::keep(Condition condition, NvmlReturn result, std::uint64_t value) noexcept {
  value_of(values_, condition) = result == kNvmlSuccess ? std::optional(value) : std::nullopt;
  return result;
}

NvmlReturn GpuConditions::read_xids() noexcept {
  for (int i = 0; i < kMaxXidsPerTurn; ++i) {
    NvmlEvent event;
    const NvmlReturn result = call_nvml(nvml_.EventSetWait, events_, &event, kNoXidWait);
    if (result == kNvmlTimeout) break;
    if (result != kNvmlSuccess) return result;
    if ((event.type & kNvmlEventXid) == 0) continue;
    ++xids_;
    last_xid_ = event.data;
  }
  keep_xids();
  return kNvmlSuccess;
}

void GpuConditions::keep_xids() noexcept {
  value_of(values_, Condition::xids) = xids_;
  value_of(values_, Condition::last_xid) = last_xid_;
}

NvmlReturn GpuConditions::read_sm_clock() noexcept {
  unsigned mhz = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetClockInfo, device_, kNvmlClockSm, &mhz);
  return keep(Condition::sm_mhz, result, mhz);
}

NvmlReturn GpuConditions::read_memory_clock() noexcept {
  unsigned mhz = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetClockInfo, device_, kNvmlClockMemory, &mhz);
  return keep(Condition::memory_mhz, result, mhz);
}

NvmlReturn GpuConditions::read_power() noexcept {
  unsigned milliwatts = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetPowerUsage, device_, &milliwatts);
  return keep(Condition::power_w, result, rounded_watts(milliwatts));
}

NvmlReturn GpuConditions::read_power_limit() noexcept {
  unsigned milliwatts = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetEnforcedPowerLimit, device_, &milliwatts);
  return keep(Condition::power_limit_w, result, rounded_watts(milliwatts));
}

NvmlReturn GpuConditions::read_temperature() noexcept {
  unsigned celsius = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetTemperature, device_, kNvmlTemperatureGpu, &celsius);
  return keep(Condition::temperature_c, result, celsius);
}

NvmlReturn GpuConditions::read_throttle() noexcept {
  unsigned long long reasons = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetCurrentClocksEventReasons, device_, &reasons);
  return keep(Condition::throttle, result, reasons);
}

NvmlReturn GpuConditions::read_utilization() noexcept {
  NvmlUtilization load;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetUtilizationRates, device_, &load);
  (void)keep(Condition::memory_busy_pct, result, load.memory_pct);
  return keep(Condition::gpu_busy_pct, result, load.gpu_pct);
}

NvmlReturn GpuConditions::read_capped_times() noexcept {
  std::array<NvmlFieldValue, 2> fields{};
  fields[0].field_id = kNvmlFieldPowerCappedNs;
  fields[1].field_id = kNvmlFieldThermalCappedNs;
  const NvmlReturn result =
      call_nvml(nvml_.DeviceGetFieldValues, device_, static_cast<int>(fields.size()), fields.data());
  const auto keep_field = [this, result](Condition condition, const NvmlFieldValue& field) {
    return keep(condition, result == kNvmlSuccess ? field.result : result,
                nvml_field_value(field) / static_cast<std::uint64_t>(kNsPerMs));
  };
  const NvmlReturn power = keep_field(Condition::power_capped_ms, fields[0]);
  const NvmlReturn thermal = keep_field(Condition::thermal_capped_ms, fields[1]);
  return power == kNvmlSuccess ? power : thermal;  // one of two is reason to go on
}

NvmlReturn GpuConditions::read_dram() noexcept {
  constexpr int kMibShift = 20;
  if (!counts_dram_) return kNvmlSuccess;
  const NvmlReturn result = dram_->read(now_ns_);
  return keep(Condition::dram_mib, result, dram_->bytes() >> kMibShift);
}

NvmlReturn GpuConditions::read_ecc_corrected() noexcept {
  unsigned long long errors = 0;
  const NvmlReturn result =
      call_nvml(nvml_.DeviceGetTotalEccErrors, device_, kNvmlEccCorrected, kNvmlEccSinceDriverLoad, &errors);
  return keep(Condition::ecc_corrected, result, errors);
}

NvmlReturn GpuConditions::read_ecc_uncorrected() noexcept {
  unsigned long long errors = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetTotalEccErrors, device_, kNvmlEccUncorrected,
                                      kNvmlEccSinceDriverLoad, &errors);
  return keep(Condition::ecc_uncorrected, result, errors);
}

NvmlReturn GpuConditions::read_mig() noexcept {
  unsigned current = 0, pending = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetMigMode, device_, &current, &pending);
  return keep(Condition::mig, result, current);
}

NvmlReturn GpuConditions::read_compute_mode() noexcept {
  int mode = 0;
  const NvmlReturn result = call_nvml(nvml_.DeviceGetComputeMode, device_, &mode);
  return keep(Condition::compute_mode, result, static_cast<std::uint64_t>(mode));
}

NvmlReturn GpuConditions::read_processes() noexcept {
  unsigned count = kMaxProcesses;
  const NvmlReturn result =
      call_nvml(nvml_.DeviceGetComputeRunningProcesses, visible_, &count, processes_.data());
  if (result == kNvmlInsufficientSize) {  // `count` is their number, one of which is this process
    (void)keep(Condition::other_memory_mib, result, 0);
    return keep(Condition::other_processes, kNvmlSuccess, count == 0 ? 0 : count - 1);
  }
  if (result == kNvmlSuccess) {
    count_processes(std::min(count, kMaxProcesses));
    return result;
  }
  (void)keep(Condition::other_memory_mib, result, 0);
  return keep(Condition::other_processes, result, 0);
}

// NVML has the process ids of the host, and we may be in a pid namespace of our own. So if this process is
// not in the list, one of the others is taken for it. Which one is unknown, and with it their memory.
void GpuConditions::count_processes(unsigned count) noexcept {
  unsigned others = 0;
  unsigned long long bytes = 0;
  bool bytes_known = true;
  for (unsigned i = 0; i < count; ++i) {
    const NvmlProcess& process = processes_[i];
    if (process.pid == static_cast<unsigned>(self_)) continue;
    ++others;
    if (process.used_bytes == kNvmlValueNotAvailable) {
      bytes_known = false;
    } else {
      bytes += process.used_bytes;
    }
  }
  if (others == count && count != 0) {
    --others;
    bytes_known = others == 0;
    bytes = 0;
  }
  (void)keep(Condition::other_processes, kNvmlSuccess, others);
  (void)keep(Condition::other_memory_mib, bytes_known ? kNvmlSuccess : kNvmlNotSupported, bytes >> 20);
}

}  // namespace rangefinder
