import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { fakeMessage, fakeUser } from "../../../test/support/fake-discord/objects.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import { createReceivedFiles } from "../received-files.ts";
import type { DiscordConnection } from "./connect.ts";
import { openCursors } from "./cursors.ts";
import type { DiscordMessage } from "./inbound-context.ts";
import { createInlet } from "./inlet.ts";

const CHANNEL = "10";

function message(id: string): DiscordMessage {
  return fakeMessage({ id, channel_id: CHANNEL, author: fakeUser("7", "ada"), content: `message ${id}` });
}

it("does not let a live message overtake what a new session has missed", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  const cursors = await openCursors(path, silentLogger);
  cursors.advance(CHANNEL, "50");
  const admitted: string[] = [];
  const inlet = createInlet({
    accountId: "default",
    access: { allowFrom: ["*"] },
    host: {
      admit: async ({ address }) => {
        admitted.push(address.messageId);
        // At every moment a crash finds a cursor that is not ahead of what was admitted.
        expect(Number(cursors.get(CHANNEL))).toBeLessThan(Number(address.messageId));
      },
      report: () => undefined,
    },
    cursors,
    files: createReceivedFiles({ folder: folder.join("media") }),
    tell: async () => undefined,
    clock: createTestClock(),
    logger: silentLogger,
    signal: new AbortController().signal,
  });
  const asked: string[] = [];
  let missed: string[] = [];
  const connection: DiscordConnection = {
    bot: { id: "1", username: "bot" },
    get rest(): never {
      throw new Error("not asked for here");
    },
    place: async () => ({ kind: "direct" }),
    visibleChannels: () => [],
    messagesAfter: async (_, after) => {
      asked.push(after);
      return missed.map(message);
    },
    close: async () => undefined,
  };
  inlet.open(connection);
  await inlet.idle();
  inlet.hold();
  missed = ["51", "52", "53"];
  inlet.take(message("53"));
  inlet.take(message("54"));
  await inlet.idle();
  expect(admitted).toEqual([]);
  inlet.open(connection);
  inlet.take(message("55"));
  await inlet.idle();
  expect(asked).toEqual(["50", "50"]);
  expect(admitted).toEqual(["51", "52", "53", "54", "55"]);
  await cursors.flush();
  expect((await openCursors(path, silentLogger)).get(CHANNEL)).toBe("55");
});
