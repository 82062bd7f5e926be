// SPDX-License-Identifier: Apache-2.0
//
// The two backends that need no GPU: one computes with the references, one only counts bytes.
#pragma once

#include <memory>
#include <vector>

#include "workloads/rtdetr/backend.h"
#include "workloads/rtdetr/execution.h"

namespace rangefinder::rtdetr {

/// Computes on host memory in fp32 with double accumulation. Slow: meant for the tiny configuration.
/// Unfused variants give the same values here and do not touch their buffers.
std::unique_ptr<Backend> make_reference_backend();

/// Computes nothing; adds min_bytes() of every op to `ledger`. `allocate` returns addresses that must not be
/// dereferenced; download throws std::logic_error.
std::unique_ptr<Backend> make_measuring_backend(ModuleLedger& ledger);

}  // namespace rangefinder::rtdetr
