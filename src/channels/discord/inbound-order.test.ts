import { dirname } from "node:path";
import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { fakeMessage, fakeUser } from "../../../test/support/fake-discord/objects.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/time.ts";
import { createReceivedFiles } from "../files.ts";
import { openCursors } from "./cursors.ts";
import type { DiscordConnection } from "./connection.ts";
import type { DiscordMessage } from "./context.ts";
import { createInbound } from "./inbound.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

const CHANNEL = "10";

function message(id: string): DiscordMessage {
  return fakeMessage({ id, channel_id: CHANNEL, author: fakeUser("7", "ada"), content: `message ${id}` });
}

it("admits missed messages before live ones", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  const cursors = await openCursors(createDocumentFiles(dirname(path)), silentLogger);
  cursors.advance(CHANNEL, "50");
  const admitted: string[] = [];
  const inbound = createInbound({
    accountId: "default",
    allowFrom: ["*"],
    mediaFolder: folder.join("media"),
    host: {
      admit: async ({ address }) => {
        admitted.push(address.messageId);
        // After a crash at any time, the cursor has not passed an unadmitted message.
        expect(Number(cursors.get(CHANNEL))).toBeLessThan(Number(address.messageId));
      },
      report: () => undefined,
    },
    cursors,
    files: createReceivedFiles({ mediaFolder: folder.join("media") }),
    send: async () => undefined,
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
    acknowledge: async () => undefined,
    close: async () => undefined,
  };
  inbound.open(connection);
  await inbound.idle();
  inbound.hold();
  missed = ["51", "52", "53"];
  inbound.take(message("53"));
  inbound.take(message("54"));
  await inbound.idle();
  expect(admitted).toEqual([]);
  inbound.open(connection);
  inbound.take(message("55"));
  await inbound.idle();
  expect(asked).toEqual(["50", "50"]);
  expect(admitted).toEqual(["51", "52", "53", "54", "55"]);
  await cursors.flush();
  expect((await openCursors(createDocumentFiles(dirname(path)), silentLogger)).get(CHANNEL)).toBe("55");
});
