/** Whose hand-off a session that starts is told: that of its repo, and without one that of its very folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo } from "../../../test/support/git-repo.ts";
import { type NativeWorld, createNativeWorld, testSessionId } from "../../../test/support/native-world.ts";
import { silentLogger } from "../../base/log.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { answerStart } from "./session-start.ts";

describe("a session that starts", () => {
  it("above other projects is told nothing of them, and of its own folder all", async () => {
    await using world = await createNativeWorld();
    const above = world.join("code");
    const below = [createTestRepo(join(above, "shop")).path, join(above, "notes")];
    mkdirSync(below[1] ?? "", { recursive: true });
    for (const [index, folder] of below.entries()) talk(world, String(index + 1), folder, "the shop's certificate");
    expect((await start(world, above)).text).toBeUndefined();
    expect((await start(world, join(above, "notes"))).text).toContain("the shop's certificate");
    talk(world, "3", above, "the shared password store");
    expect((await start(world, above)).text).toContain("the shared password store");
  });

  it("is told of its repo, whatever is newer in folders whose names begin alike", async () => {
    await using world = await createNativeWorld();
    const repo = createTestRepo(world.join("shop")).path;
    talk(world, "1", repo, "the broken importer", Date.now() - 600_000);
    for (const [index, name] of ["shop-web", "shop-docs", "shop-old"].entries()) {
      talk(world, String(index + 2), createTestRepo(world.join(name)).path, "something else");
    }
    expect((await start(world, repo)).text).toContain("the broken importer");
  });
});

function talk(world: NativeWorld, id: string, cwd: string, matter: string, modifiedAt = Date.now()): void {
  const line = {
    type: "user",
    uuid: crypto.randomUUID(),
    parentUuid: null,
    isSidechain: false,
    timestamp: new Date(modifiedAt).toISOString(),
    sessionId: testSessionId(id),
    cwd,
    entrypoint: "cli",
    message: { role: "user", content: `I'm blocked by ${matter}, please look into it.` },
  };
  world.session({ id, cwds: [cwd], modifiedAt, lines: [line] });
}

async function start({ claudeHome }: NativeWorld, cwd: string): ReturnType<typeof answerStart> {
  const parts = { agentId: "main", config: DEFAULT_CONFIG.handoff, claudeHome, kept: [], logger: silentLogger };
  const input = { sessionId: testSessionId("f"), cwd, transcriptPath: "", source: "startup" };
  return await answerStart({ ...parts, timeLeft: () => 10_000 }, input);
}
