/** Conversations as people see them, on the terminal and as Markdown. */
import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createCliHome } from "../support/cli-home.ts";
import { type CliResult, runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { assistantDraft, userDraft } from "../support/transcripts.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { initSessionState } from "../../src/session/init.ts";
import type { DraftEntry } from "../../src/transcript/entries.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { openAgent } from "../../src/compose/agent.ts";

const FLUSH = "flush:main:1:agent:main:main";

/** Three messages, the second with group history; between them the agent saved its memory. */
async function writeConversation(home: string): Promise<void> {
  const agent = await openAgent({ home, config: DEFAULT_CONFIG });
  const opened = await initSessionState({ agent, ctx: { SessionKey: "main", Body: "x" }, cfg: DEFAULT_CONFIG });
  await using log = await openTranscriptLog({ path: opened.transcriptPath });
  await log.append([
    marked(userDraft("first question"), { turnId: "main:1" }),
    ...Array.from({ length: 6 }, () => marked(userDraft("write down what matters"), { turnId: FLUSH })),
    marked(assistantDraft("NO_REPLY"), { turnId: FLUSH }),
    marked(userDraft("System: [now] rain\n\nsecond question\n[from: Ada]"), {
      turnId: "main:2",
      said: "second question",
    }),
    marked(userDraft("third question"), { turnId: "main:2", steered: true }),
    failedCall(),
  ]);
  await agent.store.close();
}

async function run(home: string, ...args: string[]): Promise<CliResult> {
  return await runCliShared(args, { home });
}

function marked(draft: DraftEntry, mark: object): DraftEntry {
  return { ...draft, ...mark };
}

function failedCall(): DraftEntry {
  const draft = assistantDraft("");
  if (draft.type !== "message" || draft.message.role !== "assistant") throw new Error("no answer");
  const content = [{ type: "toolCall" as const, id: "t1", name: "list_files", arguments: {} }];
  return { ...draft, message: { ...draft.message, content, stopReason: "error", errorMessage: "no model" } };
}

it("shows messages; --all adds memory turns", async () => {
  await using home = await temporaryFolder();
  await writeConversation(home.path);
  const { stdout } = await run(home.path, "history");
  const lines = stdout.split("\n").map((line) => line.trim());
  expect(lines.slice(1, -1).map((line) => line.replace(/^\S+ \S+ {2}/, ""))).toEqual([
    "you      first question",
    "you      second question",
    "you      third question",
    "agent    (calls list_files)",
    "(failed: no model)",
  ]);
  expect((await run(home.path, "history", "--all")).stdout).toMatch(/memory +write down what matters/);

  const { stdout: markdown } = await run(home.path, "sessions", "export", "main");
  expect(markdown).toContain("\n\nsecond question\n");
  expect(markdown).not.toMatch(/write down|NO_REPLY|rain/);
  const { stdout: whole } = await run(home.path, "sessions", "export", "main", "--format", "jsonl");
  expect(whole).toContain("write down what matters");
});

it("has the requested number of entries, not counting hidden ones", async () => {
  await using home = await temporaryFolder();
  await writeConversation(home.path);
  const read = async (...args: string[]) => (await run(home.path, "history", "--json", ...args)).json();
  expect(await read("--limit", "4")).toMatchObject({ complete: false, count: 4 });
  expect(await read("--limit", "50")).toMatchObject({ complete: true, count: 5 });
  expect(await read("--all")).toMatchObject({ complete: true, count: 12 });
});

it("shows and exports an archived session by session id, archive id or key", async () => {
  await using home = await temporaryFolder();
  await writeConversation(home.path);
  const { sessionId } = (await run(home.path, "history", "--json")).json() as { sessionId: string };
  const { archive } = (await run(home.path, "sessions", "archive", "main", "--json")).json() as { archive: string };
  const note = `agent:main:main is archived; \`holdfast sessions restore ${archive}\` brings it back`;
  for (const reference of [sessionId, sessionId.slice(0, 8), archive, "main"]) {
    const shown = await run(home.path, "history", reference);
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining(note) as string });
    expect(shown.stdout).toContain("second question");
    const exported = await run(home.path, "sessions", "export", reference);
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining(note) as string });
    expect(exported.stdout).toContain("second question");
  }
  expect((await run(home.path, "history", sessionId, "--json")).json()).toMatchObject({ sessionId, archive });

  await writeFile(home.join("agents/main/sessions/archive", `${archive}.json`), "{");
  const damaged = await run(home.path, "history", sessionId);
  expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be read") as string });
  expect((await run(home.path, "history", "nothing-like-it")).code).toBe(3);
});

it("shows an earlier window of an archived session", async () => {
  await using home = await createCliHome();
  const listed = (await run(home.path, "sessions", "show", "work", "--json")).json();
  const { windows } = listed as { windows: { sessionId: string }[] };
  const first = windows[0]?.sessionId ?? "";
  await run(home.path, "sessions", "archive", "work");
  const { code, stdout } = await run(home.path, "history", first);
  expect(code).toBe(0);
  expect(stdout).toContain(`earlier window ${first.slice(0, 8)}`);
  expect(stdout).toContain("hello");
});
