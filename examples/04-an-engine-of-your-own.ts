/**
 * A gateway whose agent answers with your own engine. The configuration chooses it by name:
 * `holdfast config set agents.main.engine shout`.
 */
import { type OpenEngine, connectToGateway, openHoldfastGateway } from "holdfast";

const openShout: OpenEngine = ({ clock, agentId }) => ({
  name: "shout",
  keepsConversation: false, // Holdfast keeps the conversation and passes it as `context`.
  async *run({ text, context, kind }, signal) {
    if (kind === "flush" || signal.aborted) return;
    const earlier = context.filter(({ role }) => role === "user").length - 1;
    const answer = `${text.toUpperCase()}! (${earlier} messages before)`;
    // For live display, word by word. The complete message below is what counts.
    for (const word of answer.split(/(?<= )/)) yield { type: "text", text: word };
    yield {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "text", text: answer }],
        provider: "examples",
        model: `shout-${agentId}`,
        stopReason: "stop",
        timestamp: clock.now(),
      },
    };
    const tokens = { input: text.length, output: answer.length, cacheRead: 0, cacheWrite: 0 };
    yield { type: "usage", usage: { provider: "examples", model: "shout", ...tokens, costUsd: 0 } };
  },
  close: async () => undefined,
});

const gateway = await openHoldfastGateway({ engines: { shout: openShout }, channels: false, port: 0 });
const client = await connectToGateway();
for (const message of ["hello", "is anybody there?"]) {
  const { result } = await client.call("agent", { message });
  console.log(result?.payloads[0]?.text);
}
client.close();
await gateway.close();
