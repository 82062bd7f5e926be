// SPDX-License-Identifier: Apache-2.0
//
// A libcudart.so.13 by name only: beside it a Python wheel keeps its libcupti.
extern "C" __attribute__((visibility("default"))) int fake_cudart() {
  return 13;
}
