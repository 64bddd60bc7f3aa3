#!/usr/bin/env node
// Picks the runtime and loads dist/bin. Plain JavaScript that Node 18 can run: an older Node re-executes this file
// under the Node 24 that `npm ci` installed into the checkout. CommonJS, because it starts some milliseconds sooner.
"use strict";
const { existsSync, mkdirSync } = require("node:fs");
const path = require("node:path");

const NEEDED = 24;
const root = path.join(__dirname, "..");
const bundledNode = path.join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
const major = Number(process.versions.node.split(".")[0]);

if (major >= NEEDED) {
  void start();
} else if (existsSync(bundledNode) && process.env.HOLDFAST_REEXECUTED === undefined) {
  reexecute();
} else {
  fail(
    `Holdfast needs Node ${NEEDED} or newer; this is ${process.version}.\n` +
      "  Install Node 24, or in a checkout run `npm ci` (without --ignore-scripts), which installs it.",
  );
}

async function start() {
  if (!existsSync(path.join(root, "dist", "bin", "main.js"))) {
    fail("dist/ is missing: run `npm ci` or `npm run build` in the checkout first.");
    return;
  }
  const [first, event, ...more] = process.argv.slice(2);
  // Claude Code waits for its hooks, so they skip the command table.
  if (first === "hook" && event !== undefined && !event.startsWith("-") && more.length === 0) {
    const { hook } = require("../dist/bin/hook.cjs");
    await hook(event);
    return;
  }
  keepCompiledCode();
  const { main } = await import("../dist/bin/main.js");
  process.exitCode = await main(process.argv.slice(2));
}

/** Saves some milliseconds per start. Only if Holdfast has a home: reading must not create one. */
function keepCompiledCode() {
  const home = process.env.HOLDFAST_HOME?.trim() || path.join(require("node:os").homedir(), ".holdfast");
  const folder = path.join(home, "cache", "compiled");
  try {
    if (!["agents", "cache", path.join("claude", "hooks")].some((name) => existsSync(path.join(home, name)))) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return; // A read-only home works too, only slower.
  }
  // Node creates a subfolder with the mode of the umask.
  const umask = process.umask(0o077);
  require("node:module").enableCompileCache?.(folder);
  process.umask(umask);
}

function reexecute() {
  const { spawn } = require("node:child_process");
  const child = spawn(bundledNode, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...process.env, HOLDFAST_REEXECUTED: "1" },
  });
  // The terminal sends SIGINT to both; the others reach only this process.
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => undefined);
  child.on("error", (error) => fail(`could not start ${bundledNode}: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
}

function fail(message) {
  console.error(`holdfast: ${message}`);
  process.exitCode = 1;
}
