// SPDX-License-Identifier: Apache-2.0
//
// Tables of the sqlite export. docs/reference/export.md describes them for users.
//
// Tables in capitals have the names and columns of Nsight Systems' export where the meaning is the same, so
// that queries run on both. The columns pathId, rangeId and those after them are additions. Tables and views
// in lower case are additions too. A value that was not measured is NULL.
#pragma once

namespace rangefinder {

inline constexpr const char* kSqliteNsightTables = R"sql(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, computeMajor INTEGER, computeMinor INTEGER,
  smCount INTEGER, totalMemory INTEGER, l2CacheSize INTEGER, memoryBandwidth INTEGER, clockRate INTEGER);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (contextId INTEGER, deviceId INTEGER, nullStreamId INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, contextId INTEGER, priority INTEGER, flag INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  mangledName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
  blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
  sharedMemoryExecuted INTEGER, localMemoryPerThread INTEGER, graphId INTEGER, graphNodeId INTEGER,
  pathId INTEGER, rangeId INTEGER, captured INTEGER, libraryId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, copyCount INTEGER, graphId INTEGER,
  graphNodeId INTEGER, pathId INTEGER, rangeId INTEGER, captured INTEGER, isAsync INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER,
  graphId INTEGER, graphNodeId INTEGER, pathId INTEGER, rangeId INTEGER, captured INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphNodeId INTEGER,
  pathId INTEGER, rangeId INTEGER, captured INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER, returnValue INTEGER, pathId INTEGER, rangeId INTEGER);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,
  floatValue REAL, pathId INTEGER, insideRangeId INTEGER);
)sql";

inline constexpr const char* kSqliteOwnTables = R"sql(
CREATE TABLE trace (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE loss (cause TEXT PRIMARY KEY, count INTEGER NOT NULL, meaning TEXT NOT NULL);
CREATE TABLE paths (id INTEGER PRIMARY KEY, parent INTEGER, depth INTEGER NOT NULL, name TEXT NOT NULL,
  domain TEXT NOT NULL, path TEXT NOT NULL, classSource TEXT, callSource TEXT);
CREATE TABLE exact (correlationId INTEGER, counterRange INTEGER, kind TEXT NOT NULL, deviceId INTEGER NOT NULL,
  pathId INTEGER, rangeId INTEGER, launches INTEGER, kernels INTEGER, isExclusive INTEGER, gpuNs INTEGER,
  dramReadBytes INTEGER, dramWriteBytes INTEGER, l2Bytes INTEGER, metricSet TEXT, unmeasured TEXT);
CREATE TABLE metrics (correlationId INTEGER, counterRange INTEGER, metricSet TEXT NOT NULL, metricId INTEGER NOT NULL,
  value REAL);
CREATE TABLE syncs (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, contextId INTEGER,
  streamId INTEGER, event TEXT, pathId INTEGER, rangeId INTEGER);
CREATE TABLE allocations (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, isFree INTEGER NOT NULL,
  memory TEXT NOT NULL, address TEXT, bytes INTEGER, contextId INTEGER, streamId INTEGER, pool TEXT,
  pathId INTEGER, rangeId INTEGER);
CREATE TABLE events (start INTEGER, end INTEGER, globalTid INTEGER, isWait INTEGER NOT NULL, event TEXT,
  streamId INTEGER, contextId INTEGER, pathId INTEGER, rangeId INTEGER);
CREATE TABLE captures (start INTEGER, end INTEGER, globalTid INTEGER, step TEXT NOT NULL, streamId INTEGER,
  contextId INTEGER, graph TEXT, result INTEGER, pathId INTEGER, rangeId INTEGER);
CREATE TABLE holds (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER NOT NULL, cause TEXT NOT NULL);
CREATE TABLE conditions (at INTEGER NOT NULL, deviceId INTEGER, globalTid INTEGER, condition TEXT NOT NULL,
  value INTEGER NOT NULL);
CREATE TABLE frames (id INTEGER PRIMARY KEY, function TEXT NOT NULL, file TEXT, line INTEGER);
CREATE TABLE stacks (id INTEGER PRIMARY KEY, caller INTEGER, frame INTEGER NOT NULL);
CREATE TABLE stack_samples (at INTEGER NOT NULL, globalTid INTEGER NOT NULL, stackId INTEGER NOT NULL,
  intervalNs INTEGER NOT NULL);
CREATE TABLE gaps (start INTEGER NOT NULL, end INTEGER NOT NULL, cause TEXT NOT NULL);
CREATE TABLE samples (deviceId INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, dramReadBytes INTEGER,
  dramWriteBytes INTEGER, l2Bytes INTEGER, pcieReadBytes INTEGER, pcieWriteBytes INTEGER,
  nvlinkReceivedBytes INTEGER, nvlinkTransmittedBytes INTEGER, smActivePct INTEGER, engineActivePct INTEGER);

CREATE VIEW kernels AS
  SELECT k.start, k.end, k.end - k.start AS duration, s.value AS kernel, p.path AS module, k.streamId,
         k.correlationId, e.dramReadBytes, e.dramWriteBytes, e.l2Bytes
  FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName
  LEFT JOIN paths p ON p.id = k.pathId
  LEFT JOIN exact e ON e.correlationId = k.correlationId AND e.kind = 'kernel';
-- Times are summed as REAL, exact up to 104 days, and end at 2^63 - 1: a sum of integers fails above it.
CREATE VIEW modules AS
  WITH RECURSIVE above(id, ancestor) AS (
    SELECT id, id FROM paths UNION ALL
    SELECT above.id, paths.parent FROM above JOIN paths ON paths.id = above.ancestor WHERE paths.parent IS NOT NULL),
  own AS (SELECT pathId, count(*) AS kernels, CAST(sum(CAST(end - start AS REAL)) AS INTEGER) AS gpuNs FROM CUPTI_ACTIVITY_KIND_KERNEL
          GROUP BY pathId)
  SELECT p.path AS module, p.depth, sum(own.kernels) AS kernels,
         CAST(sum(CAST(own.gpuNs AS REAL)) AS INTEGER) AS gpuNs,
         (SELECT gpuNs FROM own WHERE own.pathId = p.id) AS gpuNsExclusive, p.classSource, p.callSource
  FROM paths p JOIN above ON above.ancestor = p.id JOIN own ON own.pathId = above.id
  GROUP BY p.id;
)sql";

/// Created after the last row: updating an index with every insert costs more.
inline constexpr const char* kSqliteIndexes = R"sql(
CREATE INDEX exact_by_correlation ON exact (correlationId);
)sql";

}  // namespace rangefinder
