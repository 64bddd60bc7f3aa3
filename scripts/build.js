// Compiles src/ to dist/ (the library), then joins the command line into few files under dist/bin/:
// loading sixty small modules would take longer than most commands. Runs on `npm ci` too, so that a
// checkout works at once.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;

if (!existsSync(compiler)) {
  console.error("The TypeScript compiler is not installed: run `npm ci` with dev dependencies.");
  process.exit(1);
}
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", `${root}tsconfig.build.json`], { stdio: "inherit" });

// Programs of their own: threads and processes are started from a file beside the code that does it.
const PROGRAMS = {
  main: "cli/main.js",
  "sqlite-thread": "store/sqlite/sqlite-thread.js",
  "crash-child": "selftest/crash-child.js",
  "lease-child": "selftest/lease-child.js",
};

const { rolldown } = await import("rolldown");
const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, `${root}dist/${file}`])),
  platform: "node",
  // Dependencies stay what they are: installed packages.
  external: /^[^./]/,
});
await bundle.write({ dir: `${root}dist/bin`, format: "esm", chunkFileNames: "[name]-[hash].js" });
await bundle.close();
