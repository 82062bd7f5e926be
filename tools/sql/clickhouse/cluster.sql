-- SPDX-License-Identifier: Apache-2.0
--
-- The tables of schema.sql over all shards of a cluster, in a database beside that of the shards. All rows of a
-- process are on one shard. The macro {cluster} is the cluster's name, as servers' configurations have it.
--
--   CREATE DATABASE rangefinder ON CLUSTER …           schema.sql there, on every server
--   CREATE DATABASE rangefinder_all ON CLUSTER …       this file there once, then views.sql on every server
--
-- Not tried: the statements are parsed by the tests, there was no cluster.

CREATE TABLE IF NOT EXISTS processes ON CLUSTER '{cluster}' AS rangefinder.processes
  ENGINE = Distributed('{cluster}', rangefinder, processes, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS kernels ON CLUSTER '{cluster}' AS rangefinder.kernels
  ENGINE = Distributed('{cluster}', rangefinder, kernels, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS launches ON CLUSTER '{cluster}' AS rangefinder.launches
  ENGINE = Distributed('{cluster}', rangefinder, launches, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS copies ON CLUSTER '{cluster}' AS rangefinder.copies
  ENGINE = Distributed('{cluster}', rangefinder, copies, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS memsets ON CLUSTER '{cluster}' AS rangefinder.memsets
  ENGINE = Distributed('{cluster}', rangefinder, memsets, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS ranges ON CLUSTER '{cluster}' AS rangefinder.ranges
  ENGINE = Distributed('{cluster}', rangefinder, ranges, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS exact ON CLUSTER '{cluster}' AS rangefinder.exact
  ENGINE = Distributed('{cluster}', rangefinder, exact, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS samples ON CLUSTER '{cluster}' AS rangefinder.samples
  ENGINE = Distributed('{cluster}', rangefinder, samples, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS syncs ON CLUSTER '{cluster}' AS rangefinder.syncs
  ENGINE = Distributed('{cluster}', rangefinder, syncs, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS holds ON CLUSTER '{cluster}' AS rangefinder.holds
  ENGINE = Distributed('{cluster}', rangefinder, holds, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS stacks ON CLUSTER '{cluster}' AS rangefinder.stacks
  ENGINE = Distributed('{cluster}', rangefinder, stacks, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS loss ON CLUSTER '{cluster}' AS rangefinder.loss
  ENGINE = Distributed('{cluster}', rangefinder, loss, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS conditions ON CLUSTER '{cluster}' AS rangefinder.conditions
  ENGINE = Distributed('{cluster}', rangefinder, conditions, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS rank_module ON CLUSTER '{cluster}' AS rangefinder.rank_module
  ENGINE = Distributed('{cluster}', rangefinder, rank_module, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS rank_kernel ON CLUSTER '{cluster}' AS rangefinder.rank_kernel
  ENGINE = Distributed('{cluster}', rangefinder, rank_kernel, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS collectives ON CLUSTER '{cluster}' AS rangefinder.collectives
  ENGINE = Distributed('{cluster}', rangefinder, collectives, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS iterations ON CLUSTER '{cluster}' AS rangefinder.iterations
  ENGINE = Distributed('{cluster}', rangefinder, iterations, cityHash64(run, host));
CREATE TABLE IF NOT EXISTS findings ON CLUSTER '{cluster}' AS rangefinder.findings
  ENGINE = Distributed('{cluster}', rangefinder, findings, cityHash64(run, host));
