// SPDX-License-Identifier: Apache-2.0
#include "kernels/top_k/top_k.h"

#include <cmath>

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::top_k_check {
namespace {

enum class Values { spread, few, equal, special };

struct Shape {
  int images, rows, columns, k;
  Values values;
};

std::vector<float> scores_of(const Shape& shape) {
  std::vector<float> scores = random_values(
      ElementType::fp32, static_cast<std::size_t>(shape.images * shape.rows * shape.columns), 71);
  std::mt19937 generator(72);
  const float special[] = {0.0F, -0.0F, std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (float& score : scores) {
    if (shape.values == Values::spread) score = score * 4 - 5;
    if (shape.values == Values::few) score = std::round(score * 4);
    if (shape.values == Values::equal) score = -3;
    if (shape.values == Values::special && generator() % 2 == 0) score = special[generator() % 5];
  }
  return scores;
}

void check_shape(Report& report, const Shape& shape) {
  Operand scores(ElementType::fp32, scores_of(shape));
  const auto chosen = static_cast<std::size_t>(shape.images * shape.k);
  kernels::TopKArgs args{shape.images, shape.rows, shape.columns, shape.k,
                         nullptr,      nullptr,    nullptr,       nullptr};
  GuardedBuffer workspace(kernels::top_k_workspace_bytes(args));
  GuardedBuffer indices(chosen * 4);
  Result keys(ElementType::fp32, chosen);
  std::vector<std::int32_t> expected(chosen);
  kernels::TopKArgs host = args;
  host.scores = scores.host.data();
  host.indices = expected.data();
  host.keys = keys.expected.data();
  kernels::top_k_reference(host);
  args.scores = static_cast<const float*>(scores.device.data());
  args.indices = static_cast<std::int32_t*>(indices.data());
  args.keys = static_cast<float*>(keys.device.data());
  args.workspace = workspace.data();
  const std::string name = std::to_string(shape.images) + "x" + std::to_string(shape.rows) + "x" +
                           std::to_string(shape.columns) + " k " + std::to_string(shape.k) + " values " +
                           std::to_string(static_cast<int>(shape.values));
  verify(
      report, name, [&](cudaStream_t stream) { return kernels::launch_top_k(args, stream); },
      {&indices, &keys.device},
      [&]() -> std::string {
        const std::vector<std::byte> content = indices.content();
        const auto* const actual = reinterpret_cast<const std::int32_t*>(content.data());
        for (std::size_t i = 0; i < chosen; ++i)
          if (actual[i] != expected[i])
            return "index " + std::to_string(i) + " is " + std::to_string(actual[i]) + ", expected " +
                   std::to_string(expected[i]);
        return compare(keys.device.floats(ElementType::fp32, chosen), keys.expected, {0, 0});
      });
  if (!workspace.guards_are_intact()) report.fail(name, "bytes outside the workspace were written");
}

void check_top_k(Report& report) {
  const Shape shapes[] = {{1, 8400, 80, 300, Values::spread},  {3, 8400, 80, 300, Values::few},
                          {2, 8400, 80, 300, Values::equal},   {2, 8400, 80, 300, Values::special},
                          {1, 24000, 1, 300, Values::spread},  {2, 24000, 1, 300, Values::few},
                          {1, 65536, 1, 1024, Values::few},    {1, 65536, 3, 1000, Values::spread},
                          {2, 1024, 5, 1024, Values::special}, {1, 1, 1, 1, Values::spread},
                          {2, 300, 4, 300, Values::few},       {1, 7, 2, 3, Values::special},
                          {1, 70, 1, 1, Values::equal},        {1, 8400, 1, 512, Values::special}};
  for (const Shape& shape : shapes) check_shape(report, shape);
  kernels::TopKArgs wrong{1, 4, 1, 5, nullptr, nullptr, nullptr, nullptr};
  verify_refused(report, "k > rows", kernels::launch_top_k(wrong, nullptr));
}

const Registered registered{"top_k", check_top_k};

}  // namespace
}  // namespace rangefinder::kernel_checks::top_k_check
