/** Session entries of realistic size: 5.7 KB, most of it the same in every entry. */
import { randomUUID } from "node:crypto";
import type { SessionEntry } from "../src/store/session-entry.ts";

const SKILLS_PROMPT = "The following skills are available. ".padEnd(2400, "Use them when the task asks for one. ");
const REPORT_TEXT = "section ".padEnd(2300, "of the system prompt, with its size; ");

export function sampleKey(index: number): string {
  return `agent:main:telegram:dm:${100_000 + index}`;
}

export function sampleEntry(index: number): SessionEntry {
  return {
    sessionId: randomUUID(),
    updatedAt: 1_794_700_000_000 + index,
    lastInteractionAt: 1_794_700_000_000 + index,
    systemSent: true,
    abortedLastRun: false,
    chatType: "direct",
    channel: "telegram",
    lastChannel: "telegram",
    lastTo: String(100_000 + index),
    deliveryContext: { channel: "telegram", to: String(100_000 + index), accountId: "default" },
    origin: { label: `Person ${index}`, provider: "telegram", chatType: "direct", from: `telegram:${100_000 + index}` },
    inputTokens: 1200 + index,
    outputTokens: 80,
    totalTokens: 1200 + index,
    contextTokens: 200_000,
    modelProvider: "anthropic",
    model: "claude-sonnet-4-5",
    compactionCount: 0,
    thinkingLevel: "low",
    skillsSnapshot: { prompt: SKILLS_PROMPT, skills: [{ name: "coding-agent" }, { name: "session-logs" }], version: 1 },
    systemPromptReport: { source: "run", text: REPORT_TEXT },
  };
}
