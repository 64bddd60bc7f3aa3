/** A starting session gets the hand-off of its repo, or of its own folder outside a repo. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo } from "../../../test/support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../../../test/support/native-home.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { nextState } from "../../handoff/next-state.ts";
import { readyFile, readyText } from "../../handoff/ready-offers.ts";
import { answerStart } from "./session-start.ts";
import type { StartParts } from "./start-place.ts";

describe("a session that starts", () => {
  it("above other projects gets only the hand-off of its own folder", async () => {
    await using home = await createNativeHome();
    const above = home.join("code");
    const below = [createTestRepo(join(above, "shop")).path, join(above, "notes")];
    mkdirSync(below[1] ?? "", { recursive: true });
    for (const [index, folder] of below.entries()) talk(home, String(index + 1), folder, "the shop's certificate");
    expect((await start(home, above)).text).toBeUndefined();
    expect((await start(home, join(above, "notes"))).text).toContain("the shop's certificate");
    talk(home, "3", above, "the shared password store");
    expect((await start(home, above)).text).toContain("the shared password store");
  });

  it("gets the hand-off of its repo, despite newer ones in similarly named folders", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("shop")).path;
    talk(home, "1", repo, "the broken importer", Date.now() - 600_000);
    for (const [index, name] of ["shop-web", "shop-docs", "shop-old"].entries()) {
      talk(home, String(index + 2), createTestRepo(home.join(name)).path, "something else");
    }
    expect((await start(home, repo)).text).toContain("the broken importer");
  });
});

it("adds messages since the last capture, or a remark that there are some", async () => {
  await using home = await createNativeHome();
  const repo = createTestRepo(home.join("shop")).path;
  const transcriptPath = talk(home, "1", repo, "the broken importer", Date.now() - 600_000);
  const target = { kind: "native", sessionId: testSessionId("1"), path: transcriptPath, file: transcriptPath } as const;
  const sessionKey = nativeSessionKey("main", testSessionId("1"));
  const agent = { agentId: "main", clock: systemClock, logger: silentLogger };
  const source = { ...target, sessionKey, cwd: repo, project: "shop" };
  const state = await nextState({ agent, config: DEFAULT_CONFIG.handoff }, source, "ended", undefined);
  const last = "We decided to use RabbitMQ instead of Kafka for the new queue.";
  appendFileSync(transcriptPath, `${JSON.stringify(lineOf("1", repo, last))}\n`);
  const kept = [{ key: sessionKey, state, updatedAt: Date.now() }];
  // Nothing is rendered: the end of the transcript is read on top of what is stored.
  const read = (await start(home, repo, { readKept: () => Promise.resolve(kept) })).text;
  expect(read).toContain("the broken importer");
  expect(read).toContain(last);
  // Something is rendered: it is used with a remark, and the rest is captured in the background.
  const rendered = { next: "all", behind: "the broken importer, and more was said", same: "own" };
  if (state === undefined) throw new Error("nothing was captured");
  const place = { folder: join(home.claudeHome, "offers"), agentId: "main", repo };
  mkdirSync(place.folder);
  writeFileSync(readyFile(place), readyText(place, [{ state, isSubstantial: true, text: rendered }]));
  const behind = await start(home, repo, { readKept: () => Promise.reject(new Error("the store is not needed")) });
  expect(behind.text).toBe(rendered.behind);
  expect(behind.captures).toMatchObject([{ sessionId: testSessionId("1") }]);
  // After /clear there was no time to capture anything.
  const cleared = await start(home, repo, { readKept: () => Promise.resolve(kept) }, "clear");
  expect(cleared.text).toContain(last);
});

function talk(home: NativeHome, id: string, cwd: string, matter: string, modifiedAt = Date.now()): string {
  const line = lineOf(id, cwd, `I'm blocked by ${matter}, please look into it.`, modifiedAt);
  return home.session({ id, cwds: [cwd], modifiedAt, lines: [line] });
}

function lineOf(id: string, cwd: string, content: string, at = Date.now()): object {
  return {
    type: "user",
    uuid: crypto.randomUUID(),
    parentUuid: null,
    isSidechain: false,
    timestamp: new Date(at).toISOString(),
    sessionId: testSessionId(id),
    cwd,
    entrypoint: "cli",
    message: { role: "user", content },
  };
}

async function start(
  { claudeHome }: NativeHome,
  cwd: string,
  more: Partial<StartParts> = {},
  source = "startup",
): ReturnType<typeof answerStart> {
  const parts = {
    agentId: "main",
    config: DEFAULT_CONFIG.handoff,
    claudeHome,
    offersFolder: join(claudeHome, "offers"),
    readKept: () => Promise.resolve([]),
    logger: silentLogger,
    elapsedMs: () => 1_000,
  };
  const input = { sessionId: testSessionId("f"), cwd, transcriptPath: "", source };
  return await answerStart({ ...parts, ...more }, input);
}
