/** What `holdfast search` prints, and the shape of its JSON. */
import { describe, expect, it } from "vitest";
import { runCliShared, type CliResult } from "../support/cli.ts";
import { NUMBER, TEXT, TIME } from "../support/cli-home.ts";
import { type SearchHome, SESSION, SESSION_2, answer, createSearchHome, prompt } from "../support/search-home.ts";

const CWD = "/repos/shop";

async function fill(home: SearchHome): Promise<void> {
  const edit = { type: "tool_use", id: "t", name: "Edit", input: { file_path: `${CWD}/src/retryQueue.ts` } };
  await home.native(CWD, SESSION, [
    prompt(CWD, "the retry queue drops jobs", { gitBranch: "fix/queue" }),
    answer(CWD, "", { message: { id: "m", model: "m", role: "assistant", content: [edit] } }),
    answer(CWD, "Jobs are acknowledged after the write now."),
    { type: "ai-title", aiTitle: "Lost jobs" },
  ]);
  await home.native("/repos/other", SESSION_2, [prompt("/repos/other", "translate the invoice")]);
  await home.transcript("main", "chat-1", ["did we fix the queue?"]);
  await home.memory("other", "MEMORY.md", "# Work\n\nThe queue is in Redis.\n");
}

async function search(home: SearchHome, ...args: string[]): Promise<CliResult> {
  return await runCliShared(["search", ...args], { home: home.home, env: { CLAUDE_CONFIG_DIR: home.claudeHome } });
}

async function found(home: SearchHome, ...args: string[]): Promise<string[]> {
  const { stdout } = await search(home, ...args, "--json");
  const { results } = JSON.parse(stdout) as { results: { title: string }[] };
  return results.map(({ title }) => title).toSorted();
}

it("prints sessions with marked passages and the command that opens each", async () => {
  await using home = await createSearchHome();
  await fill(home);
  const { stdout, code } = await search(home, "retry", "queue", "--in", "claude");
  expect(code).toBe(0);
  expect(stdout.replace(/ · \d+[dhm] · /, " · AGE · ")).toBe(
    [
      "Lost jobs",
      "  Claude Code · AGE · /repos/shop · fix/queue",
      "  you: the **retry** **queue** drops jobs",
      "  tool: Edit src/**retryQueue**.ts",
      "  holdfast cc show 11111111   holdfast cc attach 11111111",
      "",
      "",
    ].join("\n"),
  );
});

it("prints one JSON object", async () => {
  await using home = await createSearchHome();
  await fill(home);
  const { stdout } = await search(home, "retryQueue", "--json");
  expect(JSON.parse(stdout)).toEqual({
    schema: 1,
    results: [
      {
        sessionId: SESSION,
        in: "claude",
        title: "Lost jobs",
        repo: CWD,
        branch: "fix/queue",
        at: TIME,
        path: TEXT,
        open: { show: ["cc", "show", SESSION], resume: ["cc", "attach", SESSION] },
        score: NUMBER,
        found: 2,
        passages: [
          { role: "tool", at: TIME, line: 2, entryId: TEXT, text: "Edit src/**retryQueue**.ts" },
          { role: "user", at: TIME, line: 1, entryId: TEXT, text: "the **retry** **queue** drops jobs" },
        ],
      },
    ],
    total: 1,
    matched: "all",
    complete: true,
    pendingFiles: 0,
  });
});

describe("filters and operators", () => {
  it("narrow the answer", async () => {
    await using home = await createSearchHome();
    await fill(home);
    const cases: [args: string[], titles: string[]][] = [
      [["queue"], ["Lost jobs", "MEMORY.md", "did we fix the queue?"]],
      [["queue", "--in", "chats"], ["did we fix the queue?"]],
      [["queue", "--in", "memory"], ["MEMORY.md"]],
      [["queue", "--agent", "other"], ["MEMORY.md"]],
      [["queue", "--role", "agent"], []],
      [["queue", "--repo", "/repos/shop"], ["Lost jobs"]],
      [["queue", "--file", "src/retryQueue.ts"], ["Lost jobs"]],
      [["queue", "--file", "Queue.ts"], []],
      [
        ["queue", "-redis"],
        ["Lost jobs", "did we fix the queue?"],
      ],
      [["queue", "-jobs", "--in", "claude"], ["Lost jobs"]],
      [["fix the queue", "we"], ["did we fix the queue?"]],
      [["transl*"], ["translate the invoice"]],
      [["invocie"], ["translate the invoice"]],
      [["retry_queue"], ["Lost jobs"]],
      [["fix/queue"], ["Lost jobs"]],
    ];
    for (const [args, titles] of cases) expect(await found(home, ...args), args.join(" ")).toEqual(titles.toSorted());
  });
});

it("says what was searched if nothing was found, and how to widen", async () => {
  await using home = await createSearchHome();
  await fill(home);
  const { stdout, code } = await search(home, "zebra", "--in", "chats", "--since", "2d");
  expect(code).toBe(0);
  expect(stdout).toBe(
    "Nothing found in chats since 2d (4 files searched).\nTry other words, or leave out --in, --since.\n",
  );
  const empty = await search(home);
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("missing required argument <words...>")]);
});

it("shows hostile text as data", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "nothing");
  await home.native(CWD, SESSION, [
    prompt(CWD, "otter \u001b]0;owned\u0007 \u202egnp", { gitBranch: "\u001b[31mred" }),
  ]);
  const { stdout } = await search(home, "otter");
  // oxlint-disable-next-line no-control-regex -- that there is none
  expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
  expect(stdout).toContain("\\u001b]0;owned");
});
