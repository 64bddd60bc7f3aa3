/** Two turns, a reset, and the return to the first window. Nothing is lost. */
import { initSessionState, openHoldfastAgent, readContext, reopenWindow, withSessionLease } from "holdfast";

const agent = await openHoldfastAgent();
const person = { Provider: "telegram", From: "telegram:42", ChatType: "direct" };

async function say(text: string): Promise<string> {
  const session = await initSessionState({ agent, ctx: { ...person, Body: text }, commandAuthorized: true });
  return await withSessionLease(agent, session.sessionKey, {}, async (held) => {
    await using log = await agent.store.transcripts.open(session.transcriptPath, { held });
    const said = session.bodyStripped ?? text;
    if (said !== "") {
      await log.append([{ type: "message", message: { role: "user", content: said, timestamp: Date.now() } }]);
    }
    await log.sync();
    const { messages } = await readContext(session.transcriptPath);
    console.log(`${text}: ${messages.length} messages in window ${session.isNewSession ? "(new)" : "(same)"}`);
    return session.sessionKey;
  });
}

await say("hello");
await say("are you there?");
const key = await say("/new let us talk about something else");

const [first] = await agent.store.windows(key);
if (first !== undefined) await reopenWindow(agent, first);
await say("where were we?");
await agent.store.close();
