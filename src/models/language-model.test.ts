/** The real AI SDK against a server on loopback that speaks the providers' protocols. */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  type FakeModelReply,
  type FakeModelServer,
  startFakeModelServer,
} from "../../test/support/fake-model-server.ts";
import { HoldfastError } from "../base/errors.ts";
import { createLogger } from "../base/log.ts";
import { openLanguageModel } from "./language-model.ts";

const ENV = {
  ANTHROPIC_API_KEY: "key-a",
  OPENAI_API_KEY: "key-o",
  GEMINI_API_KEY: "key-g",
  LOCAL_KEY: "key-l",
};

const PROVIDERS = [
  { spec: "anthropic/claude-haiku-5-5", protocol: "anthropic", header: "x-api-key", key: "key-a" },
  { spec: "openai/gpt-4o-mini", protocol: "openai-responses", header: "authorization", key: "Bearer key-o" },
  { spec: "google/gemini-2.5-flash", protocol: "google", header: "x-goog-api-key", key: "key-g" },
  { spec: "local/llama3", protocol: "openai-chat", header: "authorization", key: "Bearer key-l" },
] as const;

describe.each(PROVIDERS)("$spec", ({ spec, protocol, header, key }) => {
  it("answers with text and usage", async () => {
    await using server = await startFakeModelServer(() => ({ text: "a fine answer" }));
    const answer = await open(spec, server).generateText({
      system: "the rules",
      prompt: "the question",
      maxTokens: 123,
      temperature: 0,
      reasoning: "none",
      signal: AbortSignal.timeout(10_000),
    });
    const { costUsd = 0, ...said } = answer;
    expect(said).toEqual({ text: "a fine answer", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } });
    // Eighteen tokens cost far less than a cent, and nothing where no price is known.
    expect(costUsd).toBeLessThan(0.001);
    const [request, ...more] = server.requests;
    expect(more).toEqual([]);
    expect(request).toMatchObject({ protocol, system: "the rules", prompt: "the question" });
    expect(request?.headers[header]).toBe(key);
    expect(JSON.stringify(request?.body)).toContain("123");
  });

  it.each([
    { status: 401, code: "model-auth", kind: "forbidden" },
    { status: 403, code: "model-auth", kind: "forbidden" },
    { status: 404, code: "model-not-found", kind: "not-found" },
    { status: 400, code: "model-request-invalid", kind: "usage" },
    { status: 500, code: "model-server-failed", kind: "unavailable" },
    { status: 529, code: "model-server-failed", kind: "unavailable" },
  ])("reports HTTP $status as $code, and asks once", async ({ status, code, kind }) => {
    await using server = await startFakeModelServer(() => ({ status, body: '{"error":{"message":"no"}}' }));
    await expect(open(spec, server).generateText({ prompt: "x" })).rejects.toMatchObject({ code, kind });
    expect(server.requests).toHaveLength(1);
  });

  it("says when to try again", async () => {
    const reply = { status: 429, headers: { "retry-after": "17" }, body: "{}" };
    await using server = await startFakeModelServer(() => reply);
    await expect(open(spec, server).generateText({ prompt: "x" })).rejects.toMatchObject({
      code: "model-rate-limited",
      data: { status: 429, retryAfterSeconds: 17 },
    });
  });

  it.each([
    { name: "HTML", reply: { status: 200, headers: { "content-type": "text/html" }, body: "<html>hello</html>" } },
    { name: "an empty body", reply: { status: 200, body: "" } },
    { name: "another JSON", reply: { status: 200, body: '{"hello":[1,2,3]}' } },
    { name: "half a JSON", reply: { status: 200, body: '{"id":"x","content":[' } },
  ])("does not accept $name as an answer", async ({ reply }) => {
    await using server = await startFakeModelServer(() => reply);
    expect(await failure(spec, server)).toMatch(/^model-(?:answer-unreadable|server-failed)$/);
  });

  it("reports a filter as a refusal and a cut answer as cut", async () => {
    await using refusing = await startFakeModelServer(() => ({ text: "", finish: "refusal" }));
    await expect(open(spec, refusing).generateText({ prompt: "x" })).rejects.toMatchObject({ code: "model-refused" });
    await using cut = await startFakeModelServer(() => ({ text: "and so", finish: "length" }));
    expect(await open(spec, cut).generateText({ prompt: "x" })).toMatchObject({ text: "and so", finish: "length" });
  });
});

describe("a server that misbehaves", () => {
  it.each<{ name: string; reply: FakeModelReply; code: string }>([
    { name: "never answers", reply: { silent: true }, code: "model-timeout" },
    { name: "drips for ever", reply: { endless: " " }, code: "model-timeout" },
    { name: "sends without end", reply: { endless: "x".repeat(1_000_000) }, code: "model-answer-too-large" },
    {
      name: "sends 10 MB",
      reply: { status: 200, body: `"${"x".repeat(10_000_000)}"` },
      code: "model-answer-too-large",
    },
    {
      name: "sends 10 MB of error",
      reply: { status: 500, body: "x".repeat(10_000_000) },
      code: "model-answer-too-large",
    },
    { name: "hangs up", reply: { reset: "at-once" }, code: "model-unreachable" },
    { name: "hangs up half-way", reply: { reset: "half-way" }, code: "model-unreachable" },
    {
      name: "sends the key elsewhere",
      reply: { status: 307, headers: { location: "http://127.0.0.1:1/v1/messages" }, body: "" },
      code: "model-unreachable",
    },
  ])("that $name gives $code", async ({ reply, code }) => {
    await using server = await startFakeModelServer(() => reply);
    expect(await failure("claude-haiku", server, AbortSignal.timeout(code === "model-timeout" ? 150 : 10_000))).toBe(
      code,
    );
  });

  it("that does not exist is unreachable", async () => {
    const server = await startFakeModelServer(() => ({ text: "" }));
    await server[Symbol.asyncDispose]();
    expect(await failure("claude-haiku", server)).toBe("model-unreachable");
  });
});

