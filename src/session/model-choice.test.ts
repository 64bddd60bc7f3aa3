/** How OpenClaw 2026.1.30 reads the words after a reset, case by case. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createAgentHome } from "../../test/support/agent-home.ts";
import type { ModelConfig } from "../config/config.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { initSessionState } from "./init.ts";
import { applyResetModelOverride } from "./model-choice.ts";

interface VectorCase {
  fn: string;
  args: [{ bodyStripped: string; allowedModels: Record<string, ModelConfig>; default: string }];
  expected: {
    selection: object | null;
    cleanedBody: string | null;
    bodyForCommands: string | null;
    providerOverride: string | null;
    modelOverride: string | null;
  };
}

const file = new URL("../../test/fixtures/vectors/session.json", import.meta.url);
const cases = (JSON.parse(readFileSync(file, "utf8")) as { cases: VectorCase[] }).cases.filter(
  ({ fn }) => fn === "applyResetModelOverride",
);

describe("OpenClaw 2026.1.30", () => {
  it.each(cases.map(({ args, expected }) => [args[0], expected] as const))("%j", async (given, expected) => {
    await using fixture = await createAgentHome();
    const { agent, config } = fixture;
    const { sessionKey } = await initSessionState({ agent, ctx: { SessionKey: "main", Body: "/new" }, cfg: config });
    const sessionCtx: MessageContext = {};
    const { selection, cleanedBody } = await applyResetModelOverride({
      agent,
      sessionKey,
      models: given.allowedModels,
      defaultModel: given.default,
      resetTriggered: true,
      bodyStripped: given.bodyStripped,
      sessionCtx,
    });
    const entry = await agent.store.get(sessionKey);
    expect({
      selection: selection ?? null,
      cleanedBody: cleanedBody ?? null,
      bodyForCommands: sessionCtx.BodyForCommands ?? null,
      providerOverride: entry?.providerOverride ?? null,
      modelOverride: entry?.modelOverride ?? null,
    }).toEqual(expected);
  });

  it("has eight recorded cases", () => {
    expect(cases).toHaveLength(8);
  });
});
