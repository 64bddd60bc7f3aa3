/** Which sessions a session may read and change. */
import { expect, it } from "vitest";
import { STORE_KINDS, type AgentHome, createAgentHome } from "../../test/support/agent-home.ts";
import { assertMayAccessSession } from "./find-session.ts";
import { initSessionState } from "./init.ts";

const KEY = "agent:main:telegram:dm:1";

it.each(STORE_KINDS)("a session may access only itself and what it spawned, the main session all: %s", async (kind) => {
  await using fixture = await createAgentHome(kind);
  const { agent } = fixture;
  await start(fixture, KEY);
  const other = "agent:main:telegram:dm:2";
  await start(fixture, other);
  await spawn(fixture, "agent:main:subagent:a", KEY);
  await spawn(fixture, "agent:main:subagent:b", "agent:main:subagent:a");
  await assertMayAccessSession(agent, "agent:main:subagent:a", "agent:main:subagent:b");
  await assertMayAccessSession(agent, KEY, "agent:main:subagent:b");
  await assertMayAccessSession(agent, "main", other);
  await assertMayAccessSession(agent, "agent:main:main", "agent:main:subagent:b");
  for (const target of [other, "main", "agent:main:telegram:dm:9"]) {
    const sideways = assertMayAccessSession(agent, KEY, target);
    await expect(sideways).rejects.toMatchObject({ code: "session-not-owned" });
  }
  const foreignChild = assertMayAccessSession(agent, other, "agent:main:subagent:b");
  await expect(foreignChild).rejects.toMatchObject({ code: "session-not-owned" });
  const upwards = assertMayAccessSession(agent, "agent:main:subagent:a", KEY);
  await expect(upwards).rejects.toMatchObject({ code: "session-not-owned" });
  const abroad = assertMayAccessSession(agent, KEY, "agent:other:main");
  await expect(abroad).rejects.toMatchObject({ kind: "forbidden" });
  for (const stranger of ["agent:other:main", "Agent:Other:telegram:dm:1", "agent:other:subagent:a"]) {
    for (const target of [KEY, "agent:main:subagent:a", stranger]) {
      const foreign = assertMayAccessSession(agent, stranger, target);
      await expect(foreign).rejects.toMatchObject({ kind: "forbidden" });
    }
  }
  await expect(assertMayAccessSession(agent, " ", KEY)).rejects.toMatchObject({ code: "session-unnamed" });
});

async function start({ agent, config }: AgentHome, key: string): Promise<void> {
  await initSessionState({ agent, ctx: { SessionKey: key, Body: "hello" }, cfg: config });
}

async function spawn(fixture: AgentHome, key: string, spawnedBy: string): Promise<void> {
  await start(fixture, key);
  await fixture.agent.store.update(key, (entry) => entry && { ...entry, spawnedBy });
}
