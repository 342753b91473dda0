// Makes page.js and page.css of the sources, and page.sum, by which a test knows that they belong together.
//
//   node build.mjs            writes them
//   node build.mjs --check    compares the bytes with those that are there, and writes nothing

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = dirname(here);
const banner = readFileSync(join(out, "LICENSES-page"), "utf8").trim();

const made = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "ascii",
  legalComments: "none",
  banner: { js: `/*\n${banner}\n*/`, css: "" },
  outdir: out,
  write: false,
});
const files = new Map(made.outputFiles.map((file) => [relative(out, file.path), file.text]));
// A script in HTML ends where this is said, wherever it stands.
for (const text of files.values()) if (/<\/(script|style)/i.test(text)) throw new Error("the bundle would end its element");

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : [path];
  });
}
const listed = [...sources(join(here, "src")), ...["build.mjs", "package-lock.json", "package.json", "tsconfig.json"].map((name) => join(here, name))];
const sum = (text) => createHash("sha256").update(text).digest("hex");
listed.push(join(out, "LICENSES-page"));
const lines = listed.map((path) => [relative(out, path), sum(readFileSync(path))]);
lines.push(...[...files].map(([name, text]) => [name, sum(text)]));
lines.sort(([a], [b]) => (a < b ? -1 : 1));
files.set("page.sum", lines.map(([name, hash]) => `${hash}  ${name}\n`).join(""));

let isStale = false;
for (const [name, text] of files) {
  const path = join(out, name);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${path} is not what the sources make: npm run build writes it`);
    isStale = true;
  }
}
process.exitCode = isStale ? 1 : 0;
