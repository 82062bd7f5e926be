// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of folding, on the host in double: from tensors of a state dict to the matrix and the
// bias of one launch. Nothing is rounded here and nothing uploaded; parameters.h names the rules.
#pragma once

#include <string>
#include <vector>

#include "workloads/rtdetr/weights.h"

namespace rangefinder::rtdetr {

/// What one convolution or linear layer multiplies with: a row an output, columns (row, column, channel).
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

/// `name`.weight and .bias, with columns of zeros behind up to `padded_inputs`.
Folded fold_linear(const Weights& weights, const std::string& name, int padded_inputs);

/// One 3x3 that gives the sum of both branches.
Folded merge_rep_vgg(Folded wide, const Folded& point);

/// Outputs of `first`, then those of `second`; both read the same input.
Folded join_outputs(Folded first, const Folded& second);

/// Columns [first, first + count) of a 1x1 convolution; the bias stays.
Folded cut_inputs(const Folded& whole, int first, int count);

/// Sum of two layers with inputs of their own, as rows [first | second]. The weight is (outputs,
/// first.depth() + second.depth()) then, the other fields are those of `first`.
Folded join_inputs(const Folded& first, const Folded& second);

}  // namespace rangefinder::rtdetr
