/** A gateway killed as soon as a message runs; `npm run soak` does more rounds. */
import { expect, test } from "vitest";
import { STORE_KINDS } from "../support/agent-home.ts";
import { runCrashLoop } from "./crash-loop.ts";

test.concurrent.each(STORE_KINDS)(
  "a crash loop loses no message of a %s store",
  async (store) => {
    const report = await runCrashLoop({
      store,
      mode: store === "json" ? "collect" : "followup",
      sessions: 8,
      messages: 20,
      kills: 5,
      turnMs: 200,
      when: "as-it-runs",
      seed: 1,
    });
    expect(report).toMatchObject({ acknowledged: 20, kills: 5, givenUp: 0, failures: [] });
  },
  120_000,
);
