-- SPDX-License-Identifier: Apache-2.0
--
-- A lake as external tables of Spark. Not tested. After `rangefinder lake compact LAKE`: Spark reads every file in a
-- folder. Replace s3a://bucket/lake by where the lake is. `run` is a column, from the names of folders; with
-- spark.sql.sources.partitionColumnTypeInference.enabled=false it is a text also where names look like numbers.
-- UBIGINT columns, such as `process`, are DECIMAL(20, 0). After runs were added: MSCK REPAIR TABLE, or make the table
-- again.

CREATE DATABASE IF NOT EXISTS rangefinder;
USE rangefinder;
CREATE TABLE IF NOT EXISTS processes USING parquet LOCATION 's3a://bucket/lake/v1/processes';
CREATE TABLE IF NOT EXISTS kernels USING parquet LOCATION 's3a://bucket/lake/v1/kernels';
CREATE TABLE IF NOT EXISTS launches USING parquet LOCATION 's3a://bucket/lake/v1/launches';
CREATE TABLE IF NOT EXISTS copies USING parquet LOCATION 's3a://bucket/lake/v1/copies';
CREATE TABLE IF NOT EXISTS memsets USING parquet LOCATION 's3a://bucket/lake/v1/memsets';
CREATE TABLE IF NOT EXISTS ranges USING parquet LOCATION 's3a://bucket/lake/v1/ranges';
CREATE TABLE IF NOT EXISTS exact USING parquet LOCATION 's3a://bucket/lake/v1/exact';
CREATE TABLE IF NOT EXISTS samples USING parquet LOCATION 's3a://bucket/lake/v1/samples';
CREATE TABLE IF NOT EXISTS syncs USING parquet LOCATION 's3a://bucket/lake/v1/syncs';
CREATE TABLE IF NOT EXISTS holds USING parquet LOCATION 's3a://bucket/lake/v1/holds';
CREATE TABLE IF NOT EXISTS stacks USING parquet LOCATION 's3a://bucket/lake/v1/stacks';
CREATE TABLE IF NOT EXISTS loss USING parquet LOCATION 's3a://bucket/lake/v1/loss';
CREATE TABLE IF NOT EXISTS conditions USING parquet LOCATION 's3a://bucket/lake/v1/conditions';
CREATE TABLE IF NOT EXISTS rank_module USING parquet LOCATION 's3a://bucket/lake/v1/rank_module';
CREATE TABLE IF NOT EXISTS rank_kernel USING parquet LOCATION 's3a://bucket/lake/v1/rank_kernel';
CREATE TABLE IF NOT EXISTS collectives USING parquet LOCATION 's3a://bucket/lake/v1/collectives';
CREATE TABLE IF NOT EXISTS iterations USING parquet LOCATION 's3a://bucket/lake/v1/iterations';
CREATE TABLE IF NOT EXISTS findings USING parquet LOCATION 's3a://bucket/lake/v1/findings';
