// SPDX-License-Identifier: Apache-2.0
//
// What an NVTX call says of a range or mark besides its text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schema/record.h"

namespace rangefinder {

/// Extended payload of one NVTX event. `data` is borrowed from the application.
struct NvtxPayload {
  std::uint64_t schema = 0;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// `payload` holds the bits of the value.
struct NvtxAttributes {
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  PayloadType payload_type = PayloadType::none;
  std::uint64_t payload = 0;
  const NvtxPayload* extended = nullptr;
};

}  // namespace rangefinder
