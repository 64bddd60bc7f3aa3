import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../base/errors.ts";
import { failureText } from "../../turn/run/failure-text.ts";
import { saidBefore } from "./turn-end.ts";

describe("saidBefore", () => {
  const failure = new HoldfastError("timeout", "turn-timeout", "It took too long", { hint: "Ask for less" });

  it("leaves out the failure, which is told elsewhere", () => {
    expect(saidBefore(failure, failureText(failure))).toBeUndefined();
    expect(saidBefore(failure, `Half an answer\n\n${failureText(failure)}`)).toBe("Half an answer");
  });

  it("keeps everything else", () => {
    expect(saidBefore(failure, "Half an answer")).toBe("Half an answer");
    expect(saidBefore(undefined, failureText(failure))).toBe(failureText(failure));
    expect(saidBefore(failure, undefined)).toBeUndefined();
  });
});
