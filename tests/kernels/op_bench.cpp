// SPDX-License-Identifier: Apache-2.0
//
// Time of one launch of each op other than convolution and GEMM, at the shapes of RT-DETR R50, 640x640.
//
//   op_bench [fp16|bf16|tf32|fp32] [BATCH]
//
// launch_timing.h describes the method. Also prints the bytes of min_bytes.h divided by the time.
// Exit codes: 0; 1 a call failed; 77 no GPU.
#include <cstring>
#include <string>

#include "kernels/min_bytes.h"
#include "tests/kernels/launch_timing.h"

namespace rangefinder::kernel_bench {
namespace {

using namespace rangefinder::kernels;

constexpr int kSkipped = 77;

struct Bench {
  ElementType element;
  int batch;
  std::size_t images() const { return static_cast<std::size_t>(batch); }
  NhwcInput input(int size, int channels, int stride = 0) const {
    const auto step = static_cast<std::size_t>(stride != 0 ? stride : channels);
    return {random_memory(element, images() * static_cast<std::size_t>(size * size) * step, 1, 0),
            size,
            size,
            channels,
            stride,
            0};
  }
  NhwcOutput output(int size, int channels) const {
    return {memory(images() * static_cast<std::size_t>(size * size * channels) * element_bytes(element)),
            size,
            size,
            channels,
            0,
            0};
  }
};

void bench_backbone(const Bench& bench) {
  StemArgs stem{bench.element,
                bench.batch,
                bench.input(640, 3, kPixelStride),
                random_memory(bench.element, 32 * 27, 1, 0),
                random_floats(32, 1, 0),
                bench.output(320, 32)};
  measure("stem 640x640x3 -> 32", min_bytes(stem), [&](cudaStream_t s) { return launch_stem(stem, s); });
  PoolArgs maximum{bench.element, bench.batch, bench.input(320, 64), bench.output(160, 64)};
  measure("max_pool 320x320x64", min_bytes(maximum),
          [&](cudaStream_t s) { return launch_max_pool(maximum, s); });
  PoolArgs mean{bench.element, bench.batch, bench.input(160, 256), bench.output(80, 256)};
  measure("average_pool 160x160x256", min_bytes(mean),
          [&](cudaStream_t s) { return launch_average_pool(mean, s); });
}

void bench_attention(const Bench& bench, int rows) {
  AttentionArgs args;
  args.element = bench.element;
  args.images = bench.batch;
  args.heads = 8;
  args.queries = args.keys = rows;
  args.scale = 0.17677669F;
  const auto packed = static_cast<std::size_t>(rows) * 768;
  const auto* const data =
      static_cast<const std::byte*>(random_memory(bench.element, bench.images() * packed, 1, 0));
  const auto image = static_cast<std::int64_t>(packed);
  args.query = {data, 768, image};
  args.key = {data + 256 * element_bytes(bench.element), 768, image};
  args.value = {data + 512 * element_bytes(bench.element), 768, image};
  args.output = memory(bench.images() * static_cast<std::size_t>(rows) * 256 * element_bytes(bench.element));
  args.scores = memory(attention_scores_bytes(args));
  args.probabilities = memory(attention_scores_bytes(args));
  const std::string name = "attention " + std::to_string(rows);
  measure(name.c_str(), min_bytes(args), [&](cudaStream_t s) { return launch_attention(args, s); });
  measure((name + " unfused (4 kernels)").c_str(), min_bytes(args),
          [&](cudaStream_t s) { return launch_attention_unfused(args, s); });
}

void bench_deformable_attention(const Bench& bench) {
  DeformableAttentionArgs args;
  args.element = bench.element;
  args.images = bench.batch;
  args.queries = 300;
  args.heads = 8;
  args.levels = 3;
  args.points = 4;
  args.level = {FeatureLevel{80, 80, 0}, FeatureLevel{40, 40, 6400}, FeatureLevel{20, 20, 8000},
                FeatureLevel{}};
  args.value = random_memory(bench.element, bench.images() * 8400 * 256, 1, 0);
  args.value_row_stride = 256;
  args.value_image_stride = 8400 * 256;
  args.projected = random_memory(bench.element, bench.images() * 300 * 288, 2, 0);
  args.projected_row_stride = 288;
  args.reference_boxes = random_floats(bench.images() * 1200, 0.4F, 0.5F);
  args.output = memory(bench.images() * 300 * 256 * element_bytes(bench.element));
  args.workspace = memory(deformable_attention_unfused_bytes(args));
  measure("deformable_attention 300", min_bytes(args),
          [&](cudaStream_t s) { return launch_deformable_attention(args, s); });
  measure("deformable_attention 300 unfused", min_bytes(args),
          [&](cudaStream_t s) { return launch_deformable_attention_unfused(args, s); });
}

void bench_layer_norm(const Bench& bench, int rows) {
  LayerNormArgs args;
  args.element = bench.element;
  args.rows = bench.batch * rows;
  args.channels = 256;
  const auto count = static_cast<std::size_t>(args.rows) * 256;
  args.input = random_memory(bench.element, count, 1, 0);
  args.gamma = random_floats(256, 1, 0);
  args.beta = random_floats(256, 1, 0);
  args.output = memory(count * element_bytes(bench.element));
  if (rows != 8400) {
    args.residual = random_memory(bench.element, count, 1, 0);
    args.position = random_memory(bench.element, count, 1, 0);
    args.position_rows = args.rows;
    args.output_with_position = memory(count * element_bytes(bench.element));
  }
  measure(("layer_norm " + std::to_string(rows) + "x256").c_str(), min_bytes(args),
          [&](cudaStream_t s) { return launch_layer_norm(args, s); });
}

void bench_top_k(const Bench& bench, int rows, int columns) {
  TopKArgs args{bench.batch, rows, columns, 300, nullptr, nullptr, nullptr, nullptr};
  args.scores = random_floats(bench.images() * static_cast<std::size_t>(rows * columns), 4, -5);
  args.indices = static_cast<std::int32_t*>(memory(bench.images() * 300 * sizeof(std::int32_t)));
  args.workspace = memory(top_k_workspace_bytes(args));
  measure(("top_k " + std::to_string(rows) + "x" + std::to_string(columns)).c_str(), min_bytes(args),
          [&](cudaStream_t s) { return launch_top_k(args, s); });
}

void bench_boxes(const Bench& bench) {
  const std::size_t rows = bench.images() * 300;
  BoxRefinementArgs boxes;
  boxes.element = bench.element;
  boxes.images = bench.batch;
  boxes.queries = 300;
  boxes.delta = random_floats(rows * 4, 1, 0);
  boxes.previous = random_floats(rows * 4, 0.4F, 0.5F);
  boxes.boxes = static_cast<float*>(memory(rows * 16));
  boxes.query_input = memory(rows * kQueryInputColumns * element_bytes(bench.element));
  measure("box_refinement 300", min_bytes(boxes),
          [&](cudaStream_t s) { return launch_box_refinement(boxes, s); });
  GatherArgs gather;
  gather.images = bench.batch;
  gather.source_rows = 8400;
  gather.gathered_rows = 300;
  gather.row_bytes = 256 * static_cast<int>(element_bytes(bench.element));
  gather.source = memory(bench.images() * 8400 * static_cast<std::size_t>(gather.row_bytes));
  gather.indices = static_cast<const std::int32_t*>(memory(rows * sizeof(std::int32_t)));
  gather.output = memory(rows * static_cast<std::size_t>(gather.row_bytes));
  measure("gather 300 of 8400 x 256", min_bytes(gather),
          [&](cudaStream_t s) { return launch_gather(gather, s); });
  const PostprocessArgs post{bench.batch,
                             300,
                             80,
                             300,
                             random_floats(rows * 80, 1, 0),
                             boxes.previous,
                             gather.indices,
                             static_cast<const ImageSize*>(memory(bench.images() * 8)),
                             static_cast<Detection*>(memory(rows * sizeof(Detection)))};
  measure("postprocess 300", min_bytes(post), [&](cudaStream_t s) { return launch_postprocess(post, s); });
}

void bench_preprocess(const Bench& bench) {
  PreprocessArgs args;
  args.element = bench.element;
  args.source_height = 720;
  args.source_width = 1280;
  args.target_height = args.target_width = 640;
  args.image = static_cast<const std::uint8_t*>(memory(720 * 1280 * 3));
  args.workspace = static_cast<std::uint8_t*>(memory(preprocess_workspace_bytes(args)));
  args.output = memory(640 * 640 * 4 * element_bytes(bench.element));
  measure("preprocess 1280x720 (2 kernels)", min_bytes(args),
          [&](cudaStream_t s) { return launch_preprocess(args, s); });
}

void run(const Bench& bench) {
  bench_preprocess(bench);
  bench_backbone(bench);
  bench_attention(bench, 400);
  bench_attention(bench, 300);
  bench_deformable_attention(bench);
  bench_layer_norm(bench, 300);
  bench_layer_norm(bench, 400);
  bench_layer_norm(bench, 8400);
  bench_top_k(bench, 8400, 80);
  bench_top_k(bench, 24000, 1);
  bench_boxes(bench);
}

}  // namespace
}  // namespace rangefinder::kernel_bench

int main(int argc, char** argv) {
  using namespace rangefinder::kernel_bench;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: there is no GPU\n");
    return kSkipped;
  }
  Bench bench{rangefinder::kernels::ElementType::fp16, argc > 2 ? std::max(std::atoi(argv[2]), 1) : 1};
  using rangefinder::kernels::ElementType;
  for (const ElementType element :
       {ElementType::fp32, ElementType::tf32, ElementType::fp16, ElementType::bf16})
    if (argc > 1 && std::strcmp(argv[1], rangefinder::kernels::name_of(element)) == 0)
      bench.element = element;
  std::printf("%s, batch %d; median of %d replays of %d launches\n",
              rangefinder::kernels::name_of(bench.element), bench.batch, kReplays, kRepeats);
  run(bench);
  return 0;
}
