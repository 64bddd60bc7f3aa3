// Loads a program of dist/bin whose functions are compiled already. V8 compiles a function when it is first called,
// and Node's own cache keeps what is compiled when a file has been loaded, before anything is called: of a program
// that runs for a tenth of a second every function would be compiled again in each of its runs.
"use strict";
const { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");
const { Script } = require("node:vm");

module.exports = { keepCompiled, readProgram, requireCompiled };

/** Compiled code fits one version of Node on one kind of processor. */
const COMPILED = `.${process.version}-${process.arch}.code`;

/** The file, and those beside it that it asks for. Where nothing is kept that fits, they are compiled as they run. */
function requireCompiled(program) {
  const loaded = new Map();
  const load = (file) => {
    const known = loaded.get(file);
    if (known !== undefined) return known.exports;
    const made = { exports: {} };
    loaded.set(file, made);
    const folder = path.dirname(file);
    const requireOther = createRequire(file);
    const requireNext = (id) => (id.startsWith("./") ? load(path.join(folder, id)) : requireOther(id));
    readProgram(file).runInThisContext()(made.exports, requireNext, made, file, folder);
    return made.exports;
  };
  return load(program);
}

/** It says itself whether V8 took what was kept of it. */
function readProgram(file) {
  return toScript(file, readKept(file + COMPILED));
}

/** V8 sees whether a file is as long as it was, not whether it is the same: those are kept whose name says that. */
const HASHED = /-[\w-]{8}\.cjs$/;

/** All functions of the programs in a folder, whether or not they would be called. */
function keepCompiled(folder) {
  for (const name of readdirSync(folder).filter((one) => HASHED.test(one))) {
    const file = path.join(folder, name);
    if (readProgram(file).cachedDataRejected === false) continue;
    const code = compileAll(file);
    const unfinished = `${file}.${process.pid}.tmp`;
    try {
      writeFileSync(unfinished, Buffer.concat([code, code]), { flush: true });
      renameSync(unfinished, file + COMPILED);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
}

function compileAll(file) {
  const { setFlagsFromString } = require("node:v8");
  let script;
  setFlagsFromString("--no-lazy");
  try {
    // By another name: a file that was loaded before, V8 would not compile once more.
    script = toScript(file, undefined, `${file} (all of it)`);
  } finally {
    // As it will be read: V8 refuses what was made with other settings.
    setFlagsFromString("--lazy");
  }
  return script.createCachedData();
}

function toScript(file, cachedData, filename = file) {
  const source = readFileSync(file, "utf8");
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  return new Script(wrapped, { filename, cachedData });
}

/** It is there twice: V8 believes whatever it reads, and nothing else finds out as quickly that some of it is damaged. */
function readKept(file) {
  let kept;
  try {
    kept = readFileSync(file);
  } catch {
    return undefined;
  }
  const code = kept.subarray(0, kept.length / 2);
  return code.equals(kept.subarray(kept.length / 2)) ? code : undefined;
}
