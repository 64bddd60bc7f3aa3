/** Imports inside src/ follow the order of docs/architecture.md, and no files import each other in a circle. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** From the bottom to the top: a folder imports itself and the folders before it. */
const LAYERS = `
  base keys config models transcript store project claude session memory handoff hooks engine channels tasks turn
  doctor import mcp rpc gateway compose selftest cli library index`
  .trim()
  .split(/\s+/);

/** Folders that may import less than the layers below them. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  channels: ["base", "keys", "config", "models", "store"],
  library: LAYERS.filter((layer) => !/^(?:selftest|cli|index)$/.test(layer)),
  index: LAYERS.filter((layer) => !/^(?:selftest|cli)$/.test(layer)),
};

const STORE_IMPLEMENTATION = /^store\/(?!contract\/)[^/]+\//;
/** `holdfast/openclaw` passes on OpenClaw's functions for `sessions.json`. */
const MAY_IMPORT_STORES = /^(?:store|compose)\b|^(?:index|openclaw|library\/openclaw)\b/;

/** These import each other's types. Nothing else may. */
const MAY_HAVE_CYCLES = /^handoff\/patterns\//;

const IMPORTS = readImports();

it("covers every file", () => {
  expect([...IMPORTS.keys()].filter((file) => !LAYERS.includes(layerOf(file)))).toEqual([]);
});

it("imports only lower layers", () => {
  expect(edges().filter(([from, to]) => !mayImport(layerOf(from), layerOf(to)))).toEqual([]);
});

it("builds stores only in compose", () => {
  expect(edges().filter(([from, to]) => STORE_IMPLEMENTATION.test(to) && !MAY_IMPORT_STORES.test(from))).toEqual([]);
});

it("has no cycles, type imports included", () => {
  expect(findCycle()).toEqual([]);
});

function readImports(): Map<string, readonly string[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  return new Map(sources.map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(SRC, file), "utf8");
  const found = source.matchAll(/^(?:import|export|\})(?:.*? from)? "(\..+?)";$|\bimport\("(\..+?)"\)/gm);
  return Array.from(found, ([, fixed, loaded]) => relative(SRC, join(SRC, dirname(file), fixed ?? loaded ?? "")));
}

function edges(): readonly (readonly [from: string, to: string])[] {
  return [...IMPORTS].flatMap(([from, imported]) => imported.map((to) => [from, to] as const));
}

/** The folder, or for a file of src/ itself the first part of its name: `compose-turns.ts` is `compose`. */
function layerOf(file: string): string {
  return file.split(/[/.-]/)[0] ?? "";
}

function mayImport(from: string, to: string): boolean {
  const lower = ONLY[from] ?? LAYERS.slice(0, LAYERS.indexOf(from));
  return from === to || lower.includes(to);
}

/** The files of one cycle, or nothing. */
function findCycle(): readonly string[] {
  const done = new Set<string>();
  const search = (file: string, path: readonly string[]): readonly string[] => {
    if (MAY_HAVE_CYCLES.test(file)) return [];
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return [];
    done.add(file);
    for (const imported of IMPORTS.get(file) ?? []) {
      const cycle = search(imported, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    return [];
  };
  return [...IMPORTS.keys()].map((file) => search(file, [])).find((cycle) => cycle.length > 0) ?? [];
}
