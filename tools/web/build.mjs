// SPDX-License-Identifier: Apache-2.0
//
// Builds the page: one HTML file with its script and style inside, and places for the data.
//
//   node build.mjs            writes dist/page.html
//   node build.mjs --check    exit code 1 if dist/page.html is not what the sources give
//   node build.mjs --sources  prints the digest of the sources, which needs no npm
//
// The page allows itself nothing: its Content-Security-Policy names the one script and the one style by
// their digests, and forbids every request. Needs node 20.19 or newer, and `npm ci` beforehand.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "dist", "page.html");

/** Everything that decides what comes out, in one order on every machine. */
function sources() {
  const files = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs", "page.template.html"];
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

async function bundle() {
  const { build } = await import("vite");
  const result = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2022",
      minify: true,
      cssMinify: true,
      lib: { entry: join(here, "src", "main.tsx"), formats: ["iife"], name: "rangefinderPage", fileName: "page" },
    },
  });
  const output = (Array.isArray(result) ? result[0] : result).output;
  const script = output.find((part) => part.type === "chunk").code;
  const style = output.find((part) => part.fileName.endsWith(".css")).source.toString();
  if (/<\/script|<!--/i.test(script)) throw new Error("the script holds what would end it");
  return { script: script.trim(), style: style.trim() };
}

/** The licences of what is bundled ask to come along. */
function licences() {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const texts = Object.entries(dependencies).map(
    ([name, version]) =>
      `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`,
  );
  if (texts.some((text) => text.includes("<"))) throw new Error("a licence holds markup");
  return texts.join("\n\n");
}

const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function page() {
  const { script, style } = await bundle();
  const policy = [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  // Functions as replacements: `$` in the script means nothing then.
  return readFileSync(join(here, "page.template.html"), "utf8")
    .replace("@policy@", () => policy)
    .replace("@sources@", digestOfSources)
    .replace("@licences@", licences)
    .replace("@style@", () => style)
    .replace("@script@", () => script);
}

if (process.argv.includes("--sources")) {
  console.log(digestOfSources());
} else {
  const built = await page();
  if (process.argv.includes("--check")) {
    const same = readFileSync(target, "utf8") === built;
    console.log(
      same
        ? "dist/page.html is the build of its sources"
        : "dist/page.html is not what its sources give: npm run build",
    );
    process.exit(same ? 0 : 1);
  }
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, built);
  console.log(`dist/page.html: ${built.length} bytes`);
}
