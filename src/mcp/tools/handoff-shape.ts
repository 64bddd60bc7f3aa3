/** A hand-off as a model gets it: what it needs to go on, without what only programs and people need. */
import { z } from "zod";
import { handoffView } from "../../handoff/handoff-view.ts";
import type { Remarks } from "../../handoff/render.ts";
import type { SessionState } from "../../handoff/state.ts";

const line = z.object({
  kind: z.string(),
  text: z.string(),
  /** The entry of the transcript that it came from. */
  entry: z.string(),
  /** The earlier session of that entry, where it is another than the one that it tells about. */
  session: z.string().optional(),
  at: z.string(),
  /** What the repo says about it now. */
  now: z.string().optional(),
  /** A blocker that a later entry says is over. */
  resolvedBy: z.string().optional(),
});

export const handoffShape = z.object({
  project: z.string(),
  status: z.string(),
  ending: z.string(),
  lastMessageAt: z.string(),
  capturedAt: z.string(),
  expiresAt: z.string(),
  branch: z.string().optional(),
  lines: z.array(line),
});

export const listShape = handoffShape.omit({ lines: true }).extend({
  sessionId: z.string(),
  inProgress: z.array(z.string()),
  nextStep: z.string().optional(),
});

export function toHandoff(state: SessionState, now: number, remarks?: Remarks): z.input<typeof handoffShape> {
  const { project, status, ending, branch, items } = handoffView(state, now, remarks);
  return {
    project,
    status,
    ending,
    lastMessageAt: state.lastMessageAt,
    capturedAt: state.updatedAt,
    expiresAt: state.expiresAt,
    branch,
    lines: items.map(({ kind, text, entryId, sessionId, at, remark, resolvedBy }) => ({
      kind,
      text,
      entry: entryId,
      session: sessionId,
      at: new Date(at).toISOString(),
      now: remark,
      resolvedBy,
    })),
  };
}

export function toListed(state: SessionState, now: number): z.input<typeof listShape> {
  const { lines: _, ...head } = toHandoff(state, now);
  const { inProgress, nextStep } = state.summary;
  return {
    ...head,
    sessionId: state.previousSessionId,
    inProgress,
    ...(nextStep === "" ? {} : { nextStep }),
  };
}
