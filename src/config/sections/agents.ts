/** Who answers. */
import type { DeepPartial } from "../deep-partial.ts";
import type { ClaudeCodeConfig } from "./claude-code.ts";

export interface AgentConfig {
  name?: string;
  /** What answers. Left out: `model` when the agent has a model, else `echo`. */
  engine?: EngineName;
  /** `provider/model`. */
  model?: string;
  workspace?: string;
  /** What this agent does differently with Claude Code. */
  claudeCode?: DeepPartial<ClaudeCodeConfig>;
}

export const ENGINE_NAMES = ["claude-code", "model", "echo"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
