// Compiles src/ to dist/. Runs on `npm ci` too, so that a checkout works at once.
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
