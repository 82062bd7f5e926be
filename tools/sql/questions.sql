-- SPDX-License-Identifier: Apache-2.0
--
-- Example queries over views.sql.

-- Heaviest modules, over all processes.
SELECT module, sum(kernels) AS kernels, sum(gpu_ns) / 1e6 AS gpu_ms, sum(gpu_ns_exclusive) / 1e6 AS own_ms,
       any_value(coalesce(class_source, call_source)) AS source
FROM modules GROUP BY module ORDER BY gpu_ms DESC LIMIT 20;

-- Heaviest kernels, with the spread of their durations.
SELECT kernel, library, count(*) AS launches, sum(duration_ns) / 1e6 AS total_ms, median(duration_ns) / 1e3 AS median_us,
       quantile_cont(duration_ns, 0.95) / 1e3 AS p95_us
FROM kernels GROUP BY kernel, library ORDER BY total_ms DESC LIMIT 20;

-- DRAM bytes and bandwidth of modules whose launches were measured.
SELECT e.module, sum(e.dram_read_bytes + e.dram_write_bytes) / 1e6 AS dram_mb,
       sum(e.dram_read_bytes + e.dram_write_bytes) / sum(k.duration_ns) AS gb_per_s
FROM exact e JOIN kernels k USING (trace, correlation) WHERE e.kind = 'kernel'
GROUP BY e.module ORDER BY dram_mb DESC NULLS LAST LIMIT 20;

-- Time from launch to start on the GPU, by stream.
SELECT k.trace, k.stream, count(*) AS kernels, median(k.start_ns - l.start_ns) / 1e3 AS median_us
FROM kernels k JOIN launches l USING (trace, correlation) GROUP BY k.trace, k.stream ORDER BY kernels DESC;

-- Copies by direction and kind of memory (pageable, pinned, device).
SELECT direction, source, destination, count(*) AS copies, sum(bytes) / 1e6 AS mb, sum(bytes) / sum(duration_ns) AS gb_per_s
FROM memcpys GROUP BY ALL ORDER BY mb DESC;

-- The straggler: GPU time of each process in each module, relative to the mean of all processes.
SELECT t.rank, t.host, t.pid, m.module, m.gpu_ns / 1e6 AS gpu_ms,
       m.gpu_ns / avg(m.gpu_ns) OVER (PARTITION BY m.module) AS over_mean
FROM modules m JOIN traces t USING (trace) WHERE m.depth <= 2 ORDER BY over_mean DESC LIMIT 20;

-- Longest gaps on a stream, with the module of the kernel that ended them.
SELECT trace, stream, start_ns - latest_end_ns AS gap_ns, module
FROM (SELECT *, max(end_ns) OVER (PARTITION BY trace, context, stream ORDER BY start_ns
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest_end_ns FROM kernels)
WHERE start_ns > latest_end_ns ORDER BY gap_ns DESC LIMIT 20;

-- Is the data complete?
SELECT t.host, t.pid, l.cause, l.count FROM loss l JOIN traces t USING (trace);
