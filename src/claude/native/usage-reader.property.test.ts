/** The usage reader counts the same as a full scan for any content of people, tools and the model. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../../test/support/any-character.ts";
import { claudeSampleLines } from "../../../test/support/claude-samples.ts";
import { type LineReader, createLineReader } from "./line-reader.ts";
import { createSessionScan } from "./session-scan.ts";
import { createUsageReader } from "./usage-reader.ts";
import type { UsageLedger } from "./usage.ts";

const realLines = claudeSampleLines();

const envelope = { userType: "external", cwd: "/a", sessionId: "s", version: "2", gitBranch: "main" };
const head = { parentUuid: "p", isSidechain: false };
const foot = { uuid: "u", timestamp: "2026-11-15T18:13:04.760Z", ...envelope };
const usage = { input_tokens: 3, output_tokens: 999 };
const answer = (content: unknown, id: string, output: number) => ({
  ...head,
  message: { model: "m", id, content, stop_reason: null, usage: { input_tokens: 1, output_tokens: output } },
  type: "assistant",
  ...foot,
});
const said = (content: unknown) => ({ ...head, type: "user", message: { role: "user", content }, ...foot });

/** Text and values that look like the usage of a message or the end of a line. */
const forged = fc.oneof(
  fc.constantFrom(
    JSON.stringify(answer([], "forged", 999)),
    '","type":"user","x":"',
    `],"stop_reason":null,"usage":${JSON.stringify(usage)}},"type":"assistant"`,
    '{"parentUuid":"p","type":"user"',
  ),
  fc.string({ unit: anyCharacter }),
);
const forgedValue = fc.oneof(
  forged,
  fc.constantFrom({ list: [], stop_reason: null, usage }, { type: "user", message: {} }),
  fc.jsonValue(),
);
const block = fc.oneof(
  forged.map((text) => ({ type: "text", text })),
  forgedValue.map((input) => ({ type: "tool_use", id: "t", name: "Edit", input })),
);
const line = fc.oneof(
  fc.tuple(fc.array(block, { maxLength: 3 }), fc.constantFrom("m1", "m2"), fc.nat(50)).map((of) => answer(...of)),
  // With its type before everything else.
  fc.nat(50).map((output) => Object.assign({ type: "assistant" }, answer([], "m3", output))),
  fc.oneof(forged, fc.array(block)).map(said),
  forgedValue.map((toolUseResult) => ({
    ...said([{ tool_use_id: "t", type: "tool_result", content: "x" }]),
    toolUseResult,
  })),
  forgedValue.map((value) => ({ toolUseResult: value, message: { usage }, ...envelope, type: "user" })),
  forgedValue.map((attachment) => ({ ...head, attachment, type: "attachment", ...foot })),
);
const anyLine = fc.oneof(
  line.map((value) => JSON.stringify(value)),
  line.map((value) => JSON.stringify(value, undefined, " ").replaceAll("\n", " ")),
  fc.constantFrom(...realLines),
  fc.tuple(line, line, fc.nat(400)).map(([a, b, cut]) => JSON.stringify(a).slice(0, cut) + JSON.stringify(b)),
);

function read(reader: LineReader, lines: readonly string[]) {
  const scan = createSessionScan();
  const ledger: UsageLedger = new Map();
  reader.begin(scan, ledger);
  for (const text of lines) {
    const bytes = Buffer.from(text);
    if (!reader.read(bytes, bytes.toString("latin1"), 0, bytes.length)) reader.reject(0, "damaged");
  }
  const { rootUuid, firstMessageId, openedAt, cwds } = scan;
  return { rootUuid, firstMessageId, openedAt, cwd: cwds[0], messages: [...ledger] };
}

it("counts the same messages, each with the same usage", () => {
  const [everything, usageAlone] = [createLineReader(), createUsageReader()];
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 12 }), (lines) => {
      expect(read(usageAlone, lines)).toEqual(read(everything, lines));
    }),
    { numRuns: 1000 },
  );
});

it("counts the usage in the samples", () => {
  const { messages } = read(createUsageReader(), realLines);
  expect(messages.length).toBeGreaterThan(20);
});
