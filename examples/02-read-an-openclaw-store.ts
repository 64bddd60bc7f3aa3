/** Lists the sessions of an OpenClaw folder, used in place: node examples/02-read-an-openclaw-store.ts <sessions.json> */
import { openHoldfastAgent } from "holdfast";

const [storePath] = process.argv.slice(2);
if (storePath === undefined) throw new Error("give the path of a sessions.json");

const { store } = await openHoldfastAgent({ storePath });
const { sessions, total } = await store.list({ sort: "key", fields: ["model", "totalTokens"] });
console.log(`${total} sessions`);
for (const { key, entry } of sessions) console.log(`${key}  ${entry.model ?? "-"}  ${entry.totalTokens ?? 0} tokens`);
await store.close();
