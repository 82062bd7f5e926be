// SPDX-License-Identifier: Apache-2.0
//
// Runs SQL in DuckDB: {"traces": pattern, "scripts": [texts], "queries": [texts]} on standard input,
// the rows of each query as an array of objects on standard output. 64 bit integers are text.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const request = JSON.parse(readFileSync(0, 'utf8'));
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(`SET VARIABLE traces = '${request.traces.replaceAll("'", "''")}'`);
for (const script of request.scripts) await connection.run(script);
const results = [];
for (const query of request.queries) {
  results.push((await connection.runAndReadAll(query)).getRowObjectsJson());
}
process.stdout.write(JSON.stringify(results));
