/**
 * What calls of tools and their results say without reading a sentence: the command that ran and whether it failed,
 * the file that was written, a commit, a pull request, a call that a person refused.
 */
import { isRecord } from "../../base/json-record.ts";
import { redactText } from "../../base/redact.ts";
import { printableLine } from "../../base/text.ts";
import type { ToolCall, ToolResult } from "../state.ts";

const COMMAND_LENGTH = 120;
const PATH_LENGTH = 300;
const SUBJECT_LENGTH = 120;
const ID_LENGTH = 80;
/** Where a commit or a pull request is named in a long output. */
const OUTPUT_LENGTH = 4_000;

const WRITES = /^(?:edit|multi_?edit|write|write_?file|edit_?file|create_?file|apply_?patch|notebook_?edit)$/i;

export function callOf(id: unknown, name: unknown, input: unknown): ToolCall[] {
  if (typeof id !== "string" || typeof name !== "string") return [];
  const call: ToolCall = { id: id.slice(0, ID_LENGTH) };
  if (isRecord(input)) {
    const { command } = input;
    const path = input["file_path"] ?? input["notebook_path"] ?? input["path"];
    if (typeof command === "string") call.command = shortCommand(command);
    if (WRITES.test(name) && typeof path === "string") call.file = printableLine(path, PATH_LENGTH);
  }
  return call.command === undefined && call.file === undefined ? [] : [call];
}

function shortCommand(command: string): string {
  return printableLine(redactText(command.slice(0, 8 * COMMAND_LENGTH)), COMMAND_LENGTH);
}

/** Claude Code's words when a person refuses a call or stops it. */
const DENIED =
  /^(?:The user doesn't want to (?:proceed|take this action)|\[Request interrupted|Permission to use .{1,80} has been denied)/;
const COMMIT = /^\[([^\s\]]{1,120})(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.{1,300})$/m;
const PULL_REQUEST = /https:\/\/[\w.-]{1,100}\/[\w.-]{1,100}\/[\w.-]{1,100}\/(?:pull|-\/merge_requests)\/\d{1,9}/;
/** Test runners that were piped into another program end without an error code. */
const FAILED_TESTS =
  /(?:^|[\s,(:])[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?)\b|^(?:FAIL|FAILED|BUILD FAILED)\b/m;

export function resultOf(id: unknown, text: string, isError: boolean): ToolResult[] {
  if (typeof id !== "string") return [];
  const output =
    text.length <= OUTPUT_LENGTH ? text : `${text.slice(0, OUTPUT_LENGTH / 2)}\n${text.slice(-OUTPUT_LENGTH / 2)}`;
  const [, branch = "", hash, subject = ""] = COMMIT.exec(output) ?? [];
  const pullRequest = PULL_REQUEST.exec(output)?.[0];
  return [
    {
      id: id.slice(0, ID_LENGTH),
      ...(isError || FAILED_TESTS.test(output) ? { isError: true } : {}),
      ...(isError && DENIED.test(text) ? { isDenied: true } : {}),
      ...(hash === undefined
        ? {}
        : { commit: { hash: hash.slice(0, 8), branch, subject: printableLine(redactText(subject), SUBJECT_LENGTH) } }),
      ...(pullRequest === undefined ? {} : { pullRequest }),
    },
  ];
}
