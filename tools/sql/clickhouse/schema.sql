-- SPDX-License-Identifier: Apache-2.0
--
-- The tables of a lake in ClickHouse, with the columns of docs/reference/lake.md. load.py reads this file for names and
-- types: a column a line.
--
--   clickhouse-client --database rangefinder < schema.sql
--
-- A run is a partition: it is loaded and dropped as a whole. `duration_ns` is kept in place of `end_ns`, which
-- compresses worse. Every row has its host, for sharding: as a dictionary it costs next to nothing. Events go
-- 30 days after they were loaded, sums after 400.

CREATE TABLE IF NOT EXISTS processes (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  pid Int64,
  boot_unix_ns Int64,
  start_unix_ns Int64,
  ranks Nullable(UInt32),
  executable LowCardinality(String),
  command String,
  counters LowCardinality(String),
  tool_version LowCardinality(String),
  driver_version Int32,
  cupti_version Int32,
  last_ns Int64,
  end_reason LowCardinality(Nullable(String)),
  trace String,
  loaded_at DateTime DEFAULT now(),
  began DateTime ALIAS toDateTime(intDiv(start_unix_ns, 1000000000))
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS kernels (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Nullable(Int64) CODEC(Delta, ZSTD(1)),
  duration_ns Nullable(Int64) CODEC(T64, ZSTD(1)),
  gpu UInt32,
  context UInt32,
  stream UInt32,
  correlation UInt32 CODEC(Delta, ZSTD(1)),
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  graph Nullable(UInt32),
  graph_node Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  captured Nullable(Bool),
  kernel LowCardinality(Nullable(String)),
  library LowCardinality(Nullable(String)),
  grid_x Nullable(UInt32),
  grid_y Nullable(UInt32),
  grid_z Nullable(UInt32),
  block_x Nullable(UInt32),
  block_y Nullable(UInt32),
  block_z Nullable(UInt32),
  registers_per_thread Nullable(UInt32),
  static_shared_bytes Nullable(UInt32),
  dynamic_shared_bytes Nullable(UInt32),
  loaded_at DateTime DEFAULT now(),
  end_ns Nullable(Int64) ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, gpu, stream, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS launches (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  thread UInt32,
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  inherited Nullable(Bool),
  api LowCardinality(String),
  correlation UInt32 CODEC(Delta, ZSTD(1)),
  context Nullable(UInt32),
  result Nullable(Int32),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS copies (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Nullable(Int64) CODEC(Delta, ZSTD(1)),
  duration_ns Nullable(Int64) CODEC(T64, ZSTD(1)),
  gpu UInt32,
  context UInt32,
  stream UInt32,
  correlation UInt32 CODEC(Delta, ZSTD(1)),
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  graph Nullable(UInt32),
  graph_node Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  captured Nullable(Bool),
  kind LowCardinality(String),
  source LowCardinality(String),
  destination LowCardinality(String),
  bytes UInt64,
  async Nullable(Bool),
  copies Nullable(UInt64),
  source_gpu Nullable(UInt32),
  destination_gpu Nullable(UInt32),
  loaded_at DateTime DEFAULT now(),
  end_ns Nullable(Int64) ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, gpu, stream, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS memsets (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Nullable(Int64) CODEC(Delta, ZSTD(1)),
  duration_ns Nullable(Int64) CODEC(T64, ZSTD(1)),
  gpu UInt32,
  context UInt32,
  stream UInt32,
  correlation UInt32 CODEC(Delta, ZSTD(1)),
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  graph Nullable(UInt32),
  graph_node Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  captured Nullable(Bool),
  bytes UInt64,
  value Nullable(UInt32),
  memory LowCardinality(String),
  loaded_at DateTime DEFAULT now(),
  end_ns Nullable(Int64) ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, gpu, stream, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS ranges (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Nullable(Int64) CODEC(T64, ZSTD(1)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  thread UInt32,
  domain LowCardinality(Nullable(String)),
  is_start_end Bool,
  module LowCardinality(Nullable(String)),
  end_thread Nullable(UInt32),
  category Nullable(UInt32),
  color Nullable(UInt32),
  payload Nullable(Float64),
  payload_type LowCardinality(Nullable(String)),
  name LowCardinality(Nullable(String)),
  loaded_at DateTime DEFAULT now(),
  end_ns Nullable(Int64) ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS exact (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  thread UInt32,
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  inherited Nullable(Bool),
  api LowCardinality(Nullable(String)),
  correlation Nullable(UInt32) CODEC(Delta, ZSTD(1)),
  context Nullable(UInt32),
  result Nullable(Int32),
  kind LowCardinality(String),
  gpu UInt32,
  counter_range Nullable(UInt64),
  launches Nullable(UInt32),
  kernels Nullable(UInt32),
  exclusive Nullable(Bool),
  kernel LowCardinality(Nullable(String)),
  library LowCardinality(Nullable(String)),
  grid_x Nullable(UInt32),
  grid_y Nullable(UInt32),
  grid_z Nullable(UInt32),
  block_x Nullable(UInt32),
  block_y Nullable(UInt32),
  block_z Nullable(UInt32),
  bytes Nullable(UInt64),
  bytes_module LowCardinality(Nullable(String)),
  shared_range Nullable(UInt64),
  gpu_ns Nullable(UInt64),
  dram_read_bytes Nullable(UInt64),
  dram_write_bytes Nullable(UInt64),
  l2_bytes Nullable(UInt64),
  metric_set LowCardinality(Nullable(String)),
  metrics Nullable(String),
  unmeasured LowCardinality(Nullable(String)),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS samples (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  gpu UInt32,
  start_ns Int64 CODEC(DoubleDelta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  dram_read_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  dram_write_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  l2_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  pcie_read_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  pcie_write_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  nvlink_received_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  nvlink_transmitted_bytes Nullable(UInt64) CODEC(T64, ZSTD(1)),
  sm_active_pct Nullable(UInt64) CODEC(T64, ZSTD(1)),
  engine_active_pct Nullable(UInt64) CODEC(T64, ZSTD(1)),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, gpu, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS syncs (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  thread UInt32,
  module LowCardinality(Nullable(String)),
  range_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  inherited Nullable(Bool),
  api LowCardinality(String),
  context Nullable(UInt32),
  stream Nullable(UInt32),
  event Nullable(UInt64),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS holds (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  thread UInt32,
  cause LowCardinality(String),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, start_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS stacks (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  thread UInt32,
  at_ns Int64 CODEC(Delta, ZSTD(1)),
  interval_ns UInt32,
  function LowCardinality(String),
  stack LowCardinality(String),
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, thread, at_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS loss (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  cause LowCardinality(String),
  count UInt64,
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, cause) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS conditions (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  at_ns Int64 CODEC(Delta, ZSTD(1)),
  gpu Nullable(UInt32),
  thread Nullable(UInt32),
  sm_mhz Nullable(UInt64) CODEC(T64, ZSTD(1)),
  memory_mhz Nullable(UInt64) CODEC(T64, ZSTD(1)),
  power_w Nullable(UInt64) CODEC(T64, ZSTD(1)),
  power_limit_w Nullable(UInt64) CODEC(T64, ZSTD(1)),
  temperature_c Nullable(UInt64) CODEC(T64, ZSTD(1)),
  throttle Nullable(UInt64),
  gpu_busy_pct Nullable(UInt64) CODEC(T64, ZSTD(1)),
  memory_busy_pct Nullable(UInt64) CODEC(T64, ZSTD(1)),
  power_capped_ms Nullable(UInt64),
  thermal_capped_ms Nullable(UInt64),
  ecc_corrected Nullable(UInt64),
  ecc_uncorrected Nullable(UInt64),
  xids Nullable(UInt64),
  last_xid Nullable(UInt64),
  mig Nullable(UInt64),
  compute_mode Nullable(UInt64),
  other_processes Nullable(UInt64),
  other_memory_mib Nullable(UInt64),
  dram_mib Nullable(UInt64) CODEC(T64, ZSTD(1)),
  cpu_ms Nullable(UInt64) CODEC(T64, ZSTD(1)),
  rss_mib Nullable(UInt64) CODEC(T64, ZSTD(1)),
  swap_mib Nullable(UInt64),
  minor_faults Nullable(UInt64),
  major_faults Nullable(UInt64),
  involuntary_switches Nullable(UInt64),
  read_mib Nullable(UInt64),
  written_mib Nullable(UInt64),
  received_mib Nullable(UInt64),
  sent_mib Nullable(UInt64),
  millicores Nullable(UInt64),
  quota_throttled_ms Nullable(UInt64),
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, gpu, thread, at_ns) TTL loaded_at + INTERVAL 30 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS rank_module (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  module LowCardinality(Nullable(String)),
  folded LowCardinality(Nullable(String)),
  depth Nullable(UInt32),
  calls Nullable(UInt64),
  host_ns UInt64,
  kernels UInt64,
  gpu_ns UInt64,
  gpu_ns_exclusive UInt64,
  gpu_busy_ns UInt64,
  dram_read_bytes Nullable(UInt64),
  dram_write_bytes Nullable(UInt64),
  l2_bytes Nullable(UInt64),
  bytes_source LowCardinality(Nullable(String)),
  host_code_ns Float64,
  launching_ns Float64,
  copy_calls_ns Float64,
  memory_ns Float64,
  waiting_ns Float64,
  own_kernels_ns Float64,
  own_copies_ns Float64,
  iterations UInt64,
  class_source LowCardinality(Nullable(String)),
  call_source LowCardinality(Nullable(String)),
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, module) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS rank_kernel (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  module LowCardinality(Nullable(String)),
  kernel LowCardinality(String),
  library LowCardinality(String),
  kernels UInt64,
  gpu_ns UInt64,
  min_ns UInt64,
  max_ns UInt64,
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, module, kernel) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS collectives (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  communicator Nullable(UInt64),
  nth UInt64 CODEC(Delta, ZSTD(1)),
  operation LowCardinality(String),
  needs_all Bool,
  gpu UInt32,
  stream UInt32,
  start_ns Int64 CODEC(Delta, ZSTD(1)),
  duration_ns Int64 CODEC(T64, ZSTD(1)),
  iteration Nullable(UInt64),
  module LowCardinality(Nullable(String)),
  loaded_at DateTime DEFAULT now(),
  end_ns Int64 ALIAS start_ns + duration_ns
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, communicator, nth) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS iterations (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  iteration UInt64,
  start_ns Int64,
  wall_ns Nullable(UInt64),
  counts Bool,
  host_ns UInt64,
  gpu_ns UInt64,
  gpu_busy_ns UInt64,
  sync_ns UInt64,
  held_ns UInt64,
  kernels UInt64,
  launches UInt64,
  copy_bytes UInt64,
  sm_mhz Nullable(Float64),
  power_w Nullable(Float64),
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, iteration) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS findings (
  run LowCardinality(String),
  process UInt64,
  rank Nullable(Int32),
  host LowCardinality(String),
  finding LowCardinality(String),
  severity LowCardinality(String),
  title String,
  module LowCardinality(Nullable(String)),
  kernel LowCardinality(Nullable(String)),
  saving_ns Nullable(UInt64),
  share Nullable(Float64),
  why String,
  next_step String,
  loaded_at DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY run ORDER BY (rank, process, finding) TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;
