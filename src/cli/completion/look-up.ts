/** Values for a completion that only this machine knows. Whatever fails here must not disturb a prompt. */
import { listAgentIds } from "../../compose.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { type Setup, loadSetup, withAgent } from "../context.ts";
import type { Suggestion, ValueKind } from "./suggest.ts";

const MOST_SESSIONS = 100;

export async function lookUp(kind: ValueKind, line: readonly string[]): Promise<Suggestion[]> {
  switch (kind) {
    case "agent":
      return (await agentIds(await loadSetup())).map((word) => ({ word }));
    case "session":
      return await sessions(line[line.indexOf("--agent") + 1], line.includes("--agent"));
    case "account":
      return accountIds(await loadSetup()).map((word) => ({ word }));
    case "config-key":
      return keysOf(DEFAULT_CONFIG, "").map((word) => ({ word }));
    default:
      return [];
  }
}

async function agentIds({ home, config }: Setup): Promise<string[]> {
  const known = [config.defaultAgent, ...Object.keys(config.agents), ...(await listAgentIds(home))];
  return [...new Set(known)].toSorted();
}

/** Keys, each with its label, and labels, which are shorter to type. */
async function sessions(agent: string | undefined, isNamed: boolean): Promise<Suggestion[]> {
  const options = isNamed && agent !== undefined ? { agent } : {};
  return await withAgent(options, async ({ store }) => {
    const { sessions } = await store.list({ limit: MOST_SESSIONS, fields: ["label"] });
    const labels = sessions.flatMap(({ key, entry: { label } }) =>
      label === undefined || /\s/.test(label) ? [] : [{ word: label, description: key }],
    );
    const keys = sessions.map(({ key, entry: { label } }) => ({
      word: key,
      ...(label === undefined ? {} : { description: label }),
    }));
    return [...labels, ...keys];
  });
}

function accountIds({ config: { channels } }: Setup): string[] {
  return [...new Set(Object.values(channels).flatMap((accounts) => Object.keys(accounts)))].toSorted();
}

function keysOf(value: unknown, prefix: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [`${prefix}${name}`, ...keysOf(inner, `${prefix}${name}.`)]);
}
