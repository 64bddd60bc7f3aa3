import { HoldfastError } from "../base/errors.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAnswerPrinter, withoutFailureText } from "./answer-printer.ts";
import { failureText } from "../turn/turn-errors.ts";
import type { RpcEvent } from "../rpc/protocol.ts";

const turn = { agentId: "main", sessionKey: "agent:main:main", itemId: 1 };
const text = (piece: string): RpcEvent => ({ type: "turn.text", ...turn, text: piece });
const tool = (phase: "start" | "end", isError = false): RpcEvent => ({
  type: "turn.tool",
  ...turn,
  phase,
  id: "1",
  name: "list\u001b[31m_files",
  isError,
});

let out = "";
let talk = "";

beforeEach(() => {
  out = "";
  talk = "";
  vi.spyOn(process.stdout, "write").mockImplementation((piece) => ((out += String(piece)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((piece) => ((talk += String(piece)), true));
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an answer on a terminal", () => {
  it("is streamed once", () => {
    const printer = createAnswerPrinter(true, "aaaaaaaa-1");
    for (const event of [text("\nI look. "), tool("start"), tool("end", true), text("Two "), text("files.")]) {
      printer.onEvent(event);
    }
    printer.end({ outcome: "answered", text: "I look.\n\nTwo files.", sessionId: "aaaaaaaa-1" });
    expect(out).toBe("I look. \nTwo files.\n");
    expect(talk).toContain(String.raw`· list\u001b[31m_files`);
    expect(talk).toContain("_files failed");
  });

  it("shows the tools of a verbose session, also without a terminal", () => {
    for (const interactive of [true, false]) {
      talk = "";
      createAnswerPrinter(interactive, undefined).onEvent({ ...tool("start"), line: "→ list_files ." } as RpcEvent);
      expect(talk).toContain("→ list_files .");
    }
  });

  it("is printed again if the final text differs", () => {
    const printer = createAnswerPrinter(true, undefined);
    printer.onEvent(text("[[reply_to:7]] hi \u0007"));
    printer.end({ outcome: "answered", text: "hi there" });
    expect(out).toBe("[[reply_to:7]] hi \\u0007\nhi there\n");
  });

  it("names attachments once", () => {
    const printer = createAnswerPrinter(true, undefined);
    printer.onEvent(text("MEDIA:./a.png"));
    printer.end({ outcome: "answered", media: ["./a.png", "./b.png"] });
    expect(out).toBe("MEDIA:./a.png\nMEDIA:./b.png\n");
    expect(talk).toBe("");
  });

  it("announces a new window and names the previous one", () => {
    const printer = createAnswerPrinter(true, "aaaaaaaa-1");
    printer.end({ outcome: "command", text: "done", sessionId: "bbbbbbbb-2" });
    printer.end({ outcome: "silent", sessionId: "bbbbbbbb-2" });
    expect(talk.match(/New window bbbbbbbb\. .*\/back aaaaaaaa/g)).toHaveLength(1);
    expect(talk).toContain("The agent chose not to answer.");
  });

  it("announces it after other commands, but not twice", () => {
    const printer = createAnswerPrinter(true, "aaaaaaaa-1");
    printer.end({ outcome: "command", text: "This session has a name." });
    printer.end({ outcome: "answered", text: "hello", sessionId: "bbbbbbbb-2" });
    printer.end({ outcome: "command", text: "Back at window aaaaaaaa", sessionId: "aaaaaaaa-1" });
    printer.end({ outcome: "answered", text: "again", sessionId: "aaaaaaaa-1" });
    expect(talk.match(/New window \w+/g)).toEqual(["New window bbbbbbbb"]);
  });
});

describe("an answer on a pipe", () => {
  it("is printed whole, with notices on stderr", () => {
    const printer = createAnswerPrinter(false, undefined);
    printer.onEvent(text("he"));
    printer.onEvent({ type: "turn.notice", ...turn, text: "a fresh session" });
    printer.end({ outcome: "answered", text: "hello" });
    expect(out).toBe("hello\n");
    expect(talk).toBe("a fresh session\n");
  });
});

describe("withoutFailureText", () => {
  const failure = new HoldfastError("timeout", "turn-timeout", "It took too long", { hint: "Ask for less" });

  it("removes the failure, which is printed elsewhere", () => {
    expect(withoutFailureText(failureText(failure), failure)).toBeUndefined();
    expect(withoutFailureText(`Half an answer\n\n${failureText(failure)}`, failure)).toBe("Half an answer");
  });

  it("keeps everything else", () => {
    expect(withoutFailureText("Half an answer", failure)).toBe("Half an answer");
    expect(withoutFailureText(failureText(failure), undefined)).toBe(failureText(failure));
    expect(withoutFailureText(undefined, failure)).toBeUndefined();
  });
});
