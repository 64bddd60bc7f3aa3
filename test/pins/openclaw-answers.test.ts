/**
 * The recorded answers of OpenClaw 2026.1.30 (test/fixtures/vectors), compared with the package's exports. Every
 * difference is a decision listed in docs/openclaw-compatibility.md. `applyResetModelOverride` is tested in
 * src/session/model-choice.test.ts, because its cases need a different setup.
 */
import { readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { afterEach, expect, it } from "vitest";
import * as holdfast from "../../src/index.ts";
import { createAgentHome } from "../support/agent-home.ts";

interface Recorded {
  fn: string;
  args: unknown[];
  expected: unknown;
  tz?: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/openclaw-compatibility.md"), "utf8");
const recorded = readdirSync(join(root, "test/fixtures/vectors")).flatMap((name) => {
  const content = JSON.parse(readFileSync(join(root, "test/fixtures/vectors", name), "utf8")) as
    | Recorded[]
    | { cases: Recorded[] };
  return Array.isArray(content) ? content : content.cases;
});
const functions = new Map(Map.groupBy(recorded, ({ fn }) => fn));
/** Rows of the page: question → the two answers. */
const listed = new Map(
  Array.from(
    page.matchAll(/^\| `(\w+\(.*?\))` +\| (.+?) +\| (.+?) +\|/gm),
    ([, question = "", theirs = "", ours = ""]) => [question.replaceAll("\\|", "|"), { theirs, ours }],
  ),
);

const environment = { TZ: process.env["TZ"], HOLDFAST_HOME: process.env["HOLDFAST_HOME"] };

afterEach(() => {
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const asked = new Set<string>();

it.each([...functions.keys()].filter((fn) => fn !== "applyResetModelOverride"))(
  "%s answers as recorded, or as the page says",
  async (fn) => {
    for (const answer of functions.get(fn) ?? []) {
      const question = questionOf(answer);
      const expected = decode(answer.expected);
      const actual = await ask(answer);
      asked.add(question);
      const row = listed.get(question) ?? { theirs: "same", ours: "same" };
      const isSame = isDeepStrictEqual(actual, expected);
      const found = { theirs: shown(expected, actual), ours: shown(actual, expected) };
      expect(row, question).toEqual(isSame ? { theirs: "same", ours: "same" } : found);
    }
  },
);

it("has no row on the page for an unrecorded question", () => {
  expect([...listed.keys()].filter((question) => !asked.has(question))).toEqual([]);
});

it("counts recorded and different answers on the page", () => {
  expect(page).toContain(`Of ${recorded.length} recorded answers ${listed.size} differ`);
});

function questionOf({ fn, args }: Recorded): string {
  if (fn !== "initSessionState") return `${fn}(${args.map((value) => JSON.stringify(decode(value))).join(", ")})`;
  const [{ ctx, commandAuthorized }] = args as [InitArguments];
  return `${fn}(${JSON.stringify(ctx.Body)}, authorized: ${commandAuthorized})`;
}

/** Only the differing members of an object. */
function shown(answer: unknown, other: unknown): string {
  const isObject = typeof answer === "object" && answer !== null && typeof other === "object" && other !== null;
  const differing = isObject
    ? Object.fromEntries(
        Object.entries(answer).filter(([name, value]) => !isDeepStrictEqual(value, other[name as never])),
      )
    : answer;
  return `\`${JSON.stringify(differing)}\``;
}

async function ask({ fn, args, tz }: Recorded): Promise<unknown> {
  if (tz !== undefined) process.env["TZ"] = tz;
  if (fn === "initSessionState") return await init(args[0] as InitArguments);
  const subject = (holdfast as unknown as Record<string, (...given: unknown[]) => unknown>)[fn];
  if (subject === undefined) throw new Error(`${fn} is not exported`);
  const [first, ...rest] = args.map(decode);
  if (fn === "resolveSessionTranscriptPath") {
    process.env["HOLDFAST_HOME"] = join(homedir(), ".openclaw");
    return String(subject(first, ...rest)).replace(homedir(), "~");
  }
  if (fn === "evictOldHistoryKeys") {
    const { keys, maxKeys } = first as { keys: number; maxKeys: number };
    const historyMap = new Map(Array.from({ length: keys }, (_, index) => [`k${index}`, []]));
    subject(historyMap, maxKeys);
    return [...historyMap.keys()];
  }
  return subject(withFunctions(first), ...rest);
}

const formatEntry = ({ sender, body }: holdfast.HistoryEntry): string => `${sender}: ${body}`;

/** Recorded arguments that JSON cannot represent have a special form. */
function withFunctions(argument: unknown): unknown {
  if (typeof argument !== "object" || argument === null) return argument;
  return {
    ...argument,
    ...("formatEntry" in argument ? { formatEntry } : {}),
    ...("historyMap" in argument ? { historyMap: new Map(argument.historyMap as [string, []][]) } : {}),
  };
}

interface InitArguments {
  ctx: holdfast.MessageContext;
  resetTriggers: string[];
  commandAuthorized: boolean;
}

/** In the session that the recorded set-up describes. */
async function init({ ctx, resetTriggers, commandAuthorized }: InitArguments): Promise<unknown> {
  await using fixture = await createAgentHome();
  const { agent } = fixture;
  const cfg = { session: { ...fixture.config.session, resetTriggers } };
  const before = await holdfast.initSessionState({ agent, ctx: { ...ctx, Body: "before" }, cfg });
  const state = {
    thinkingLevel: "high",
    sendPolicy: "deny",
    compactionCount: 3,
    memoryFlushCompactionCount: 2,
  } as const;
  await agent.store.update(before.sessionKey, (entry) => entry && { ...entry, ...state });
  const result = await holdfast.initSessionState({ agent, ctx, cfg, commandAuthorized });
  const { thinkingLevel, sendPolicy, compactionCount, memoryFlushCompactionCount } = result.sessionEntry;
  return {
    resetTriggered: result.resetTriggered,
    isNewSession: result.isNewSession,
    bodyStripped: result.bodyStripped ?? null,
    triggerBodyNormalized: result.triggerBodyNormalized,
    sameSessionId: result.sessionId === before.sessionId,
    kept: {
      thinkingLevel: thinkingLevel ?? null,
      sendPolicy: sendPolicy ?? null,
      compactionCount,
      memoryFlushCompactionCount: memoryFlushCompactionCount ?? null,
    },
  };
}

function decode(value: unknown): unknown {
  return typeof value === "object" && value !== null && "$undefined" in value ? undefined : value;
}
