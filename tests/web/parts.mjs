// SPDX-License-Identifier: Apache-2.0
//
// Loads parts of the page into node: vite compiles them to modules, as for the page.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { skip } from "./traces.mjs";

/** load(FILE…): the exports of these files of tools/web/src. Without vite the test is skipped. */
export async function loader(repository) {
  const web = join(repository, "tools/web");
  if (!existsSync(join(web, "node_modules/vite"))) skip("no vite: tools/setup --web");
  const { build } = await import(pathToFileURL(createRequire(join(web, "package.json")).resolve("vite")).href);
  // No file has that name.
  const all = join(web, "src/parts.ts");
  return async (...files) => {
    const parts = files.map((file) => `export * from ${JSON.stringify(join(web, "src", file))};`).join("\n");
    const plugin = {
      name: "parts",
      resolveId: (id) => (id === all ? id : undefined),
      load: (id) => (id === all ? parts : undefined),
    };
    const lib = { entry: all, formats: ["es"], fileName: "part" };
    const result = await build({
      root: web,
      configFile: false,
      logLevel: "error",
      plugins: [plugin],
      build: { write: false, lib },
    });
    const { code } = result[0].output[0];
    return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
  };
}
