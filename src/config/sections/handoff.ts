/** What one conversation leaves for the next. */

export interface HandoffConfig {
  /** False: nothing is captured and nothing is offered. */
  enabled: boolean;
  /** Captured after so many messages, besides all ends of a conversation. */
  everyMessages: number;
  /** Captured after a tool result of so many characters. */
  largeToolResult: number;
  /** How long it is offered. */
  expiresHours: number;
  /** How many snapshots of earlier states are kept for an agent. */
  keepSnapshots: number;
  /** `provider/model` that puts the summary into better words. Left out: no model is asked. */
  model?: string;
  modelTimeoutSeconds: number;
}

export const DEFAULT_HANDOFF: HandoffConfig = {
  enabled: true,
  everyMessages: 20,
  largeToolResult: 20_000,
  expiresHours: 24,
  keepSnapshots: 50,
  modelTimeoutSeconds: 20,
};
