// SPDX-License-Identifier: Apache-2.0
#include "kernels/gather/gather.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::gather_check {
namespace {

struct Shape {
  int images, source_rows, gathered_rows, row_bytes, slack_bytes;
};

void check_shape(Report& report, const Shape& shape) {
  const int step = shape.row_bytes + shape.slack_bytes;
  std::mt19937 generator(31);
  std::vector<std::uint8_t> source(static_cast<std::size_t>(shape.images * shape.source_rows * step));
  for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(generator());
  std::vector<std::int32_t> indices(static_cast<std::size_t>(shape.images * shape.gathered_rows));
  for (std::int32_t& index : indices)
    index = static_cast<std::int32_t>(generator() % static_cast<unsigned>(shape.source_rows));
  indices.front() = -1;
  indices.back() = shape.source_rows;
  GuardedBuffer device_source(source.size());
  GuardedBuffer device_indices(indices.size() * 4);
  device_source.upload(source.data(), source.size());
  device_indices.upload(indices.data(), indices.size() * 4);
  std::vector<std::byte> expected(indices.size() * static_cast<std::size_t>(shape.row_bytes));
  GuardedBuffer output(expected.size());

  kernels::GatherArgs args;
  args.images = shape.images;
  args.source_rows = shape.source_rows;
  args.gathered_rows = shape.gathered_rows;
  args.row_bytes = shape.row_bytes;
  args.source_stride_bytes = step;
  kernels::GatherArgs host = args;
  args.source = device_source.data();
  args.indices = static_cast<const std::int32_t*>(device_indices.data());
  args.output = output.data();
  host.source = source.data();
  host.indices = indices.data();
  host.output = expected.data();
  kernels::gather_reference(host);
  verify(
      report, "rows of " + std::to_string(shape.row_bytes) + " bytes",
      [&](cudaStream_t stream) { return kernels::launch_gather(args, stream); }, {&output},
      [&] { return output.content() == expected ? std::string() : std::string("the bytes differ"); });
}

void check_gather(Report& report) {
  const Shape shapes[] = {
      {1, 8400, 300, 512, 0}, {2, 8400, 300, 1024, 512}, {3, 5, 7, 16, 0}, {2, 9, 4, 12, 4}, {1, 2, 2, 4, 0}};
  for (const Shape& shape : shapes) check_shape(report, shape);
  kernels::GatherArgs wrong;
  wrong.row_bytes = 6;
  verify_refused(report, "row bytes", kernels::launch_gather(wrong, nullptr));
}

const Registered registered{"gather", check_gather};

}  // namespace
}  // namespace rangefinder::kernel_checks::gather_check
