# SPDX-License-Identifier: Apache-2.0
"""A model under torch.compile with random weights: bert and resnet50 train, vit and hf_rtdetr infer.

compiled_models.py MODEL [--mode default|reduce-overhead] [--steps 12] [--cpp-wrapper] [--backend NAME]

Prints one JSON line: seconds of the first step, milliseconds of a later one, a digest of the results, and what
TorchDynamo and Inductor counted: graphs, graph breaks, recompilations, guards, operations.
"""
import argparse
import hashlib
import json
import os
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(num_hidden_layers=4, hidden_size=768, num_attention_heads=12, intermediate_size=3072,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = BertForSequenceClassification(config).cuda()
    tokens = torch.randint(0, 30_000, (8, 128), device="cuda")
    labels = torch.zeros(8, dtype=torch.long, device="cuda")
    return model, lambda compiled: compiled(input_ids=tokens, labels=labels).loss


def resnet50():
    import torchvision

    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    images = torch.randn(16, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.zeros(16, dtype=torch.long, device="cuda")
    return model, lambda compiled: torch.nn.functional.cross_entropy(compiled(images), labels)


def vit():
    import timm

    model = timm.create_model("vit_small_patch16_224", depth=6).cuda().half().eval()
    images = torch.randn(8, 3, 224, 224, device="cuda").half()
    return model, lambda compiled: compiled(images)


def hf_rtdetr():
    from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

    backbone = RTDetrResNetConfig(out_features=["stage2", "stage3", "stage4"], downsample_in_bottleneck=False)
    model = RTDetrForObjectDetection(RTDetrConfig(backbone_config=backbone, num_labels=80)).cuda().half().eval()
    images = torch.randn(1, 3, 640, 640, device="cuda").half()
    return model, lambda compiled: compiled(images).logits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=("bert", "resnet50", "vit", "hf_rtdetr"))
    parser.add_argument("--mode", default="default")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--cpp-wrapper", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    trains = options.model in ("bert", "resnet50")
    model, run = globals()[options.model]()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3) if trains else None
    if options.cpp_wrapper:
        from torch._inductor import config

        config.cpp_wrapper = True
    how = {"mode": options.mode} if options.backend == "inductor" else {"backend": options.backend}
    compiled = torch.compile(model, **how)
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        torch.compiler.cudagraph_mark_step_begin()
        with torch.set_grad_enabled(trains), torch.autocast("cuda", torch.bfloat16, enabled=options.model == "bert"):
            result = run(compiled)
        if trains:
            result.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    digest = hashlib.sha256(result.detach().float().cpu().numpy().tobytes())
    for parameter in model.parameters():
        digest.update(parameter.detach().float().cpu().numpy().tobytes())
    print(json.dumps({"first_s": round(times[0], 2), "step_ms": round(sorted(times[3:])[len(times[3:]) // 2] * 1e3, 3),
                      "steps": options.steps, "digest": digest.hexdigest()[:16], "counted": counted()}))


def counted():
    from torch._dynamo.utils import counters, get_compilation_metrics

    out = {kind: dict(counters[kind]) for kind in ("frames", "stats", "graph_break", "recompiles")}
    metrics = [each for each in get_compilation_metrics() if getattr(each, "guard_count", None) is not None]
    out["guards"] = [each.guard_count for each in metrics]
    out["shapes"] = [each.shape_env_guard_count for each in metrics]
    out["ops"] = [each.graph_op_count for each in metrics]
    return out


if __name__ == "__main__":
    main()
