import { describe, expect, it } from "vitest";
import { LISTED_FIELDS } from "../../src/store/store-rules.ts";
import type { ListQuery, Store } from "../../src/store/store.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

const GROUP = "agent:main:telegram:group:42";
const PEER = "agent:main:whatsapp:dm:49170";

async function fill(store: Store): Promise<void> {
  await put(store, "main", entry("s-main", { updatedAt: 3_000, label: "Haus & Garten", lastChannel: "whatsapp" }));
  await put(
    store,
    GROUP,
    entry("s-group", {
      updatedAt: 2_000,
      channel: "telegram",
      chatType: "group",
      subject: "Träume 100%",
      groupId: "42",
    }),
  );
  await put(store, PEER, entry("s-peer", { updatedAt: 1_000, channel: "whatsapp", displayName: "Anna_Blume" }));
  await put(store, "global", entry("s-global", { updatedAt: 4_000 }));
}

const ids = async (store: Store, query?: ListQuery) =>
  (await store.list(query)).sessions.map((session) => session.entry.sessionId);

export function describeListing(makeStore: MakeStore): void {
  describe("list", () => {
    it("is newest first, or by key", async () => {
      await using fixture = await makeStore();
      await fill(fixture.store);
      expect(await ids(fixture.store)).toEqual(["s-global", "s-main", "s-group", "s-peer"]);
      expect(await ids(fixture.store, { sort: "updatedAt" })).toEqual(["s-global", "s-main", "s-group", "s-peer"]);
      expect(await ids(fixture.store, { sort: "key" })).toEqual(["s-main", "s-group", "s-peer", "s-global"]);
    });

    it("leaves out kinds, and finds what a session spawned", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      await put(store, "subagent:1", entry("s-child", { updatedAt: 500, spawnedBy: GROUP }));
      expect(await ids(store, { exceptKinds: ["global", "group"] })).toEqual(["s-main", "s-peer", "s-child"]);
      expect(await ids(store, { spawnedBy: GROUP, limit: 5 })).toEqual(["s-child"]);
      expect(await store.list({ spawnedBy: PEER, limit: 5 })).toEqual({ sessions: [], total: 0 });
    });

    it("returns the same rows as text, filtered and paged alike", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      await put(
        store,
        "main",
        entry("s-main", { updatedAt: 3_000, label: "L", totalTokens: 7, execHost: "not shown" }),
      );
      fixture.clock.set(5_000);
      const queries: ListQuery[] = [{}, { sort: "key", limit: 2, offset: 1 }, { kind: "direct" }, { text: "none" }];
      for (const query of queries) {
        const { json, count, total } = await store.listJson(query);
        const expected = await store.list({ ...query, fields: LISTED_FIELDS });
        expect({ count, total }).toEqual({ count: expected.sessions.length, total: expected.total });
        expect(JSON.parse(Buffer.from(json).toString())).toEqual(
          expected.sessions.map(({ key, kind, entry: { updatedAt, ...shown } }) => {
            return { key, kind, ageMs: Math.max(0, 5_000 - updatedAt), updatedAt, ...shown };
          }),
        );
      }
      const { json } = await store.listJson({ label: "L" });
      expect(JSON.parse(Buffer.from(json).toString())).toEqual([
        {
          key: "agent:main:main",
          kind: "direct",
          ageMs: 2_000,
          sessionId: "s-main",
          updatedAt: 3_000,
          label: "L",
          totalTokens: 7,
        },
      ]);
    });

    it("filters by activity, kind, channel and label, alone and combined", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      expect(await ids(store, { activeSince: 2_000 })).toEqual(["s-global", "s-main", "s-group"]);
      expect(await ids(store, { activeSince: 4_001 })).toEqual([]);
      expect(await ids(store, { kind: "group" })).toEqual(["s-group"]);
      expect(await ids(store, { kind: "global" })).toEqual(["s-global"]);
      expect(await ids(store, { kind: "direct" })).toEqual(["s-main", "s-peer"]);
      expect(await ids(store, { channel: "telegram" })).toEqual(["s-group"]);
      expect(await ids(store, { channel: "whatsapp" })).toEqual(["s-main", "s-peer"]);
      expect(await ids(store, { label: "Haus & Garten" })).toEqual(["s-main"]);
      expect(await ids(store, { label: "Haus" })).toEqual([]);
      expect(await ids(store, { channel: "whatsapp", activeSince: 2_000, text: "haus" })).toEqual(["s-main"]);
    });

    it("finds text by all words, in any case, without patterns", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      expect(await ids(store, { text: "garten HAUS" })).toEqual(["s-main"]);
      expect(await ids(store, { text: "TRÄUME" })).toEqual(["s-group"]);
      expect(await ids(store, { text: "telegram group" })).toEqual(["s-group"]);
      expect(await ids(store, { text: "100%" })).toEqual(["s-group"]);
      expect(await ids(store, { text: "1%" })).toEqual([]);
      expect(await ids(store, { text: "a_blume" })).toEqual(["s-peer"]);
      expect(await ids(store, { text: "n_blume" })).toEqual([]);
      expect(await ids(store, { text: "\\" })).toEqual([]);
      expect(await ids(store, { text: "haus telegram" })).toEqual([]);
      expect((await store.list({ text: "  " })).total).toBe(4);
    });

    it("pages, with the total", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      const page = await store.list({ limit: 2, offset: 1 });
      expect(page.sessions.map((session) => session.entry.sessionId)).toEqual(["s-main", "s-group"]);
      expect(page.total).toBe(4);
      expect(await store.list({ limit: 0 })).toEqual({ sessions: [], total: 4 });
      expect(await store.list({ offset: 10 })).toEqual({ sessions: [], total: 4 });
      expect((await store.list({ kind: "direct", limit: 1 })).total).toBe(2);
      expect(await refusal(store.list({ limit: -1 }))).toEqual({ kind: "usage", code: "invalid-query" });
      expect(await refusal(store.list({ offset: 0.5 }))).toEqual({ kind: "usage", code: "invalid-query" });
    });

    it("pages without gaps or repeats when many were updated at the same time", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await Promise.all(Array.from({ length: 25 }, (_, index) => put(store, `k${index}`, entry(`s-${index}`))));
      const seen: string[] = [];
      for (let offset = 0; offset < 25; offset += 10) seen.push(...(await ids(store, { limit: 10, offset })));
      expect(new Set(seen).size).toBe(25);
    });

    it("returns only the requested fields, including large ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const lastHeartbeatText = "x".repeat(4_000);
      await put(store, "main", entry("s-1", { model: "m", label: "l", lastHeartbeatText }));
      const fieldsOf = async (fields: ListQuery["fields"]) =>
        (await store.list(fields && { fields })).sessions[0]?.entry;
      expect(await fieldsOf([])).toEqual(entry("s-1"));
      expect(await fieldsOf(["model"])).toEqual(entry("s-1", { model: "m" }));
      expect(await fieldsOf(["lastHeartbeatText", "subject"])).toEqual(entry("s-1", { lastHeartbeatText }));
      expect(await fieldsOf(undefined)).toEqual(entry("s-1", { model: "m", label: "l", lastHeartbeatText }));
    });

    it("follows changes of sorted and filtered fields", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await fill(store);
      await store.update(
        PEER,
        (current) => current && { ...current, updatedAt: 9_000, label: "Neu", channel: "signal" },
      );
      expect(await ids(store, { limit: 1 })).toEqual(["s-peer"]);
      expect(await ids(store, { channel: "signal" })).toEqual(["s-peer"]);
      expect(await ids(store, { channel: "whatsapp" })).toEqual(["s-main"]);
      expect(await ids(store, { label: "Neu" })).toEqual(["s-peer"]);
      await store.delete(PEER);
      expect(await ids(store, { text: "neu" })).toEqual([]);
    });
  });
}
