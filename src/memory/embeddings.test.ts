/** Search by meaning with embedding models, over the real AI SDK, against a server that speaks their protocols. */
import { expect, it } from "vitest";
import {
  type FakeModelReply,
  type FakeModelRequest,
  startFakeModelServer,
} from "../../test/support/fake-model-server.ts";
import { type SearchHome, answer, createSearchHome, prompt } from "../../test/support/search-home.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openEmbeddingModel } from "../models/embedding-model.ts";
import { type SearchIndex, createSearchIndex } from "./search-index.ts";

const ENV = { OPENAI_API_KEY: "key-o", GEMINI_API_KEY: "key-g" };
const FLOODED = id(0);
/** The words that decide a number of the vector. */
const MATTERS = [/flood|throttle|noisy/, /tomato|vegetable/, /./];

it.each([
  { spec: "openai/text-embedding-3-small", tokens: 700, costUsd: 0.000_014 },
  { spec: "google/gemini-embedding-001", tokens: 0, costUsd: 0 },
  { spec: "ollama/nomic-embed-text", tokens: 700, costUsd: 0 },
])("finds a paraphrase with $spec, and counts what it cost", async ({ spec, tokens, costUsd }) => {
  await using home = await homeWith(3);
  await using server = await startFakeModelServer(embed);
  using index = await open(home, spec, server.url);
  expect(await index.encode({ budgetMs: 10_000 })).toEqual({ encoder: spec, sessions: 3, pending: 0, tokens, costUsd });
  const found = await index.ask({ text: "throttle noisy clients", person: true });
  expect(found.matched).toBe("meaning");
  expect(found.sessions[0]?.sessionId).toBe(FLOODED);
  expect(server.requests).toHaveLength(2);
  // Nothing is encoded twice.
  await index.encode({ budgetMs: 10_000 });
  expect(server.requests).toHaveLength(2);
});

it("sends batches, waits as long as the provider asks, and continues after a failure", async () => {
  await using home = await homeWith(100);
  let replies = 0;
  await using server = await startFakeModelServer((request) => {
    replies += 1;
    if (replies === 1) return { status: 429, headers: { "retry-after": "17" }, body: "{}" };
    return replies === 3 ? { status: 401, body: "{}" } : embed(request);
  });
  const pauses: number[] = [];
  const clock = { now: () => Date.now(), sleep: async (ms: number) => void (await Promise.resolve(pauses.push(ms))) };
  using index = await open(home, "openai/text-embedding-3-small", server.url, clock);
  await expect(index.encode({ budgetMs: 60_000 })).rejects.toMatchObject({ code: "model-auth" });
  expect(pauses).toEqual([17_000]);
  expect(await index.encode({ budgetMs: 60_000 })).toMatchObject({ sessions: 100, pending: 0 });
  expect(server.requests.map(({ body }) => (body["input"] as string[]).length)).toEqual([64, 64, 36, 36]);
});

it("searches by words while the provider cannot be reached", async () => {
  await using home = await homeWith(3);
  const server = await startFakeModelServer(() => ({ silent: true }));
  await server[Symbol.asyncDispose]();
  using index = await open(home, "openai/text-embedding-3-small", server.url);
  const { sessions } = await index.ask({ text: "floods throttle noisy clients", person: true });
  expect(sessions[0]?.sessionId).toBe(FLOODED);
});

/** Only the first session is about floods. */
async function homeWith(count: number): Promise<SearchHome> {
  const home = await createSearchHome();
  for (let number = 0; number < count; number += 1) {
    const said = number === 0 ? "one customer floods us with requests" : `tomato bed ${number} needs water`;
    await home.native("/repos/shop", id(number), [prompt("/repos/shop", said), answer("/repos/shop", "Done.")]);
  }
  return home;
}

function id(number: number): string {
  return `44444444-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

async function open(
  home: SearchHome,
  spec: string,
  baseUrl: string,
  clock = systemClock,
): Promise<SearchIndex & Disposable> {
  const providers = { openai: { baseUrl }, google: { baseUrl }, ollama: { baseUrl } };
  const encoder = openEmbeddingModel(spec, { providers, env: ENV, clock });
  const index = await createSearchIndex({ path: home.indexPath, clock: systemClock, logger: silentLogger, encoder });
  await index.refresh({ sources: home.sources() });
  return { ...index, [Symbol.dispose]: () => index.close() };
}

function embed({ path, body }: FakeModelRequest): FakeModelReply {
  if (path.endsWith(":batchEmbedContents") || path.endsWith(":embedContent")) {
    const requests = (body["requests"] ?? [body]) as { content: { parts: { text: string }[] } }[];
    const values = vectors(requests.map(({ content }) => content.parts[0]?.text ?? "")).map((each) => ({
      values: each,
    }));
    return json(path.endsWith("s") ? { embeddings: values } : { embedding: values[0] });
  }
  const data = vectors(body["input"] as string[]).map((embedding, index) => ({
    object: "embedding",
    index,
    embedding,
  }));
  return json({ object: "list", model: "fake", data, usage: { prompt_tokens: 700, total_tokens: 700 } });
}

function vectors(texts: readonly string[]): number[][] {
  return texts.map((text) => MATTERS.map((matter) => Number(matter.test(text.toLowerCase()))));
}

function json(value: unknown): FakeModelReply {
  return { status: 200, body: JSON.stringify(value) };
}
