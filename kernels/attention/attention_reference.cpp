// SPDX-License-Identifier: Apache-2.0
//
// The formula of attention.h, one query of a head at a time.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_arguments.h"

namespace rangefinder::kernels {
namespace {

const float* head_row(const AttentionOperand& operand, const AttentionArgs& args, int image, int row,
                      int head) {
  return static_cast<const float*>(operand.data) + image * operand.image_stride + row * operand.row_stride +
         std::int64_t{head} * args.head_channels;
}

/// softmax over the keys
std::vector<double> probabilities_of(const AttentionArgs& args, int image, int query, int head) {
  const float* const q = head_row(args.query, args, image, query, head);
  std::vector<double> p(static_cast<std::size_t>(args.keys));
  for (int key = 0; key < args.keys; ++key) {
    const float* const k = head_row(args.key, args, image, key, head);
    double dot = 0;
    for (int c = 0; c < args.head_channels; ++c) dot += static_cast<double>(q[c]) * static_cast<double>(k[c]);
    p[static_cast<std::size_t>(key)] = dot * static_cast<double>(args.scale);
  }
  const double greatest = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - greatest);
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace

void attention_reference(const AttentionArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("attention: ") + reason);
  auto* target = static_cast<float*>(args.output);
  for (int image = 0; image < args.images; ++image)
    for (int query = 0; query < args.queries; ++query)
      for (int head = 0; head < args.heads; ++head, target += args.head_channels) {
        const std::vector<double> p = probabilities_of(args, image, query, head);
        std::vector<double> sums(static_cast<std::size_t>(args.head_channels));
        for (int key = 0; key < args.keys; ++key) {
          const float* const v = head_row(args.value, args, image, key, head);
          for (std::size_t c = 0; c < sums.size(); ++c)
            sums[c] += p[static_cast<std::size_t>(key)] * static_cast<double>(v[c]);
        }
        std::transform(sums.begin(), sums.end(), target, [](double sum) { return static_cast<float>(sum); });
      }
}

}  // namespace rangefinder::kernels
