// SPDX-License-Identifier: Apache-2.0
//
// node check.mjs REPOSITORY FILE…: validates files of traces against schema/*.schema.json with ajv.
//
// A FILE named summary.json is one document, any other file has one document per line. Prints the problems, or
// the number of documents. Also damages each kind of line, since a schema that accepts everything would pass.
import {readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';

const [repository, ...files] = process.argv.slice(2);
// strictTypes off: the schemas narrow types by `if` and `not`, which ajv's check does not support.
const ajv = new Ajv2020({allErrors: true, strictTypes: false, strictRequired: false});
const compiled = name => ajv.compile(JSON.parse(readFileSync(join(repository, `schema/${name}.schema.json`), 'utf8')));
const schemas = {trace: compiled('trace'), summary: compiled('summary')};
// The others only have to be valid: contract_test.py checks their documents.
for (const name of ['baseline', 'diff', 'doctor', 'report', 'serve', 'validation']) compiled(name);
const problems = [];
const kinds = new Map();
let documents = 0;
let refused = 0;

function accept(schema, document, place) {
  ++documents;
  if (schemas[schema](document)) return;
  const [first] = schemas[schema].errors;
  problems.push(`${place}: ${first.instancePath || '/'} ${first.message}`);
}

function refuse(schema, document, what) {
  ++refused;
  if (schemas[schema](document)) problems.push(`the schema accepts ${what}: ${JSON.stringify(document).slice(0, 200)}`);
}

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  if (basename(file) === 'summary.json') {
    const summary = JSON.parse(text);
    accept('summary', summary, file);
    refuse('summary', {...summary, schema: 'other'}, 'a summary of another schema');
    refuse('summary', {...summary, modules: {}}, 'a summary whose modules are not a list');
    continue;
  }
  for (const [number, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const document = JSON.parse(line);
    accept('trace', document, `${file}:${number + 1}`);
    kinds.set(document.t, document);
  }
}
for (const [kind, line] of kinds) {
  refuse('trace', {...line, t: 7}, `a ${kind} line whose kind is a number`);
  for (const key of Object.keys(line)) {
    if (typeof line[key] === 'number') refuse('trace', {...line, [key]: [[]]}, `a ${kind} line with a list as ${key}`);
  }
}
if (problems.length !== 0) {
  console.error(problems.slice(0, 20).join('\n'));
  console.error(`${problems.length} problems in ${documents} documents`);
  process.exit(1);
}
console.log(`${documents} documents of ${kinds.size} kinds agree with the schemas, ${refused} damaged ones do not`);
