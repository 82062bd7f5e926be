// SPDX-License-Identifier: Apache-2.0
//
// Builds the pages: HTML files with script and style inside. page.html, for `report --html`, has placeholders
// for the data. live.html, for `serve`, requests data from its own server.
//
//   node build.mjs            writes dist/page.html and dist/live.html
//   node build.mjs --check    exit code 1 if they differ from the build of the sources
//   node build.mjs --sources  prints the digest of the sources; needs no npm
//
// The Content-Security-Policy of a page allows one script and one style, by digest, and forbids every request.
// live.html may also request from its own server. Needs node 20.19 or newer, and `npm ci` beforehand.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const kPages = [
  { name: "page", entry: "main.tsx", requests: [] },
  { name: "live", entry: "live.tsx", requests: ["connect-src 'self'"] },
];
const target = (page) => join(here, "dist", `${page.name}.html`);

/** All inputs of the build, in the same order on every machine. */
function sources() {
  const files = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs"];
  for (const page of kPages) files.push(`${page.name}.template.html`);
  for (const entry of readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) files.push(relative(here, join(entry.parentPath, entry.name)));
  }
  return files.sort();
}

function digestOfSources() {
  const hash = createHash("sha256");
  for (const file of sources())
    hash
      .update(file + "\0")
      .update(readFileSync(join(here, file)))
      .update("\0");
  return hash.digest("hex");
}

async function bundle(entry) {
  const { build } = await import("vite");
  const result = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      // "use client" of the table's library has a meaning only for servers.
      rolldownOptions: { onwarn: (warning, warn) => warning.code !== "MODULE_LEVEL_DIRECTIVE" && warn(warning) },
      target: "es2022",
      minify: true,
      cssMinify: true,
      lib: { entry: join(here, "src", entry), formats: ["iife"], name: "rangefinderPage", fileName: "page" },
    },
  });
  const output = (Array.isArray(result) ? result[0] : result).output;
  const script = output.find((part) => part.type === "chunk").code;
  const style = output.find((part) => part.fileName.endsWith(".css")).source.toString();
  if (/<\/script|<!--/i.test(script)) throw new Error("the script contains a tag that would end it");
  return { script: script.trim(), style: style.trim() };
}

/** The licences of the bundled packages require their text in copies: all of the lock file without tools of the build. */
function licences() {
  const { packages } = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
  const texts = Object.entries(packages)
    .filter(([path, { dev, devOptional, optional }]) => path !== "" && !dev && !devOptional && !optional)
    .map(([path, { version }]) => {
      const text = readFileSync(join(here, path, "LICENSE"), "utf8").trim();
      return `${path.split("node_modules/").at(-1)} ${version}\n\n${text}`;
    });
  if (texts.some((text) => text.includes("<"))) throw new Error("a licence contains markup");
  return texts.join("\n\n");
}

const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function built(page) {
  const { script, style } = await bundle(page.entry);
  const policy = [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    ...page.requests,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  // Replacement functions, because `$` in a replacement string has a meaning.
  return readFileSync(join(here, `${page.name}.template.html`), "utf8")
    .replace("@policy@", () => policy)
    .replace("@sources@", digestOfSources)
    .replace("@licences@", licences)
    .replace("@style@", () => style)
    .replace("@script@", () => script);
}

if (process.argv.includes("--sources")) {
  console.log(digestOfSources());
} else {
  let same = true;
  for (const page of kPages) {
    const text = await built(page);
    if (!process.argv.includes("--check")) {
      mkdirSync(dirname(target(page)), { recursive: true });
      writeFileSync(target(page), text);
      console.log(`dist/${page.name}.html: ${text.length} bytes`);
    } else if (readFileSync(target(page), "utf8") !== text) {
      console.log(`dist/${page.name}.html differs from the build of its sources: npm run build`);
      same = false;
    } else {
      console.log(`dist/${page.name}.html is the build of its sources`);
    }
  }
  process.exitCode = same ? 0 : 1;
}
