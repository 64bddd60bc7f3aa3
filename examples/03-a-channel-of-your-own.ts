/** A gateway with your own channel beside the configured ones. Every message is answered once. */
import { type Channel, openHoldfastGateway } from "holdfast";

const hello = {
  address: { channel: "desk", accountId: "default", chatId: "ada", messageId: "1" },
  ctx: { Provider: "desk", From: "desk:ada", To: "ada", ChatType: "direct", Body: "hello" },
  receivedAt: Date.now(),
};
const answered = Promise.withResolvers<void>();

const desk: Channel = {
  name: "desk",
  accountId: "default",
  capabilities: { textLimit: 2000, media: false, replies: false },
  start: async (host) => {
    host.report({ state: "connected", text: "open" });
    // `admit` resolves when the message is durable. A platform may deliver it twice; it is answered once.
    await host.admit(hello);
    await host.admit(hello);
  },
  stop: async () => undefined,
  send: async ({ target, text }) => {
    console.log(`to ${target.to}: ${text}`);
    answered.resolve();
    return { messageId: "1" };
  },
};

const gateway = await openHoldfastGateway({ channels: [desk], port: 0 });
await answered.promise;
await gateway.close();
