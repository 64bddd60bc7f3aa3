import { expect, it } from "vitest";
import { isTransient, modelError } from "./model-errors.ts";

const CALL = { provider: "p", model: "m" };

it.each([
  ["prompt is too long: 215000 tokens > 200000 maximum"],
  ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
  ["This model's maximum context length is 8192 tokens."],
  ["Your input exceeds the context window of this model."],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  ["the request exceeds the available context size, try increasing it"],
])("%j means a conversation is too long, with and without a status", (message) => {
  const withStatus = modelError(Object.assign(new Error(message), { statusCode: 400 }), CALL);
  expect(withStatus).toMatchObject({ code: "context-too-long", kind: "usage" });
  expect(withStatus.hint).toContain("/compact");
  expect(modelError({ type: "error", message }, CALL).code).toBe("context-too-long");
  expect(isTransient(withStatus)).toBe(false);
});

it.each([
  [{ type: "overloaded_error", message: "busy" }, "model-server-failed"],
  [{ type: "rate_limit_error", message: "slow" }, "model-rate-limited"],
  [{ type: "authentication_error", message: "who" }, "model-auth"],
  [{ type: "invalid_request_error", message: "what" }, "model-request-invalid"],
  [{ odd: true }, "model-answer-unreadable"],
  ["just words", "model-answer-unreadable"],
  [undefined, "model-answer-unreadable"],
  [null, "model-answer-unreadable"],
])("%j in a stream is %s", (error, code) => {
  expect(modelError(error, CALL).code).toBe(code);
});

it.each([
  [{ "retry-after": "7" }, 7],
  [{ "retry-after": "7", "retry-after-ms": "1500" }, 1.5],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-3" }, undefined],
  [{}, undefined],
])("%j says when to try again", (responseHeaders, seconds) => {
  const error = modelError(Object.assign(new Error("busy"), { statusCode: 429, responseHeaders }), CALL);
  expect(error.data["retryAfterSeconds"]).toBe(seconds);
  expect(isTransient(error)).toBe(true);
});

it("reads a Retry-After date", () => {
  const responseHeaders = { "retry-after": new Date(Date.now() + 60_000).toUTCString() };
  const error = modelError(Object.assign(new Error("busy"), { statusCode: 503, responseHeaders }), CALL);
  expect(error.data["retryAfterSeconds"]).toBeGreaterThan(50);
  expect(error.data["retryAfterSeconds"]).toBeLessThanOrEqual(60);
});

it("hides validation errors of the packages", () => {
  const zod = Object.assign(new Error('[{"code": "invalid_type", "message": "Invalid input: expected string"}]'), {
    name: "ZodError",
  });
  const message = `Type validation failed: Value: {"secret": 1}. Error message: ${zod.message}`;
  const error = modelError(Object.assign(new Error(message, { cause: zod }), { name: "AI_TypeValidationError" }), CALL);
  expect(error).toMatchObject({ code: "model-answer-unreadable", message: "p/m sent an unreadable answer" });
});
