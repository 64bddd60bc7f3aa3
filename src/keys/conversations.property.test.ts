/** For arbitrary and for hostile text: one conversation, one key; two conversations, two keys. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { canonicalSessionKey } from "./canonical-key.ts";
import { foldCase, isCaseSensitiveChannel } from "./encoding.ts";
import { normalizeAccountId, normalizeAgentId, normalizeMainKey } from "./names.ts";
import {
  buildAgentMainSessionKey,
  buildAgentPeerSessionKey,
  parseAgentSessionKey,
  resolveThreadParentSessionKey,
  resolveThreadSessionKeys,
} from "./session-key.ts";

// Few words, so that accidental and hostile collisions are tried often.
const WORDS = ["dm", "direct", "group", "channel", "thread", "topic", "Thread", "unknown", "main", "subagent", "agent"];
const PARTS = [...WORDS, ":", ":", ":", "%", "%3a", "%64", "%25", "a", "B", "é", "Σ", "\0", "\ud800", " ", "🦀", ""];
const text = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }) },
);
const channel = fc.oneof(fc.constantFrom("telegram", "matrix", "signal", "Slack", "dm", "thread", "cron"), text);
const dmScope = fc.constantFrom("per-peer", "per-channel-peer", "per-account-channel-peer");
const peerKind = fc.constantFrom("dm", "group", "channel");
const LINKS = { alice: ["telegram:1", "b"], unknown: ["slack:2"], "a:thread": ["3"] };

const MAIN_KEYS = ["main", "home", "dm", "thread", "unknown", "subagent:x", "telegram:dm:5"];

const conversation = fc.record({
  agentId: fc.constantFrom("main", "thread", "Other"),
  mainKey: fc.constantFrom(...MAIN_KEYS),
  peer: fc.option(fc.record({ channel, accountId: text, peerKind, peerId: text, dmScope }), { nil: undefined }),
  threads: fc.array(
    text.filter((id) => id.trim() !== ""),
    { maxLength: 2 },
  ),
});
type Conversation = typeof conversation extends fc.Arbitrary<infer T> ? T : never;

describe("keys of conversations", () => {
  it("are shared exactly by the same conversation", () => {
    fc.assert(
      fc.property(fc.constantFrom(...MAIN_KEYS), fc.array(conversation, { maxLength: 12 }), (mainKey, values) => {
        // Adds conversations with ids made to imitate the keys of others.
        const all = values.flatMap((value) => [value, ...impostorsOf(value)]);
        const owners = new Map<string, string>();
        const keys = new Map<string, string>();
        for (const value of all) {
          const [key, identity] = [keyOf(value, mainKey), identityOf(value, mainKey)];
          expect(owners.get(key) ?? identity).toBe(identity);
          expect(keys.get(identity) ?? key).toBe(key);
          owners.set(key, identity);
          keys.set(identity, key);
        }
      }),
      { numRuns: 120 },
    );
  });

  it("are canonical as they are built", () => {
    fc.assert(
      fc.property(conversation, (value) => {
        const key = keyOf(value);
        expect(canonicalSessionKey(key, { agentId: "someone", mainKey: value.mainKey })).toBe(key);
      }),
      { numRuns: 5000 },
    );
  });

  it("survive build, parse and build unchanged", () => {
    fc.assert(
      fc.property(conversation, (value) => {
        const key = keyOf(value);
        const parsed = parseAgentSessionKey(key);
        expect(parsed?.agentId).toBe(normalizeAgentId(value.agentId));
        expect(`agent:${parsed?.agentId}:${parsed?.rest}`).toBe(key);
      }),
      { numRuns: 5000 },
    );
  });

  it("lead from a thread to exactly its parent conversation", () => {
    fc.assert(
      fc.property(
        conversation.filter(({ threads }) => threads.length > 0),
        (value) => {
          const parent = { ...value, threads: value.threads.slice(0, -1) };
          expect(resolveThreadParentSessionKey(keyOf(value))).toBe(keyOf(parent));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("never name a parent where there is no thread, unless a group id carries a topic", () => {
    const withoutTopic = conversation.filter(({ peer }) => !(peer?.peerId ?? "").toLowerCase().includes("topic"));
    fc.assert(
      fc.property(withoutTopic, (value) => {
        expect(resolveThreadParentSessionKey(keyOf({ ...value, threads: [] }))).toBeNull();
      }),
      { numRuns: 5000 },
    );
  });
});

describe("identity links", () => {
  it("give a linked person's key to no other person", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("telegram", "slack"), (peerId, channel) => {
        const keyFor = (peer: string, on: string) =>
          buildAgentPeerSessionKey({
            agentId: "main",
            channel: on,
            peerId: peer,
            dmScope: "per-peer",
            identityLinks: LINKS,
          });
        const people = { alice: keyFor("1", "telegram"), unknown: keyFor("2", "slack"), "a:thread": keyFor("3", "x") };
        const id = foldCase(peerId.trim());
        const owner = Object.entries(LINKS).find(
          ([, ids]) => ids.includes(id) || ids.includes(`${channel}:${id}`),
        )?.[0];
        const match = Object.entries(people).find(([, key]) => key === keyFor(peerId, channel))?.[0];
        expect(match).toBe(owner);
      }),
      {
        numRuns: 5000,
        examples: [
          ["alice", "slack"],
          ["unknown", "slack"],
          ["a:thread", "slack"],
          ["B", "slack"],
        ],
      },
    );
  });
});

describe("canonicalSessionKey", () => {
  it("is total and idempotent for any text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((rest) => `Agent:${rest}`),
        ),
        fc.constantFrom("main", "home", "dm"),
        (key, mainKey) => {
          const options = { agentId: "main", mainKey };
          const canonical = canonicalSessionKey(key, options);
          expect(canonicalSessionKey(canonical, options)).toBe(canonical);
          expect(canonical === "global" || parseAgentSessionKey(canonical) !== null).toBe(true);
          expect(canonical.isWellFormed()).toBe(true);
        },
      ),
      { numRuns: 5000 },
    );
  });
});

function keyOf({ agentId, peer, threads, ...value }: Conversation, mainKey = value.mainKey): string {
  const base =
    peer === undefined
      ? buildAgentMainSessionKey({ agentId, mainKey })
      : buildAgentPeerSessionKey({ agentId, mainKey, ...peer });
  return threads.reduce(
    (key, threadId) => resolveThreadSessionKeys({ baseSessionKey: key, threadId }).sessionKey,
    base,
  );
}

/** Reads a conversation's key, escaped and unescaped, in every way that its segments allow. */
function impostorsOf(value: Conversation): Conversation[] {
  const key = keyOf(value);
  const texts = [key, unescaped(key)].map((each) => each.split(":").slice(2));
  return texts.flatMap((segments) =>
    segments.flatMap((_, cut) => {
      const [channel = "", accountId = ""] = segments;
      const peerId = segments.slice(cut).join(":");
      const threads = segments.slice(cut + 2).join(":");
      const base = { channel, accountId, peerId };
      return [
        { ...value, threads: [], peer: { ...base, peerKind: "dm", dmScope: "per-peer" } },
        { ...value, threads: [], peer: { ...base, peerKind: "dm", dmScope: "per-channel-peer" } },
        { ...value, threads: [], peer: { ...base, peerKind: "dm", dmScope: "per-account-channel-peer" } },
        { ...value, threads: [], peer: { ...base, peerKind: "group", dmScope: "per-peer" } },
        { ...value, threads: [], peer: { ...base, peerKind: "channel", dmScope: "per-peer" } },
        { ...value, threads: threads.trim() === "" ? [] : [threads], peer: undefined },
        { ...value, threads: threads.trim() === "" ? [] : [threads] },
      ] as Conversation[];
    }),
  );
}

function unescaped(key: string): string {
  return key.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Identifies the conversation without the code under test, which joins and encodes. */
function identityOf({ agentId, peer, threads }: Conversation, mainKey: string): string {
  const on = peer === undefined ? undefined : foldCase(peer.channel.trim()) || "unknown";
  const namesChannel = on !== undefined && !(peer?.peerKind === "dm" && peer.dmScope === "per-peer");
  const keepsCase = namesChannel && isCaseSensitiveChannel(on);
  const who =
    peer === undefined
      ? ["main", normalizeMainKey(mainKey)]
      : peer.peerKind !== "dm"
        ? [on, peer.peerKind, fold(peer.peerId, keepsCase)]
        : [
            "dm",
            peer.dmScope,
            namesChannel ? on : "",
            peer.dmScope === "per-account-channel-peer" ? normalizeAccountId(peer.accountId) : "",
            fold(peer.peerId, false),
          ];
  return JSON.stringify([normalizeAgentId(agentId), who, threads.map((id) => fold(id, keepsCase))]);
}

function fold(id: string, keepsCase: boolean): string {
  return keepsCase ? id.trim() : foldCase(id.trim());
}
