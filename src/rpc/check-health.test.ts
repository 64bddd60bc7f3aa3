import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
import type { AgentPool } from "../turn/pipeline.ts";
import { checkHealth, createCallFailures } from "./check-health.ts";

const defect = new TypeError("x is not a function");
const noFiles = fileError(Object.assign(new Error("EMFILE"), { code: "EMFILE" }), "open", "/x");
const busy = new HoldfastError("locked", "store-busy", "busy", { data: { sqlite: 5 } });

describe("failed calls", () => {
  it("count for a moment, until the same method works", () => {
    let now = 0;
    const failures = createCallFailures(() => now);
    failures.note("agent", defect);
    failures.note("sessions.list", undefined);
    expect(failures.recent()).toEqual([{ method: "agent", message: "x is not a function" }]);
    failures.note("agent", undefined);
    expect(failures.recent()).toEqual([]);
    failures.note("agent", defect);
    now = 5001;
    expect(failures.recent()).toEqual([]);
  });

  it("caused by the system end when any method works", () => {
    const failures = createCallFailures();
    for (const error of [noFiles, busy, Object.assign(new Error("EMFILE"), { code: "EMFILE" })]) {
      failures.note("agent", error);
      expect(failures.recent()).toHaveLength(1);
      failures.note("sessions.list", undefined);
      expect(failures.recent()).toEqual([]);
    }
  });

  it("do not count when the caller or another service is the cause", () => {
    const failures = createCallFailures();
    for (const kind of ["usage", "not-found", "conflict", "forbidden", "unavailable", "timeout"] as const) {
      failures.note("agent", new HoldfastError(kind, "code", "message"));
    }
    failures.note("health", defect);
    expect(failures.recent()).toEqual([]);
  });
});

describe("checkHealth", () => {
  it("describes problems in detail for the owner only", async () => {
    await using home = await createGatewayHome();
    expect((await checkHealth(home.parts, [])).problems).toEqual([]);
    const gone = { ...home.parts, home: `${home.home}/gone` };
    const { problems } = await checkHealth(gone, [{ method: "agent", message: "broken" }]);
    expect(problems).toEqual([
      {
        text: expect.stringContaining(gone.home) as string,
        summary: "files cannot be written (ENOENT)",
      },
      { text: "agent failed recently: broken", summary: "calls fail" },
    ]);
  });

  it("reports agents that cannot be listed", async () => {
    await using home = await createGatewayHome();
    const failure = new Error("no file descriptors");
    const list = async (): Promise<string[]> => await Promise.reject(failure);
    const parts = { ...home.parts, agents: { ...home.parts.agents, list } };
    expect((await checkHealth(parts, [])).problems).toMatchObject([{ text: "agent main: no file descriptors" }]);
  });

  it("does not call a store broken that takes a while to open", async () => {
    await using home = await createGatewayHome();
    const { agents } = home.parts;
    const open: AgentPool["open"] = async (agentId) => {
      await delay(1200);
      return await agents.open(agentId);
    };
    expect((await checkHealth({ ...home.parts, agents: { ...agents, open } }, [])).problems).toEqual([]);
  });

  it("does not wait for a store that hangs", async () => {
    await using home = await createGatewayHome({ agents: ["hangs", "main"] });
    const { agents } = home.parts;
    await agents.open("main");
    const never = new Promise<never>(() => undefined);
    const open: AgentPool["open"] = async (agentId) => await (agentId === "hangs" ? never : agents.open(agentId));
    expect(await checkHealth({ ...home.parts, agents: { ...agents, open } }, [], 500)).toMatchObject({
      agents: [{ agentId: "hangs" }, { agentId: "main", sessions: { count: 0 } }],
      problems: [{ text: expect.stringMatching(/^agent hangs: its store does not answer/) as string }],
    });
  });
});
