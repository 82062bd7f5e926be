# SPDX-License-Identifier: Apache-2.0
"""What is measured: the works, and the modes in which a process does them. Only tables.

A mode is a separate process. Two are alive at a time, plain and one other. With eleven alive, idle but for one,
RT-DETR's forwards took twice as long and varied by half. In the rounds of `sampled`, plain runs on a GPU that is being
sampled: the cost of that alone shows between plain's own rows.
"""
import dataclasses

FORWARD, GRAPH, STORM = "a forward", "a graph launch", "a launch"


@dataclasses.dataclass(frozen=True)
class Work:
    name: str
    title: str
    unit: str
    count: int             # units in one round
    call: tuple = ()       # function of the load library, its arguments before the count
    after: tuple = ()      # its arguments after the count
    needs_torch: bool = False


WORKS = {work.name: work for work in (
    Work("storm1", "empty launches, 1 thread", STORM, 20_000, ("load_storm", 1), (0,)),
    Work("storm8", "empty launches, 8 threads", STORM, 40_000, ("load_storm", 8), (0,)),
    Work("storm1_nvtx", "empty launches, 1 thread, an NVTX range every 3", STORM, 20_000, ("load_storm", 1), (3,)),
    Work("graph100", "graph of 100 empty kernels", GRAPH, 400, ("load_graph", 100)),
    Work("graph1000", "graph of 1000 empty kernels", GRAPH, 40, ("load_graph", 1000)),
    Work("tokens100", "capture, update and launch of 100 empty kernels", "a token", 400, ("load_tokens", 100)),
    Work("hf", "Hugging Face RT-DETR R50, eager, fp16, batch 1", FORWARD, 5, needs_torch=True),
    Work("hf_nvtx", "the same with an NVTX range a module", FORWARD, 5, needs_torch=True),
    Work("rtdetr_graph", "rtdetr R50, fp16, batch 1, graph on", FORWARD, 40, ("load_rtdetr", 1)),
    Work("rtdetr_launch", "rtdetr R50, fp16, batch 1, graph off", FORWARD, 40, ("load_rtdetr", 0)),
)}

ALL = tuple(WORKS)
STORMS, GRAPHS = ("storm1", "storm8", "storm1_nvtx"), ("graph100", "graph1000", "tokens100")


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    title: str
    works: tuple = ALL
    variables: tuple = ()      # of Rangefinder; () without `injects`: the library is not loaded
    injects: bool = False
    injected_file: str = "lib/librangefinder.so"  # in the build folder; the driver loads it
    tool: str = ""             # torch_cuda, torch_cpu_cuda, proton, cuda_profiler: started and stopped in the process
    wrapper: str = ""          # nsys, ncu: the process runs under it
    divisor: int = 1           # divides a work's count: slow modes do less per round
    most_pairs: int = 1_000

    @property
    def stopped(self):
        """Name of the row measured after the tool was stopped; "" if nothing is stopped."""
        return f"{self.name}, stopped" if self.tool else ""


FLOOR = "tests/overhead_floor.so"
FLOORED = ("storm1", "graph100", "hf", "hf_nvtx")
OFF = ("RANGEFINDER_COUNTERS", "off")

MODES = {mode.name: mode for mode in (
    Mode("plain", "no profiler"),
    Mode("idle", "library loaded, collection off", ("storm1", "storm8", "graph100", "hf", "rtdetr_graph"),
         (("RANGEFINDER_START", "off"),), True),
    Mode("trace", "kernels, copies, allocations, events, paths", ALL, (OFF,), True),
    Mode("floor_calls", "CUPTI alone: empty callbacks of launches", FLOORED, (("OVERHEAD_FLOOR", "callbacks"),), True,
         FLOOR),
    Mode("floor_records", "CUPTI alone: kernel records, discarded", FLOORED, (("OVERHEAD_FLOOR", "records"),), True,
         FLOOR),
    Mode("floor_both", "CUPTI alone: both", FLOORED, (("OVERHEAD_FLOOR", "both"),), True, FLOOR),
    Mode("floor_same", "CUPTI alone: our records, discarded, and our callbacks, empty", GRAPHS,
         (("OVERHEAD_FLOOR", "same"),), True, FLOOR),
    Mode("lean", "the same without allocations and events", ("hf_nvtx", "rtdetr_launch"),
         (OFF, ("RANGEFINDER_MEMORY", "off"), ("RANGEFINDER_EVENTS", "off")), True),
    Mode("whole", "graphs as a whole, nodes without records", GRAPHS + ("rtdetr_graph",),
         (OFF, ("RANGEFINDER_GRAPHS", "whole")), True),
    Mode("monitor", "windows of records", ALL, (OFF, ("RANGEFINDER_MONITOR", "on")), True),
    Mode("window", "traced from cuProfilerStart to cuProfilerStop", ("storm1", "hf_nvtx"),
         (OFF, ("RANGEFINDER_CAPTURE", "cudaProfilerApi"), ("RANGEFINDER_CAPTURE_END", "repeat")), True,
         tool="cuda_profiler"),
    Mode("sampled", "trace + sampled bytes", ("storm1", "graph100", "hf_nvtx", "rtdetr_graph"),
         (("RANGEFINDER_COUNTERS", "sampled"),), True),
    Mode("exact", "trace + exact bytes", ("storm1", "graph100", "hf_nvtx", "rtdetr_launch"),
         (("RANGEFINDER_COUNTERS", "exact"),), True, divisor=3, most_pairs=8),
    Mode("torch_cuda", "torch.profiler, CUDA", ("storm1", "graph100", "hf", "rtdetr_graph"),
         tool="torch_cuda"),
    Mode("torch_cpu_cuda", "torch.profiler, CPU and CUDA", ("storm1", "hf"), tool="torch_cpu_cuda"),
    Mode("proton", "Triton Proton, shadow contexts", ("storm1", "graph100", "hf", "rtdetr_graph"),
         tool="proton"),
    Mode("nsys", "nsys -t cuda,nvtx, graph nodes, no sampling",
         ("storm1", "storm8", "storm1_nvtx", "graph100", "graph1000", "hf", "hf_nvtx", "rtdetr_graph"), wrapper="nsys"),
    Mode("ncu", "ncu, DRAM and L2 bytes of each kernel", ("storm1",), wrapper="ncu", divisor=400,
         most_pairs=3),
)}

# (work, mode, over) and the maximum of the median ratio of pairs.
GOALS = {
    ("hf_nvtx", "trace", "plain"): 1.12,
    ("hf_nvtx", "sampled", "plain"): 1.13,
    ("hf_nvtx", "trace", "lean"): 1.05,
    ("hf", "monitor", "plain"): 1.02,
    ("hf", "idle", "plain"): 1.005,
    ("graph100", "whole", "plain"): 1.05,
    ("graph100", "trace", "plain"): 1.6,
    ("rtdetr_graph", "trace", "plain"): 1.10,
    ("tokens100", "trace", "floor_same"): 1.15,
    ("hf_nvtx", "window, stopped", "plain"): 1.02,
    ("storm1", "window, stopped", "plain"): 1.02,
}
