/** What the status tells, from the stores and from the gateway if one runs. */
import { errorMessage } from "../../base/errors.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import type { Setup } from "../context.ts";
import { withIdleAccounts } from "../idle-accounts.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";
import { type AgentSessions, readAgents } from "./agent-sessions.ts";
import type { UsageRow } from "./usage.ts";

export interface StatusReport {
  agents: AgentSessions[];
  gateway: GatewayProbe;
  usage?: UsageRow[];
  health?: ResultOf<"health">;
}

/** What asking the gateway gave; without a status when none answers. */
export interface GatewayProbe {
  url?: string;
  latencyMs?: number;
  status?: ResultOf<"status">;
  /** Why one that should be there does not answer. */
  error?: string;
}

export interface StatusDetail {
  /** Every session, the gateway's health and the usage. */
  all?: boolean;
  usage?: boolean;
  /** The gateway's health too. */
  deep?: boolean;
}

/** What is added up where usage is shown. */
export const USAGE_DAYS = 30;
const DAY_MS = 86_400_000;
const RECENT = 10;

export async function gatherStatus(setup: Setup, detail: StatusDetail): Promise<StatusReport> {
  const [agents, gateway] = await Promise.all([
    readAgents(setup, detail.all === true ? undefined : RECENT),
    probeGateway(setup, detail.deep === true || detail.all === true),
  ]);
  const ids = agents.map(({ id }) => id);
  if (detail.usage !== true && detail.all !== true) return { agents, ...gateway };
  const { readUsage } = await import("./usage.ts");
  return { agents, ...gateway, usage: await readUsage(setup.home, ids, Date.now() - USAGE_DAYS * DAY_MS) };
}

async function probeGateway(setup: Setup, deep: boolean): Promise<Pick<StatusReport, "gateway" | "health">> {
  const startedAt = performance.now();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) return { gateway: {} };
  try {
    const found = await gateway.call("status", { limit: 1 });
    const latencyMs = Math.round(performance.now() - startedAt);
    const status = { ...found, channels: withIdleAccounts(found.channels, setup.config) };
    const health = deep ? await gateway.call("health", {}) : undefined;
    return { gateway: { url: gateway.url, latencyMs, status }, ...(health === undefined ? {} : { health }) };
  } catch (error) {
    return { gateway: { url: gateway.url, error: errorMessage(error) } };
  }
}
