/** Puts a session into a home before the command line is tried on it. */
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { initSessionState } from "../../src/session/init.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openAgent } from "../../src/compose/agent.ts";

export async function writeSession(home: string, kind: StoreKind, key: string): Promise<void> {
  const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
  const agent = await openAgent({ home, config });
  await initSessionState({ agent, ctx: { SessionKey: key, Body: "hello" }, cfg: config });
  await agent.store.close();
}
