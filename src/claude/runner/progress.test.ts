import { expect, it } from "vitest";
import type { ClaudeEvent } from "./process/claude-process.ts";
import { createProgressTracker } from "./progress.ts";
import type { RunnerEvent } from "./runner-contract.ts";

const sessionId = "11111111-2222-4333-8444-555555555555";

it("says what was done, neutralised, and begins anew with every task", async () => {
  const tracker = createProgressTracker();
  const reported = Promise.withResolvers<RunnerEvent>();
  const seen: RunnerEvent[] = [];
  const relay = {
    emit: (event: RunnerEvent): void => {
      if (event.type === "progress") reported.resolve(event);
      else seen.push(event);
    },
  };
  const end = tracker.begin(relay, 1);
  const events: ClaudeEvent[] = [
    { type: "text", text: "Let me \u001b[2Jlook.", sessionId },
    { type: "text", text: "from a subagent", parentToolUseId: "t0", sessionId },
    { type: "tool-use", id: "t1", name: "Bash", input: { command: "ls \u001b[31m" }, sessionId },
    { type: "tool-result", id: "t1", text: "no \u001b]0;title\u0007", isError: true, sessionId },
    { type: "tool-use", id: "t2", name: "Read", input: { file_path: "/repo/a.ts" }, sessionId },
    { type: "retry", attempt: 1, maxRetries: 10, delayMs: 500, status: 529, error: "busy", sessionId },
  ];
  for (const event of events) tracker.see(event, relay);
  const report = await reported.promise;
  end();
  expect(report).toMatchObject({
    progress: { toolUses: 2, lastTool: "Read", lastToolDetail: "/repo/a.ts", retries: 1, subagents: 0 },
  });
  expect(JSON.stringify([report, ...seen.filter((event) => event.type !== "text")])).not.toMatch(/(?<!\\)\\u00/);
  expect(seen).toMatchObject([
    { type: "text" },
    { type: "tool", name: "Bash", isSubagent: false },
    { type: "tool-failed", name: "Bash" },
    { type: "tool", name: "Read" },
  ]);
  const again = Promise.withResolvers<RunnerEvent>();
  tracker.begin({ emit: (event) => again.resolve(event) }, 1);
  expect(await again.promise).toMatchObject({ progress: { toolUses: 0, retries: 0 } });
});
