/** Programs whose functions are compiled beforehand: they are what they were, whatever became of the compiled code. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, folderWith } from "../support/temp-folder.ts";

const COMPILED_CODE = fileURLToPath(new URL("../../bin/compiled-code.js", import.meta.url));
const BUILT = fileURLToPath(new URL("../../dist/bin", import.meta.url));

/** Their names say what is in them. */
const SUM = "sum-1a2b3c4d.cjs";
const PLUS = "plus-5e6f7a8b.cjs";

const UNCALLED = `(n) => { ${Array.from({ length: 300 }, (_, index) => `n = n * ${index} + n;`).join(" ")} return n; }`;

describe("what answers hooks", () => {
  it("is compiled by the build, and V8 takes all of it", () => {
    const programs = programsIn(BUILT);
    expect(programs.length).toBeGreaterThan(1);
    expect(takenBy(BUILT, programs)).toEqual(programs.map(() => true));
  });
});

describe("a program", () => {
  let program: TemporaryFolder;

  beforeEach(async () => {
    program = await folderWith({
      "main.cjs": `module.exports = require("./${SUM}");`,
      [SUM]: `exports.sum = (a, b) => require("./${PLUS}").plus(a, b);`,
      [PLUS]: `exports.plus = function plus(a, b) { return a + b; }; exports.uncalled = ${UNCALLED}`,
    });
  });

  afterEach(async () => {
    await program[Symbol.asyncDispose]();
  });

  it("runs as it is written where nothing is kept of it", () => {
    expect(takenBy(program.path, [SUM, PLUS])).toEqual([null, null]);
    expect(sumIn(program.path)).toBe(5);
  });

  it("runs with what is kept of it, which is made once", () => {
    const kept = compile(program.path);
    // Of a function that is not called, too.
    const sizes = kept.map(({ name }) => statSync(program.join(name)).size);
    expect(Math.max(...sizes)).toBeGreaterThan(2 * UNCALLED.length);
    expect(takenBy(program.path, ["main.cjs", SUM, PLUS])).toEqual([null, true, true]);
    expect(sumIn(program.path)).toBe(5);
    expect(compile(program.path)).toEqual(kept);
  });

  it.each([0, 7, 200])("runs where what is kept of it was cut after %i bytes, and it is made anew", (bytes) => {
    for (const { name } of compile(program.path)) truncateSync(program.join(name), bytes);
    expect(tryDamaged(program.path)).toEqual({ taken: false, sum: 5, takenAnew: [true, true], unfinished: [] });
  });

  it.each([100, 0.3, 0.7])("runs where what is kept of it is damaged from %d on, and it is made anew", (place) => {
    for (const { name } of compile(program.path)) {
      const kept = readFileSync(program.join(name));
      const start = place < 1 ? Math.floor(place * kept.length) : place;
      writeFileSync(program.join(name), kept.fill(0, start));
    }
    expect(tryDamaged(program.path)).toEqual({ taken: false, sum: 5, takenAnew: [true, true], unfinished: [] });
  });

  it("runs under settings that what is kept of it was not made with", () => {
    compile(program.path);
    expect(takenBy(program.path, [SUM], ["--no-opt"])).toEqual([false]);
    expect(sumIn(program.path, ["--no-opt"])).toBe(5);
  });
});

/** Runs it, has it compiled again, and says what came of that. */
function tryDamaged(folder: string): Record<"taken" | "sum" | "takenAnew" | "unfinished", unknown> {
  const taken = takenBy(folder, [SUM, PLUS]).includes(true);
  const sum = sumIn(folder);
  compile(folder);
  const unfinished = readdirSync(folder).filter((name) => name.endsWith(".tmp"));
  return { taken, sum, takenAnew: takenBy(folder, [SUM, PLUS]), unfinished };
}

function programsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".cjs") && name !== "hook.cjs");
}

/** The files that there are then. */
function compile(folder: string): { name: string; madeAt: number }[] {
  run(`compiled.keepCompiled(${JSON.stringify(folder)})`);
  const names = readdirSync(folder).filter((name) => name.endsWith(".code"));
  expect(names).toHaveLength(2);
  return names.map((name) => ({ name, madeAt: statSync(join(folder, name)).mtimeMs }));
}

/** Of each program, whether V8 took what is kept of it; null: there is nothing. */
function takenBy(folder: string, programs: readonly string[], flags: readonly string[] = []): (boolean | null)[] {
  const paths = programs.map((name) => join(folder, name));
  const rejected = run(`${JSON.stringify(paths)}.map((path) => compiled.readProgram(path).cachedDataRejected)`, flags);
  return (rejected as (boolean | null)[]).map((isRejected) => (isRejected === null ? null : !isRejected));
}

function sumIn(folder: string, flags: readonly string[] = []): unknown {
  return run(`compiled.requireCompiled(${JSON.stringify(join(folder, "main.cjs"))}).sum(2, 3)`, flags);
}

/** In a process of its own: this one has other settings than programs are run with. */
function run(expression: string, flags: readonly string[] = []): unknown {
  const script = `const compiled = require(${JSON.stringify(COMPILED_CODE)}); console.log(JSON.stringify(${expression} ?? null))`;
  return JSON.parse(execFileSync(process.execPath, [...flags, "-e", script], { encoding: "utf8", stdio: "pipe" }));
}
