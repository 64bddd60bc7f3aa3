// Compiles src/ to dist/ (the library), then joins the command line into few files under dist/bin/:
// loading sixty small modules would take longer than most commands. The page that the gateway serves goes
// from web/ to dist/web/. Runs on `npm ci` too, so that a checkout works at once.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
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
  "search-thread": "engine/tools/search-thread.js",
  "hook-program": "hooks/hook-program.js",
  "crash-child": "selftest/crash-child.js",
  "lease-child": "selftest/lease-child.js",
};

// Alone in its file: parts shared with a command would bring along what only the command needs, and the
// first results wait for the thread to be ready.
const SCAN_THREAD = "claude/index/scan-thread.js";
// So is what answers Claude Code's hooks, which waits for it: as small as it can be, and in the form that Node
// loads fastest.
const HOOK = "cli/commands/hook.js";
const HOOK_OUTPUT = {
  format: "cjs",
  minify: true,
  entryFileNames: "[name]-[hash].cjs",
  chunkFileNames: "[name]-[hash].cjs",
};

const JOINED =
  /^(?:@modelcontextprotocol\/sdk|zod|zod-to-json-schema|ajv|ajv-formats|fast-deep-equal|fast-uri|json-schema-traverse)(?:\/|$)/;

// Files that are loaded together become one: looking for fifty small ones takes longer than what a list does.
const TOGETHER = [
  {
    name: "core",
    test: /\/dist\/(?:base|keys|config)\/(?!config-text|schema|edit|json5-document)|\/dist\/compose\.js$|\/dist\/cli\/(?:command|arguments|output|text-width|context)\.js$/,
  },
  {
    name: "native-sessions",
    test: /\/dist\/claude\/(?:attribution|pricing|index\/(?!scan-|fork-groups)|discovery\/(?:discover|known-sessions|places|repo-locator|session-row)\.|registry\/registry|archive\/(?:catalogue|manifest)|native\/(?:layout|parse-json|running|session-scan|transcripts|usage)\.)|\/dist\/compose-claude\.js$|\/dist\/cli\/commands\/cc\/(?:claude-side|progress-line|session-view|list|list-json)\.js$/,
  },
];

const { rolldown } = await import("rolldown");
await joinFiles(Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, `${root}dist/${file}`])), {
  codeSplitting: { includeDependenciesRecursively: false, groups: TOGETHER },
});
await joinFiles({ "scan-thread": `${root}dist/${SCAN_THREAD}` }, {});
const hook = await joinFiles({ hook: `${root}dist/${HOOK}` }, HOOK_OUTPUT);
writeFileSync(`${root}dist/bin/hook.cjs`, `module.exports = require("./${hook}");\n`);
// By the Node that will run it, which need not be the one that builds.
const bundledNode = `${root}node_modules/node/bin/${process.platform === "win32" ? "node.exe" : "node"}`;
execFileSync(existsSync(bundledNode) ? bundledNode : process.execPath, [`${root}scripts/compile-hook.js`]);

async function joinFiles(input, output) {
  const bundle = await rolldown({
    input,
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    // A part that is loaded on demand in one place may be needed at once in another.
    checks: { ineffectiveDynamicImport: false },
    // Dependencies stay what they are, installed packages, but for those that `holdfast mcp` cannot start
    // without: their hundreds of files take longer to load than a client waits gladly.
    external: (id) => /^[^./]/.test(id) && !JOINED.test(id),
  });
  const { output: files } = await bundle.write({
    dir: `${root}dist/bin`,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    ...output,
  });
  await bundle.close();
  return files.find(({ isEntry }) => isEntry === true).fileName;
}

// React decides by this variable whether it is the small and quick one.
process.env["NODE_ENV"] = "production";
const { build } = await import("vite");
await build({ configFile: `${root}web/vite.config.ts` });
