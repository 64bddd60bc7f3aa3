/** Rules for all methods, and the status methods, over a real gateway on a real store. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { caller, connect, KEY, say } from "../../test/support/gateway-requests.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createHttpCaller } from "./client.ts";
import type { MethodName } from "./contract.ts";

describe("status", () => {
  it("shows agents, channels and turns", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
    expect(await call("health", {})).toMatchObject({ ok: true, agents: [{ agentId: "main", sessions: { count: 1 } }] });
    expect(await call("status", {})).toMatchObject({
      version: "1.2.3",
      sessions: { count: 1, recent: [{ key: KEY }] },
    });
    expect((await call("channels.status", {})).channels.map(({ channel }) => channel)).toEqual(["web", "telegram"]);
    expect(await call("agents.list", {})).toMatchObject({
      defaultId: "main",
      agents: [{ id: "main", engine: "echo" }],
    });
  });

  it("reports an agent whose store cannot be read, and the others", async () => {
    await using home = await createGatewayHome({ agents: ["broken", "main"] });
    const { agent } = await home.parts.agents.open("broken");
    await agent.store.close();
    const { ok, agents, problems } = await caller(home).call("health", {});
    expect([ok, agents.length, problems.length]).toEqual([false, 2, 1]);
  });
});

describe("the table", () => {
  it("refuses unknown methods and parameters with a suggestion", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const wrong = createHttpCaller(home.gateway).call("sessions.lst" as MethodName, {});
    await expect(wrong).rejects.toMatchObject({ code: "unknown-method", hint: "Did you mean sessions.list?" });
    await expect(call("sessions.list", { limt: 3 } as never)).rejects.toMatchObject({ hint: 'Did you mean "limit"?' });
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      const response = await home.post(name);
      expect([name, response.status]).toEqual([name, 404]);
    }
  });

  it("never quotes a value in an error", async () => {
    await using home = await createGatewayHome();
    const response = await home.post("sessions.list", { limit: "hunter2-is-the-password" });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("hunter2");
  });

  it("holds a connection to the permission that it asked for", async () => {
    await using home = await createGatewayHome();
    await say(home, "hello");
    const reader = await connect(home, "read");
    expect((await reader.call("sessions.list", {})).count).toBe(1);
    for (const [method, params] of [
      ["chat.send", { sessionKey: KEY, message: "x", idempotencyKey: "k" }],
      ["sessions.delete", { key: KEY }],
      ["cc.kill", { target: "x" }],
    ] as const) {
      await expect(reader.call(method, params as never)).rejects.toMatchObject({ code: "permission-missing" });
    }
    const writer = await connect(home, "write");
    await expect(writer.call("sessions.delete", { key: KEY })).rejects.toMatchObject({ kind: "forbidden" });
    reader.close();
    writer.close();
  });

  it("shows Claude Code's sessions and projects", async () => {
    await using home = await createGatewayHome();
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("first");
    const { call } = caller(home);
    expect(await call("cc.list", { repoPath: repo.path })).toEqual({ count: 0, sessions: [] });
    expect((await call("cc.status", { repoPath: repo.path })).status.git?.recentCommits).toMatchObject([
      { message: "first" },
    ]);
    expect((await call("cc.select", { repoPath: repo.path, task: "tidy up" })).selection.action).toBe("fresh");
    expect(await call("cc.live", {})).toEqual({ live: [] });
    expect(await call("cc.kill", { target: repo.path })).toEqual({ killed: [] });
    await expect(call("cc.info", { sessionId: "deadbeef" })).rejects.toMatchObject({ kind: "not-found" });
  });

  it("needs a path that means the same in the gateway's folder", async () => {
    await using home = await createGatewayHome();
    await expect(caller(home).call("cc.status", { repoPath: "relative/path" })).rejects.toMatchObject({
      message: expect.stringContaining("an absolute path is needed") as string,
    });
  });
});
