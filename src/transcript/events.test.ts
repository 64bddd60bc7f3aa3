import { expect, test } from "vitest";
import { emitSessionTranscriptUpdate, onSessionTranscriptUpdate } from "./events.ts";

test("every listener hears of an update, whatever the others do, until it stops", () => {
  const heard: string[] = [];
  const stopThrowing = onSessionTranscriptUpdate(() => {
    throw new Error("broken listener");
  });
  const stop = onSessionTranscriptUpdate(({ sessionFile }) => heard.push(sessionFile));
  emitSessionTranscriptUpdate(" /a.jsonl ");
  emitSessionTranscriptUpdate("  ");
  stop();
  emitSessionTranscriptUpdate("/b.jsonl");
  stopThrowing();
  expect(heard).toEqual(["/a.jsonl"]);
});
