// SPDX-License-Identifier: Apache-2.0
//
// The counter image of PM sampling in tests/replay/pm_image: what it holds and how it is read.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <vector>

#include "profiler/counters/cupti_params.h"
#include "profiler/cupti/functions.h"
#include "tests/pm_image_metrics.h"

namespace rangefinder::test {

/// A counter image in a file, packed by zstd or as pm_decode writes it; empty: it cannot be read.
inline std::vector<std::uint8_t> read_pm_image(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return bytes;
  std::vector<std::uint8_t> image(size);
  return ZSTD_decompress(image.data(), size, bytes.data(), bytes.size()) == size
             ? image
             : std::vector<std::uint8_t>{};
}

/// How many samples it holds; 0 also where it is no counter image.
inline std::size_t samples_of_pm_image(const CuptiFunctions& cupti, const std::vector<std::uint8_t>& image) {
  auto info = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataInfo);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  return cupti.PmSamplingGetCounterDataInfo(&info) == CUPTI_SUCCESS ? info.numCompletedSamples : 0;
}

}  // namespace rangefinder::test
