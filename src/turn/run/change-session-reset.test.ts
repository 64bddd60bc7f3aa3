/** A reset from outside the conversation. */
import { expect, it } from "vitest";
import {
  ADA_KEY,
  type TurnHome,
  answer,
  scriptedEngine,
  createTurnHome,
  usage,
} from "../../../test/support/turn-home.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import { patchSession } from "../../session/patch.ts";
import { readContext } from "../../transcript/context.ts";
import { draftReplies } from "../reply/draft-replies.ts";
import { type ResetRequest, resetAfterFlush } from "./change-session.ts";
import type { OutboxItem } from "../../store/queues.ts";
import { messageText, isFlushEntry } from "../../transcript/messages.ts";

const CAPABILITIES = { media: false, replies: true };

const saving = (words: string) =>
  scriptedEngine(({ kind, text }) => [usage(100), answer(kind === "flush" ? words : `re: ${text}`)]);

async function reset({ parts, events }: TurnHome, more: Partial<ResetRequest> = {}) {
  return await resetAfterFlush({
    parts,
    sessionKey: ADA_KEY,
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    draft: async (request) =>
      await draftReplies({ ...request, capabilities: CAPABILITIES, workspace: parts.agent.workspace }),
    ...more,
  });
}

async function waiting({ parts, fixture }: TurnHome): Promise<OutboxItem[]> {
  return await parts.agent.store.outbox.due(fixture.clock.now(), 10);
}

it("lets the agent save its memory first, in the window that ends", async () => {
  const engine = saving("NO_REPLY");
  await using home = await createTurnHome(engine);
  await home.say("remember the milk");
  const { previous, entry } = await reset(home);
  expect(entry.sessionId).not.toBe(previous.sessionId);
  expect(engine.turns.map(({ kind }) => kind)).toEqual(["message", "flush"]);
  expect((await home.messages(previous)).filter(isFlushEntry)).toHaveLength(2);
  expect(await waiting(home)).toEqual([]);
  expect(await home.messages()).toEqual([]);
});

it("delivers messages of the agent once, and mirrors them in the new window", async () => {
  await using home = await createTurnHome(saving("Your alarm is still set."));
  await home.say("wake me at six");
  const { previous } = await reset(home);
  const told = {
    key: ADA_KEY,
    idempotencyKey: `reset:${previous.sessionId}:0`,
    target: { channel: "telegram", to: "telegram:1" },
    payload: { text: "Your alarm is still set." },
  };
  expect(await waiting(home)).toMatchObject([told]);
  const { messages } = await readContext(await transcriptPath(home.parts.agent, await home.entry()));
  expect(messages.map(messageText)).toEqual(["Your alarm is still set."]);
  await reset(home);
  expect(await waiting(home)).toHaveLength(1);
});

it("delivers nothing if the send policy forbids it", async () => {
  await using home = await createTurnHome(saving("Your alarm is still set."));
  await home.say("wake me at six");
  await patchSession(home.parts.agent, ADA_KEY, { sendPolicy: "deny" });
  await reset(home);
  expect(await waiting(home)).toEqual([]);
  expect(await home.messages()).toEqual([]);
});

it("resets even if the flush or a draft fails", async () => {
  const engine = scriptedEngine(({ kind }) => {
    if (kind === "flush") throw new Error("no engine");
    return [usage(100), answer("yes")];
  });
  await using home = await createTurnHome(engine);
  await home.say("first");
  const { previous, entry } = await reset(home);
  expect(entry.sessionId).not.toBe(previous.sessionId);
  expect(home.events).toContainEqual(expect.objectContaining({ type: "turn.notice" }));

  await using other = await createTurnHome(saving("words"));
  await other.say("first");
  const moved = await reset(other, { draft: async () => await Promise.reject(new Error("no channel")) });
  expect(moved.entry.sessionId).not.toBe(moved.previous.sessionId);
});

it("refuses an unknown or changed session, and asks no engine", async () => {
  const engine = saving("NO_REPLY");
  await using home = await createTurnHome(engine);
  await expect(reset(home)).rejects.toMatchObject({ code: "session-not-found" });
  await home.say("first");
  await expect(reset(home, { expectedSessionId: "another" })).rejects.toMatchObject({ code: "session-moved" });
  expect(engine.turns.map(({ kind }) => kind)).toEqual(["message"]);
});
