import { describe, expect, it } from "vitest";
import { KEY, createCommandHome } from "../../../test/support/command-home.ts";
import type { CompactOutcome, CompactRequest } from "../run/compact.ts";

describe("/stop", () => {
  it.each([
    [{ aborted: true, dropped: 0 }, "Stopped."],
    [{ aborted: true, dropped: 1 }, "Stopped. 1 waiting message dropped."],
    [{ aborted: false, dropped: 2 }, "Nothing was running. 2 waiting messages dropped."],
    [{ aborted: false, dropped: 0 }, "Nothing is running."],
  ])("reports to %j what was stopped, and records it", async (stopped, answer) => {
    await using home = await createCommandHome();
    await home.say("one");
    expect(await home.type("/stop", { lane: { stop: async () => stopped } })).toBe(answer);
    expect((await home.entry())?.abortedLastRun).toBe(stopped.aborted);
  });

  it("stops a turn before the first message", async () => {
    await using home = await createCommandHome();
    const lane = { stop: async () => ({ aborted: true, dropped: 0 }) };
    expect(await home.type("/stop", { lane })).toBe("Stopped.");
    expect(await home.entry()).toBeUndefined();
  });
});

describe("/compact", () => {
  it("passes the instructions on, under the lease", async () => {
    const requests: CompactRequest[] = [];
    const compact = async (request: CompactRequest): Promise<CompactOutcome> => {
      await request.held.fence();
      requests.push(request);
      return { compacted: true, tokensBefore: 150_000, tokensAfter: 8400, entry: undefined };
    };
    await using home = await createCommandHome({ compact });
    expect(await home.type("/compact")).toBe("There is nothing to compact yet.");
    expect(requests).toHaveLength(0);
    await home.say("one");
    expect(await home.type("/compact the names")).toBe("Compacted: 150k → 8.4k tokens.");
    expect(requests[0]).toMatchObject({ sessionKey: KEY, instructions: "the names" });
    await home.type("/compact");
    expect(requests[1]?.instructions).toBeUndefined();
  });

  it("says why nothing was compacted", async () => {
    const reason = "The engine \u001b[31mx shortens by itself.";
    await using home = await createCommandHome({ compact: async () => ({ compacted: false, reason }) });
    await home.say("one");
    expect(await home.type("/compact")).toBe("The engine \\u001b[31mx shortens by itself.");
  });

  it("throws a failure that is not the person's mistake", async () => {
    const failed = new Error("disk");
    await using home = await createCommandHome({ compact: async () => await Promise.reject(failed) });
    await home.say("one");
    await expect(home.type("/compact")).rejects.toBe(failed);
  });
});
