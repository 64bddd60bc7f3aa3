/** Connects an agent to your own channel. Every message is answered once. */
import { type Channel, type ChannelHost, openHoldfastTurns } from "holdfast";

let host: ChannelHost | undefined;
const answered = Promise.withResolvers<void>();

const channel: Channel = {
  name: "desk",
  accountId: "default",
  capabilities: { textLimit: 2000, media: false, replies: false, threads: false, deduplicates: false },
  start: async (given) => {
    host = given;
    given.report({ state: "connected", text: "open" });
  },
  stop: async () => undefined,
  send: async ({ target, text }) => {
    console.log(`to ${target.to}: ${text}`);
    answered.resolve();
    return { messageId: "1" };
  },
};

const turns = await openHoldfastTurns({ extraChannels: [channel] });
await turns.start();

const message = {
  address: { channel: "desk", accountId: "default", chatId: "ada", messageId: "1" },
  ctx: { Provider: "desk", From: "desk:ada", To: "ada", ChatType: "direct", Body: "hello" },
  receivedAt: Date.now(),
};
await host?.admit(message);
// A platform may deliver a message twice; it is answered once.
await host?.admit(message);

await answered.promise;
await turns.close();
