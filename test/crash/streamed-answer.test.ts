/** A gateway that is killed while it shows a growing answer: the chat has the answer once, as the transcript has it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultPoint } from "../../src/base/faults.ts";
import { startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";
import { startGatewayChild } from "./gateway-rounds.ts";

const FIRST = "The first line of an answer that takes a while.";
const SECOND = "The second line of the answer.";

it.concurrent.each<FaultPoint>(["block.queued", "block.edited", "turn.answered"])(
  "killed at %s",
  async (point) => {
    await using telegram = await startFakeTelegram();
    await using folder = await temporaryFolder();
    const home = folder.join("home");
    await mkdir(home, { mode: 0o700 });
    const config = { channels: { telegram: { default: { apiRoot: telegram.url, allowFrom: ["*"] } } } };
    await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });

    const first = await startGatewayChild({ home, dieAt: { point, after: 1 } }, telegram);
    telegram.say(`stream:${FIRST}\nsleep:1300\nstream:${SECOND}\nsleep:1700\nsay:The end.`);
    await first.ended;
    expect(first.child.signalCode).toBe("SIGKILL");

    const second = await startGatewayChild({ home }, telegram);
    try {
      const answer = [FIRST, SECOND, "The end."].join("\n");
      await until(
        () => telegram.shown(ADA.id).includes(answer),
        () => `the answer; there is ${JSON.stringify(telegram.shown(ADA.id))}`,
        20_000,
      );
      telegram.say("say:And now?");
      await until(() => telegram.shown(ADA.id).includes("And now?"), "the next answer");
      expect(telegram.shown(ADA.id)).toEqual([answer, "And now?"]);
    } finally {
      second.child.kill("SIGTERM");
      await second.ended;
    }
  },
  60_000,
);
