/**
 * Modules of Node that take milliseconds to load and that most commands never use. These functions load them on demand.
 */
import type * as childProcess from "node:child_process";
import type * as crypto from "node:crypto";
import type * as util from "node:util";
import type * as zlib from "node:zlib";

export function nodeCrypto(): typeof crypto {
  return process.getBuiltinModule("node:crypto");
}

export function nodeChildProcess(): typeof childProcess {
  return process.getBuiltinModule("node:child_process");
}

export function nodeUtil(): typeof util {
  return process.getBuiltinModule("node:util");
}

export function nodeZlib(): typeof zlib {
  return process.getBuiltinModule("node:zlib");
}