it("tells an interruption from a time limit", async () => {
  await using server = await startFakeModelServer(() => ({ silent: true }));
  const stop = new AbortController();
  const asked = failure("claude-haiku", server, stop.signal);
  await expect.poll(() => server.requests.length).toBe(1);
  stop.abort();
  expect(await asked).toBe("model-interrupted");
});

it("logs the SDK warnings", async () => {
  const lines: string[] = [];
  await using server = await startFakeModelServer(() => ({ text: "ok" }));
  const model = openLanguageModel("claude-haiku", {
    providers: { anthropic: { baseUrl: server.url } },
    env: ENV,
    logger: createLogger({ level: "debug", write: (line) => lines.push(line) }),
  });
  await model.generateText({ prompt: "x", temperature: 7 });
  expect(lines.join("")).toContain("temperature");
});

it("keeps keys and requests out of errors", async () => {
  const key = `sk-ant-api03-${"a1B2".repeat(20)}`;
  await using server = await startFakeModelServer(() => {
    return { status: 401, body: JSON.stringify({ type: "error", error: { type: "auth", message: `bad key ${key}` } }) };
  });
  const model = openLanguageModel("claude-haiku", {
    providers: { anthropic: { baseUrl: server.url } },
    env: { ANTHROPIC_API_KEY: key },
  });
  const error = await model.generateText({ prompt: "the secret plan" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "model-auth" });
  const shown = inspect(error, { depth: 10 });
  expect(shown).toContain("bad key");
  expect(shown).not.toContain(key);
  expect(shown).not.toContain("the secret plan");
});

describe("opening", () => {
  it.each([
    ["claude-haiku", "anthropic", "claude-haiku-5-5"],
    ["claude-opus-4-8", "anthropic", "claude-opus-4-8"],
    ["gpt-4o-mini", "openai", "gpt-4o-mini"],
    ["o4-mini", "openai", "o4-mini"],
    ["gemini-flash", "google", "gemini-flash-latest"],
    ["ollama/llama3", "ollama", "llama3"],
    ["ollama/hf.co/some/model:7b", "ollama", "hf.co/some/model:7b"],
    ["quick", "local", "llama3"],
  ])("resolves %s", (spec, provider, model) => {
    const opened = openLanguageModel(spec, {
      providers: { local: { baseUrl: "http://127.0.0.1:9/v1" } },
      models: { "local/llama3": { alias: "Quick" } },
      env: ENV,
    });
    expect(opened).toMatchObject({ provider, model });
  });

  it.each([
    { spec: "llama3", code: "model-unknown", hint: /provider\/model/ },
    { spec: "", code: "model-unknown", hint: /provider\/model/ },
    { spec: "/x", code: "model-unknown", hint: /provider\/model/ },
    { spec: "anthropic/", code: "model-unknown", hint: /provider\/model/ },
    { spec: "antropic/claude", code: "model-provider-unknown", hint: /Did you mean "anthropic"/ },
    { spec: "constructor/x", code: "model-provider-unknown", hint: /providers\.constructor\.baseUrl/ },
    { spec: "bare/x", code: "model-provider-address", hint: /providers\.bare\.baseUrl/ },
    { spec: "odd/x", code: "model-provider-address", hint: /https/ },
    { spec: "locked/x", code: "model-key-missing", hint: /NOT_SET/ },
  ])("refuses $spec with $code", ({ spec, code, hint }) => {
    const providers = {
      bare: {},
      odd: { baseUrl: "file:///etc" },
      locked: { baseUrl: "http://127.0.0.1:9", apiKeyEnv: "NOT_SET" },
    };
    const thrown = thrownBy(() => openLanguageModel(spec, { providers, env: ENV }));
    expect(thrown).toMatchObject({ code });
    expect((thrown as HoldfastError).hint).toMatch(hint);
  });

  it("names the variable of a missing key and never takes one from the process", () => {
    const thrown = thrownBy(() => openLanguageModel("gemini-flash", { providers: {}, env: { GEMINI_API_KEY: " " } }));
    expect(thrown).toMatchObject({ code: "model-key-missing", kind: "forbidden" });
    expect((thrown as HoldfastError).hint).toContain("GEMINI_API_KEY");
  });

  it("needs no key where none is configured", async () => {
    await using server = await startFakeModelServer(() => ({ text: "ok" }));
    const model = openLanguageModel("ollama/llama3", { providers: { ollama: { baseUrl: server.url } }, env: {} });
    expect((await model.generateText({ prompt: "x" })).text).toBe("ok");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  });

  it("reads the address from the variable of the provider's own tools", async () => {
    await using server = await startFakeModelServer(() => ({ text: "ok" }));
    const env = { ...ENV, ANTHROPIC_BASE_URL: server.url };
    expect((await openLanguageModel("claude-haiku", { providers: {}, env }).generateText({ prompt: "x" })).text).toBe(
      "ok",
    );
  });
});

function open(spec: string, server: FakeModelServer) {
  const at = { baseUrl: server.url };
  return openLanguageModel(spec, {
    providers: { anthropic: at, openai: at, google: at, local: { ...at, apiKeyEnv: "LOCAL_KEY" } },
    env: ENV,
  });
}

async function failure(spec: string, server: FakeModelServer, signal?: AbortSignal): Promise<string> {
  const request = { prompt: "x", signal };
  const thrown = await open(spec, server)
    .generateText(request)
    .catch((error: unknown) => error);
  return thrown instanceof HoldfastError ? thrown.code : `no HoldfastError: ${JSON.stringify(thrown)}`;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
