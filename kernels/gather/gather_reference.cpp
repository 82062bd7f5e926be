// SPDX-License-Identifier: Apache-2.0
//
// The formula of gather.h, one row at a time.
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels/gather/gather.h"
#include "kernels/gather/gather_arguments.h"

namespace rangefinder::kernels {

void gather_reference(const GatherArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("gather: ") + reason);
  const auto row_bytes = static_cast<std::size_t>(args.row_bytes);
  auto* target = static_cast<std::byte*>(args.output);
  const std::int32_t* index = args.indices;
  for (int image = 0; image < args.images; ++image) {
    const auto* const source = static_cast<const std::byte*>(args.source) + image * source_image_step(args);
    for (int row = 0; row < args.gathered_rows; ++row, ++index, target += row_bytes) {
      if (*index < 0 || *index >= args.source_rows)
        std::memset(target, 0xFF, row_bytes);
      else
        std::memcpy(target, source + *index * source_row_step(args), row_bytes);
    }
  }
}

}  // namespace rangefinder::kernels
