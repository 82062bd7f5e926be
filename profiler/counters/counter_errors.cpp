// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_errors.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "profiler/counters/counter_holder.h"
#include "profiler/cupti/loader.h"
#include "profiler/guest/control_socket.h"

namespace rangefinder {
namespace {

struct Fix {
  CUptiResult result;
  std::string_view text;
};

constexpr std::array kFixes{
    Fix{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
        "the driver shows GPU counters to administrators only: run as root or with CAP_SYS_ADMIN, or set "
        "`options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d and reload the driver"},
    Fix{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
        "the hypervisor does not let this virtual GPU read counters: its owner must enable profiling for the "
        "vGPU (enable_profiling=1)"},
    Fix{CUPTI_ERROR_HARDWARE_BUSY,
        "another program holds the GPU's counters: with DCGM `dcgmi profile --pause` frees them "
        "(`--resume` afterwards); Nsight Compute and other profilers must end first"},
    Fix{CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
        "this MIG instance shares its memory partition, whose counters CUPTI cannot read: use an instance "
        "that "
        "has all compute slices of its GPU instance, or the whole GPU"},
    Fix{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
        "GPU counters cannot be read in confidential-computing mode: set the GPU to devtools mode or switch "
        "the mode off"},
    Fix{CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED,
        "GPU counters under WSL are switched on in Windows: NVIDIA Control Panel, Developer, Manage GPU "
        "Performance Counters"},
    Fix{CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "this GPU is a mining processor: it has no counters for users"},
    Fix{CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "GPU counters cannot be read while SLI is on: switch it off"},
    Fix{CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
        "counters of this virtual GPU cannot be read: use a GPU "
        "passed through whole, or a driver whose vGPU supports profiling"},
    Fix{CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
        "this GPU has no Range Profiler: counters need compute "
        "capability 7.5 or higher"},
    Fix{CUPTI_ERROR_INVALID_CHIP_NAME, "this libcupti is older than the GPU: install a newer CUPTI 13.x"},
    Fix{CUPTI_ERROR_NOT_SUPPORTED,
        "this GPU, driver or mode (MPS, for one) does not let CUPTI read these counters"},
    Fix{CUPTI_ERROR_INVALID_METRIC_NAME,
        "this GPU lacks one of the counters: `rangefinder metrics` lists what it has"},
    Fix{CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
        "the program reads counters by CUPTI's older interface: only one of the two can"},
    Fix{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
        "another tool uses CUPTI in this process: start the program without it"},
    Fix{CUPTI_ERROR_OUT_OF_MEMORY,
        "there was not enough memory for the counters: try a smaller "
        "--exact-batch"},
};

}  // namespace

std::string_view counter_error_fix(CUptiResult result) noexcept {
  for (const Fix& fix : kFixes) {
    if (fix.result == result) return fix.text;
  }
  return {};
}

std::string counter_error_text(const CuptiFunctions& cupti, const char* step, CUptiResult result) {
  std::string text = std::string(step) + " failed with " + cupti_result_text(cupti, result);
  if (result == CUPTI_ERROR_HARDWARE_BUSY) {
    const std::string holder =
        counter_holder(control_folders(std::getenv("XDG_RUNTIME_DIR"), geteuid()), getpid());
    if (!holder.empty()) return text + ": " + holder;
  }
  if (const std::string_view fix = counter_error_fix(result); !fix.empty()) text += ": " + std::string(fix);
  return text;
}

}  // namespace rangefinder
