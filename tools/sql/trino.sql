-- SPDX-License-Identifier: Apache-2.0
--
-- Tables of a lake as external tables of Trino (Hive connector). Not tested. After `rangefinder lake compact LAKE`:
-- Trino reads every file in a folder. Replace s3://bucket/lake by where the lake is, hive by the catalog. Other tables
-- of the lake likewise: `rangefinder sql LAKE 'DESCRIBE launches'` shows columns. After runs were added:
--
--   CALL hive.system.sync_partition_metadata('rangefinder', 'kernels', 'FULL');

CREATE SCHEMA IF NOT EXISTS hive.rangefinder;

CREATE TABLE IF NOT EXISTS hive.rangefinder.kernels (
  process decimal(20, 0), rank integer, start_ns bigint, end_ns bigint, gpu bigint, context bigint, stream bigint,
  correlation bigint, module varchar, range_id decimal(20, 0), graph bigint, graph_node decimal(20, 0),
  captured boolean, kernel varchar, library varchar, grid_x bigint, grid_y bigint, grid_z bigint, block_x bigint,
  block_y bigint, block_z bigint, registers_per_thread bigint, static_shared_bytes bigint,
  dynamic_shared_bytes bigint, run varchar
) WITH (external_location = 's3://bucket/lake/v1/kernels', format = 'PARQUET', partitioned_by = ARRAY['run']);

CREATE TABLE IF NOT EXISTS hive.rangefinder.rank_module (
  process decimal(20, 0), rank integer, host varchar, module varchar, folded varchar, depth bigint,
  calls decimal(20, 0), host_ns decimal(20, 0), kernels decimal(20, 0), gpu_ns decimal(20, 0),
  gpu_ns_exclusive decimal(20, 0), gpu_busy_ns decimal(20, 0), dram_read_bytes decimal(20, 0),
  dram_write_bytes decimal(20, 0), l2_bytes decimal(20, 0), bytes_source varchar, host_code_ns double,
  launching_ns double, copy_calls_ns double, memory_ns double, waiting_ns double, own_kernels_ns double,
  own_copies_ns double, iterations decimal(20, 0), class_source varchar, call_source varchar, run varchar
) WITH (external_location = 's3://bucket/lake/v1/rank_module', format = 'PARQUET', partitioned_by = ARRAY['run']);

CREATE TABLE IF NOT EXISTS hive.rangefinder.rank_kernel (
  process decimal(20, 0), rank integer, host varchar, module varchar, kernel varchar, library varchar,
  kernels decimal(20, 0), gpu_ns decimal(20, 0), min_ns decimal(20, 0), max_ns decimal(20, 0), run varchar
) WITH (external_location = 's3://bucket/lake/v1/rank_kernel', format = 'PARQUET', partitioned_by = ARRAY['run']);

CREATE TABLE IF NOT EXISTS hive.rangefinder.collectives (
  process decimal(20, 0), rank integer, host varchar, communicator decimal(20, 0), nth decimal(20, 0),
  operation varchar, needs_all boolean, gpu bigint, stream bigint, start_ns bigint, end_ns bigint,
  iteration decimal(20, 0), module varchar, run varchar
) WITH (external_location = 's3://bucket/lake/v1/collectives', format = 'PARQUET', partitioned_by = ARRAY['run']);

CREATE TABLE IF NOT EXISTS hive.rangefinder.iterations (
  process decimal(20, 0), rank integer, host varchar, iteration decimal(20, 0), start_ns bigint,
  wall_ns decimal(20, 0), counts boolean, host_ns decimal(20, 0), gpu_ns decimal(20, 0),
  gpu_busy_ns decimal(20, 0), sync_ns decimal(20, 0), held_ns decimal(20, 0), kernels decimal(20, 0),
  launches decimal(20, 0), copy_bytes decimal(20, 0), sm_mhz double, power_w double, run varchar
) WITH (external_location = 's3://bucket/lake/v1/iterations', format = 'PARQUET', partitioned_by = ARRAY['run']);
