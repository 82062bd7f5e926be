// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of folding, on the host in double: from tensors of a state dict to the matrix and the bias
// of one launch. Rounds nothing and uploads nothing; parameters.h lists the rules.
#pragma once

#include <string>
#include <vector>

#include "workloads/rtdetr/weights.h"

namespace rangefinder::rtdetr {

/// Weight matrix of one convolution or linear layer: one row per output, columns (row, column, channel).
struct Folded {
  int outputs = 0;
  int inputs = 0;  ///< channels
  int kernel_size = 1;
  std::vector<double> weight;  ///< (outputs, depth())
  std::vector<double> bias;    ///< (outputs)

  int depth() const { return kernel_size * kernel_size * inputs; }
};

/// `convolution`.weight with the batch norm `norm` folded in.
Folded fold_batch_norm(const Weights& weights, const std::string& convolution, const std::string& norm,
                       double epsilon);

/// `name`.weight and .bias, with columns of zeros appended up to `padded_inputs`.
Folded fold_linear(const Weights& weights, const std::string& name, int padded_inputs);

/// One 3x3 convolution that equals the sum of both branches.
Folded merge_rep_vgg(Folded wide, const Folded& point);

/// Outputs of `first`, then those of `second`; both read the same input.
Folded join_outputs(Folded first, const Folded& second);

/// Columns [first, first + count) of a 1x1 convolution, with the whole bias.
Folded cut_inputs(const Folded& whole, int first, int count);

/// Sum of two layers with separate inputs, as rows [first | second]. The weight then is (outputs,
/// first.depth() + second.depth()); the other fields are those of `first`.
Folded join_inputs(const Folded& first, const Folded& second);

}  // namespace rangefinder::rtdetr
