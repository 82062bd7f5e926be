// SPDX-License-Identifier: Apache-2.0
//
// One RT-DETR of one size, batch and element type, with its memory. A program creates it once and runs it
// often.
//
//   Network(...)  folds and uploads the weights, measures one pass (arena, bytes of each module), allocates
//   forward()     pixels in pixels() -> predictions() -> detections(); launches only, so it can be captured
//
// One thread. The backend owns all memory and must outlive the network.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/postprocess/postprocess.h"
#include "workloads/rtdetr/decoder.h"

namespace rangefinder::rtdetr {

struct NetworkOptions {
  kernels::ElementType element = kernels::ElementType::fp16;
  int images = 1;
  int height = 640;
  int width = 640;
  AttentionMode attention = AttentionMode::flash;
  DeformableMode deformable = DeformableMode::fused;
};

class Network {
 public:
  Network(const Config& config, const Weights& weights, const NetworkOptions& options, Backend& backend);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Input: (images, height, width, 3), pixel stride kPixelStride, values 0..1, in the backend's memory.
  const Tensor& pixels() const;
  /// Resizes `image` (height x width x 3 bytes, RGB, host memory) into pixels() of image `slot`. Keeps its
  /// size for the boxes. Range: preprocess.
  void load_image(int slot, std::span<const std::uint8_t> image, int height, int width);
  /// Takes values of 0..1 instead, (images, height, width, 3) packed, for tests and random input.
  void load_pixels(std::span<const float> values);
  void force_top_k(std::span<const std::int32_t> indices);  ///< (images, queries); empty: select again

  /// All ops from pixels to detections. Ranges: model and below, postprocess. `dumps` may be nullptr.
  void forward(DumpSink* dumps);

  const Predictions& predictions() const;  ///< valid after the first forward()
  /// Best first, `queries` per image; downloads. Range: D2H.
  std::vector<std::vector<kernels::Detection>> detections();
  std::uint64_t arena_bytes() const;
  std::uint64_t declared_bytes() const;  ///< per forward pass, layer by layer

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rangefinder::rtdetr
