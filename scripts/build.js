// Compiles src/ to dist/ (the library), bundles the command line into a few files under dist/bin/, because loading
// many small modules takes longer than most commands, and builds the web page from web/ to dist/web/. Runs on
// `npm ci` too.
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

// Entry points: the command line, and the threads and processes that are started from their own file.
const PROGRAMS = {
  main: "cli/main.js",
  "sqlite-thread": "store/sqlite/sqlite-thread.js",
  "search-thread": "engine/tools/search-thread.js",
  "index-thread": "compose/index-thread.js",
  "hook-program": "hooks/hook-program.js",
  "crash-child": "selftest/crash-child.js",
  "lease-child": "selftest/lease-child.js",
};

// Bundled alone: shared chunks would load code that only commands need, and the first results wait for these threads.
const THREADS = { "scan-thread": "claude/index/scan-thread.js", "read-thread": "memory/read-thread.js" };
// Also bundled alone, and as CommonJS, which starts some milliseconds sooner: Claude Code waits for its hooks.
const HOOK = "cli/commands/hook.js";

const JOINED =
  /^(?:@modelcontextprotocol\/sdk|zod|zod-to-json-schema|ajv|ajv-formats|fast-deep-equal|fast-uri|json-schema-traverse)(?:\/|$)/;

// Chunks of files that are loaded together.
const TOGETHER = [
  {
    name: "start",
    test: /\/dist\/(?:base\/(?:builtin|errors|package|text)|config\/choices|cli\/(?:command|commands|cc-commands|gateway-commands))\.js$/,
  },
  {
    name: "core",
    test: /\/dist\/(?:base|keys|config)\/(?!config-text|schema|edit|json-places|sqlite|derived-database)|\/dist\/(?:compose\/agent|store\/document-files)\.js$|\/dist\/cli\/(?:output|context)\.js$/,
  },
  {
    name: "sessions",
    test: /\/dist\/(?:store\/(?:change-feed|create-store|gate|media|operations|pending|queues|rows|session-entry|store-errors|store-repair|store-rules|transcript-files|sqlite\/(?!sqlite-thread|thread-client)[a-z-]+)|transcript\/(?:codec|damage|entries|messages|migrations|new-entries|paths|reader|rewrite|scan)|session\/(?:agent-handle|find-session|reset-trigger|title|window-summary)|base\/sqlite|cli\/commands\/sessions-list)\.js$/,
  },
  {
    name: "native-sessions",
    test: /\/dist\/claude\/(?:attribution|index\/(?!scan-)|discovery\/(?:discover|repo-locator|session-row)\.|registry\/registry|archive\/catalogue|native\/(?:layout|session-scan|usage)\.)|\/dist\/compose\/claude\.js$|\/dist\/cli\/commands\/cc\/(?:claude-side|list)\.js$/,
  },
  {
    name: "search",
    test: /\/dist\/(?:memory\/(?!read-|index-writer|passages|tool-calls|search-results)[a-z-]+|compose\/search|cli\/commands\/search)\.js$/,
  },
];

const { rolldown } = await import("rolldown");
await joinFiles(Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, `${root}dist/${file}`])), {
  codeSplitting: { includeDependenciesRecursively: false, groups: TOGETHER },
});
for (const [name, file] of Object.entries(THREADS)) await joinFiles({ [name]: `${root}dist/${file}` }, {});
await joinFiles(
  { hook: `${root}dist/${HOOK}` },
  { format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name]-[hash].cjs" },
);

async function joinFiles(input, output) {
  const bundle = await rolldown({
    input,
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    // A module may be imported statically in one place and dynamically in another.
    checks: { ineffectiveDynamicImport: false },
    // Dependencies stay external, except those of `holdfast mcp`: loading their hundreds of files is too slow.
    external: (id) => /^[^./]/.test(id) && !JOINED.test(id),
  });
  await bundle.write({
    dir: `${root}dist/bin`,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    ...output,
  });
  await bundle.close();
}

// Selects React's production build.
process.env["NODE_ENV"] = "production";
const { build } = await import("vite");
await build({ configFile: `${root}web/vite.config.ts` });
