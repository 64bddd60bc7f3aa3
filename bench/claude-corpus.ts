/**
 * Creates a folder like Claude Code's after N sessions. The same seed gives the same bytes.
 * The proportions follow real transcripts: most bytes are tool output, written twice a line; answers
 * take a line per block, each with the whole usage; some sessions fork others, start subagents or are
 * compacted.
 *
 *   node bench/claude-corpus.ts --out <folder> [--sessions 10000] [--seed 1]
 */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectFolderName } from "../src/claude/native/layout.ts";
import { type Random, createRandom } from "./random.ts";

export interface CorpusOptions {
  /** The folder to use instead of `~/.claude`. */
  folder: string;
  sessions: number;
  /** Default: 1 */
  seed?: number | undefined;
  /** Mean size of a transcript. Default: 132 KB */
  meanBytes?: number | undefined;
  /** Median length of a tool's output. Default: 300 characters */
  outputLength?: number | undefined;
}

export interface CorpusFacts {
  files: number;
  bytes: number;
}

const MODELS = ["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];
const START = Date.parse("2026-09-01T08:00:00.000Z");
const WORDS =
  "fix the webhook handler so that retries keep their order add tests for empty pages rename session store check why the build fails on windows update docs".split(
    " ",
  );

export function generateCorpus({
  folder,
  sessions,
  seed = 1,
  meanBytes = 132_000,
  outputLength = 300,
}: CorpusOptions): CorpusFacts {
  const random = createRandom(seed);
  const pool = textPool(random);
  const projects = Array.from({ length: Math.max(1, Math.round(sessions / 40)) }, (_, index) => ({
    cwd: `/home/user/work/${random.pick(WORDS)}-${index}`,
    recent: [] as Session[],
  }));
  const facts: CorpusFacts = { files: 0, bytes: 0 };
  const write = (path: string, lines: readonly string[], at: number) => {
    const text = `${lines.join("\n")}\n`;
    writeFileSync(path, text);
    utimesSync(path, at / 1000, at / 1000);
    facts.files += 1;
    facts.bytes += Buffer.byteLength(text);
  };
  for (let index = 0; index < sessions; index += 1) {
    const project = random.pick(projects);
    const original = random.chance(0.03) ? project.recent.at(-1) : undefined;
    const start = START + Math.floor((index / sessions) * 60 * 86_400_000);
    const session = writeSession({ random, pool, cwd: project.cwd, start, original, meanBytes, outputLength });
    const place = join(folder, "projects", projectFolderName(project.cwd));
    mkdirSync(place, { recursive: true });
    write(join(place, `${session.id}.jsonl`), session.lines, session.at);
    for (const [name, lines] of session.subagents) {
      mkdirSync(join(place, session.id, "subagents"), { recursive: true });
      write(join(place, session.id, "subagents", `agent-${name}.jsonl`), lines, session.at);
    }
    // A short tail is enough for forks, and keeps the memory of the generator small.
    project.recent = [session];
  }
  return facts;
}

interface Session {
  id: string;
  lines: string[];
  subagents: Map<string, string[]>;
  at: number;
}

interface SessionPlan {
  random: Random;
  pool: string;
  cwd: string;
  start: number;
  original: Session | undefined;
  meanBytes: number;
  outputLength: number;
}

function writeSession({ random, pool, cwd, start, original, meanBytes, outputLength }: SessionPlan): Session {
  const id = random.uuid();
  const version = random.pick(["2.1.190", "2.1.197"]);
  const model = random.pick(MODELS);
  const subagents = new Map<string, string[]>();
  let gitBranch = random.chance(0.6) ? "main" : `feature/${random.pick(WORDS)}-${random.int(100)}`;
  let parentUuid: string | null = null;
  let at = start;
  let cached = 15_000;
  /** Grows with every line. */
  const written = { bytes: 0 };
  let lines: string[] = [];
  const add = (value: object) => {
    const line = JSON.stringify(value);
    lines.push(line);
    written.bytes += line.length;
  };
  /** Adds the common members before and after the content of a line, in Claude Code's order. */
  const addMessage = (about: object, after: object = {}, sidechain?: string) => {
    at += random.int(20_000);
    const uuid = random.uuid();
    add({
      parentUuid,
      isSidechain: sidechain !== undefined,
      agentId: sidechain,
      ...about,
      uuid,
      timestamp: new Date(at).toISOString(),
      ...after,
      userType: "external",
      entrypoint: "cli",
      cwd,
      sessionId: id,
      version,
      gitBranch,
    });
    parentUuid = uuid;
  };
  const addPrompt = () => {
    const text = words(random, 4 + random.int(40));
    addMessage(
      { promptId: random.uuid(), type: "user", message: { role: "user", content: text } },
      { permissionMode: "default", promptSource: "typed" },
    );
    return text;
  };
  const addAnswer = (sidechain?: string) => {
    const tools = random.chance(0.75) ? (random.chance(0.15) ? 2 : 1) : 0;
    const calls = Array.from({ length: tools }, () => toolCall(random, pool, cwd, outputLength));
    const blocks: object[] = [
      ...(random.chance(0.3)
        ? [{ type: "thinking", thinking: cut(random, pool, 900), signature: base64(random, pool, 700) }]
        : []),
      ...(tools === 0 || random.chance(0.4) ? [{ type: "text", text: cut(random, pool, 500) }] : []),
      ...calls.map(({ call }) => call),
    ];
    const cacheWrite = 300 + random.int(4000);
    const message = {
      model,
      id: `msg_01${random.letters(22)}`,
      type: "message",
      role: "assistant",
    };
    const usage = {
      input_tokens: 1 + random.int(60),
      cache_creation_input_tokens: cacheWrite,
      cache_read_input_tokens: cached,
      cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
      output_tokens: 20 + random.int(1500),
      service_tier: "standard",
    };
    cached = Math.min(cached + cacheWrite, 180_000);
    const requestId = `req_011C${random.letters(20)}`;
    for (const block of blocks) {
      const said = { ...message, content: [block], stop_reason: null, stop_sequence: null, usage };
      addMessage({ message: said, requestId, type: "assistant" }, {}, sidechain);
    }
    for (const { id: toolUseId, output, result } of calls) {
      const content = [{ tool_use_id: toolUseId, type: "tool_result", content: output, is_error: false }];
      addMessage({ type: "user", message: { role: "user", content } }, { toolUseResult: result }, sidechain);
    }
    return tools > 0;
  };
  const addTurn = () => {
    const prompt = addPrompt();
    for (let steps = 0; steps < 12 && addAnswer(); steps += 1);
    if (random.chance(0.5)) add({ type: "last-prompt", lastPrompt: prompt.slice(0, 200), sessionId: id });
    if (random.chance(0.2)) addMessage({ type: "system", subtype: "turn_duration", durationMs: random.int(90_000) });
    if (random.chance(0.1))
      add({ type: "file-history-snapshot", messageId: parentUuid, snapshot: {}, isSnapshotUpdate: false });
  };
  const addCompaction = () => {
    const before = parentUuid;
    parentUuid = null;
    addMessage({
      logicalParentUuid: before,
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      compactMetadata: { trigger: "auto", preTokens: 160_000, postTokens: 9000 },
    });
    addMessage({ type: "user", message: { role: "user", content: cut(random, pool, 6000) }, isCompactSummary: true });
    cached = 12_000;
  };
  const addSubagent = () => {
    const own = { lines, parentUuid };
    lines = [];
    parentUuid = null;
    const agentId = random.letters(17);
    addMessage({ type: "user", message: { role: "user", content: words(random, 60) } }, {}, agentId);
    for (let steps = 0; steps < 4; steps += 1) addAnswer(agentId);
    subagents.set(agentId, lines);
    ({ lines, parentUuid } = own);
  };

  if (original !== undefined) {
    const shared = original.lines.slice(0, 1 + random.int(original.lines.length));
    for (const line of shared) add(JSON.parse(line.replaceAll(original.id, id)) as object);
  }
  const wanted = written.bytes + meanBytes * 0.44 * Math.exp(random.normal());
  addMessage({ attachment: { type: "skill_listing", content: cut(random, pool, 2500) }, type: "attachment" });
  let compactAt = written.bytes + 600_000;
  do {
    addTurn();
    if (random.chance(0.02)) addSubagent();
    if (random.chance(0.01)) gitBranch = `fix/${random.pick(WORDS)}`;
    if (written.bytes > compactAt) {
      addCompaction();
      compactAt = written.bytes + 600_000;
    }
  } while (written.bytes < wanted);
  if (random.chance(0.4)) add({ type: "ai-title", aiTitle: words(random, 5), sessionId: id });
  if (random.chance(0.05)) add({ type: "custom-title", customTitle: words(random, 3), sessionId: id });
  return { id, lines, subagents, at };
}

function toolCall(
  random: Random,
  pool: string,
  cwd: string,
  outputLength: number,
): { call: object; id: string; output: string; result: object } {
  const id = `toolu_01${random.letters(22)}`;
  const path = `${cwd}/src/${random.pick(WORDS)}/${random.pick(WORDS)}.ts`;
  const call = (name: string, input: object) => ({ type: "tool_use", id, name, input });
  const output = cut(random, pool, outputLength * Math.exp(1.6 * Math.abs(random.normal())));
  const kind = random.int(10);
  if (kind < 4) {
    const result = {
      type: "text",
      file: { filePath: path, content: output, numLines: 40, startLine: 1, totalLines: 40 },
    };
    return { call: call("Read", { file_path: path }), id, output, result };
  }
  if (kind < 8) {
    const result = { stdout: output, stderr: "", interrupted: false, isImage: false, noOutputExpected: false };
    return {
      call: call("Bash", { command: `grep -rn "${random.pick(WORDS)}" src`, description: "Search" }),
      id,
      output,
      result,
    };
  }
  const [oldString, newString] = [cut(random, pool, 300), cut(random, pool, 400)];
  const result = {
    filePath: path,
    oldString,
    newString,
    originalFile: output,
    structuredPatch: [{ oldStart: 3, oldLines: 7, newStart: 3, newLines: 9, lines: newString.split("\n") }],
    userModified: false,
    replaceAll: false,
  };
  const input = { file_path: path, old_string: oldString, new_string: newString };
  return { call: call("Edit", input), id, output: `The file ${path} has been updated.`, result };
}

/** Code and prose with everything that JSON has to escape. */
function textPool(random: Random): string {
  const lines = Array.from({ length: 20_000 }, () => {
    const kind = random.int(6);
    const indent = " ".repeat(2 * random.int(5));
    if (kind === 0)
      return `${indent}const ${random.letters(7)} = await load("${random.letters(9)}", { retries: ${random.int(9)} });`;
    if (kind === 1)
      return `${indent}if (${random.letters(6)}.${random.letters(5)} === undefined) return '${random.letters(4)}';`;
    if (kind === 2)
      return `src/${random.letters(6)}/${random.letters(8)}.ts:${random.int(400)}:${indent}export function ${random.letters(9)}(`;
    if (kind === 3) return `${indent}// ${words(random, 8)} — naïve “quotes” and a\ttab`;
    if (kind === 4) return `${indent}"${random.letters(6)}": "${words(random, 4)}\\n",`;
    return `${indent}${words(random, 12)}.`;
  });
  return lines.join("\n");
}

function cut(random: Random, pool: string, mean: number): string {
  const length = Math.min(60_000, Math.round(mean * (0.3 + 1.4 * random.next())));
  const start = random.int(pool.length - length);
  return pool.slice(start, start + length);
}

function base64(random: Random, pool: string, mean: number): string {
  return Buffer.from(cut(random, pool, mean)).toString("base64");
}

function words(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.pick(WORDS)).join(" ");
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: "string" }, sessions: { type: "string" }, seed: { type: "string" } },
  });
  if (values.out === undefined) throw new Error("say where: --out <folder>");
  const facts = generateCorpus({
    folder: values.out,
    sessions: Number(values.sessions ?? 10_000),
    seed: Number(values.seed ?? 1),
  });
  console.log(`${facts.files} files, ${(facts.bytes / 1e6).toFixed(0)} MB in ${values.out}`);
}
