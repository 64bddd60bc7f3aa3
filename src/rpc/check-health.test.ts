import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
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
    await using stage = await createGatewayHome();
    expect((await checkHealth(stage.parts, [])).problems).toEqual([]);
    const gone = { ...stage.parts, home: `${stage.home}/gone` };
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
    await using stage = await createGatewayHome();
    const failure = new Error("no file descriptors");
    const list = async (): Promise<string[]> => await Promise.reject(failure);
    const parts = { ...stage.parts, agents: { ...stage.parts.agents, list } };
    expect((await checkHealth(parts, [])).problems).toMatchObject([{ text: "agent main: no file descriptors" }]);
  });
});
