import { describe, expect, it } from "vitest";
import { ERROR_KINDS, HoldfastError, errorOutcome, fileError, reportError } from "./errors.ts";

describe("the table of kinds", () => {
  it("uses exit codes that docs/cli.md names", () => {
    for (const { exitCode } of Object.values(ERROR_KINDS)) expect([1, 2, 3, 4, 5, 130]).toContain(exitCode);
  });
});

describe("errors", () => {
  it("leave with code, kind, hint, data and cause", () => {
    const cause = new Error("below");
    const error = new HoldfastError("not-found", "session-not-found", "gone", {
      hint: "look",
      data: { key: "k" },
      cause,
    });
    expect(error.cause).toBe(cause);
    expect(errorOutcome(error)).toEqual({ exitCode: 3, httpStatus: 404, retryable: false });
    expect(reportError(error)).toEqual({
      code: "session-not-found",
      kind: "not-found",
      message: "gone",
      hint: "look",
      retryable: false,
      data: { key: "k" },
    });
  });

  it("of unknown origin count as defects", () => {
    expect(reportError("text")).toEqual({ code: "internal", kind: "internal", message: "text", retryable: false });
    expect(errorOutcome(new TypeError("x")).exitCode).toBe(1);
  });

  it("of files name the file and pass our own errors through", () => {
    const denied = fileError(Object.assign(new Error("EACCES: denied"), { code: "EACCES" }), "open", "/f");
    expect(denied).toMatchObject({
      kind: "forbidden",
      code: "file-forbidden",
      message: "Cannot open /f: EACCES: denied",
    });
    expect(fileError(denied, "read", "/g")).toBe(denied);
  });
});
