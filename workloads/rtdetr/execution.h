// SPDX-License-Identifier: Apache-2.0
//
// Context of every stage of the forward pass, beside its parameters and inputs.
//
// Range names are Hugging Face's module names, dots as levels: Module("encoder.stages.0") opens three NVTX
// ranges. The innermost declares its minimum bytes, children included (category rangefinder.bytes). A first
// pass through MeasuringBackend has summed them up under the same path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/element_type.h"
#include "workloads/rtdetr/backend.h"
#include "workloads/rtdetr/tensor.h"

namespace rangefinder::rtdetr {

/// Takes intermediates by name (README.md lists them). Called in the order of the forward pass.
class DumpSink {
 public:
  virtual ~DumpSink() = default;
  virtual void take(std::string_view name, const Tensor& tensor) = 0;
  /// `data`: packed, in the backend's memory; dimensions outermost first.
  virtual void take(std::string_view name, const float* data,
                    const std::vector<std::int64_t>& dimensions) = 0;
  virtual void take(std::string_view name, const std::int32_t* data,
                    const std::vector<std::int64_t>& dimensions) = 0;
};

/// The open modules, and the bytes that one call of each path declares.
class ModuleLedger {
 public:
  /// Adds the bytes of one op to all open paths. Does nothing once measuring has stopped.
  void add_bytes(std::uint64_t bytes);
  void stop_measuring() { measuring_ = false; }
  /// Bytes per opening: a path that was opened six times has a sixth of its sum. 0 while measuring, and for a
  /// path that was never measured.
  std::uint64_t bytes_of(const std::string& path) const;

 private:
  friend class Module;
  struct Measured {
    std::uint64_t bytes = 0;
    std::uint64_t calls = 0;
  };
  bool measuring_ = true;
  std::vector<std::string> open_;  // full paths with dots, outermost first
  std::map<std::string, Measured> measured_by_path_;
};

struct Execution {
  Backend& backend;
  Arena& arena;
  ModuleLedger& ledger;
  kernels::ElementType element;
  AttentionMode attention = AttentionMode::flash;
  DeformableMode deformable = DeformableMode::fused;
  DumpSink* dumps = nullptr;  ///< nullptr: no dumps
};

/// Opens one module while the object lives: one NVTX range per component of the dotted name.
class Module {
 public:
  Module(Execution& execution, std::string_view dotted_name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 private:
  ModuleLedger& ledger_;
  int levels_ = 0;
  bool has_ranges_;  // a measuring pass opens none, because it runs nothing
};

/// Ops that run while the object lives form a branch (backend.h).
class Branch {
 public:
  Branch(Execution& execution, BranchPoint point) : backend_(execution.backend) {
    backend_.begin_branch(point);
  }
  ~Branch() { backend_.end_branch(); }
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

 private:
  Backend& backend_;
};

/// Passes `tensor` to the dumps, if there are any.
void dump(Execution& execution, std::string_view name, const Tensor& tensor);

}  // namespace rangefinder::rtdetr
