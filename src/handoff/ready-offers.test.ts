/** The rendered hand-offs of a repo: written with every change of a state, and never trusted further than they deserve. */
import { appendFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { type HandoffHome, createHandoffHome } from "../../test/support/handoff-home.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../../test/support/native-home.ts";
import { nativeSessionKey } from "./handoff.ts";
import { type ReadyOffer, type ReadyPlace, readReadyOffers, readyFile } from "./ready-offers.ts";

const BLOCKED = "I'm blocked: the importer cannot connect, because the broker refuses our certificate.";
const KEY = nativeSessionKey("main", testSessionId("a"));

describe("the rendered hand-off of a repo", () => {
  it("is written with the capture, for the whole repo and only for it", async () => {
    await using place = await readyFixture();
    await place.capture("a", place.repo);
    const [offer] = place.offers();
    expect(offer).toMatchObject({ isSubstantial: true, state: { sessionKey: KEY, patterns: [] } });
    expect(offer?.text?.next).toContain(BLOCKED);
    expect(offer?.text?.next).toContain("What the last conversation of this session left");
    expect(offer?.text?.same).toContain("before it was shortened");
    expect(offer?.state.transcript.offset).toBe(statSync(place.transcripts.get("a") ?? "").size);
    const other = createTestRepo(place.native.join("other")).path;
    expect(readReadyOffers({ ...place.at, repo: other })).toEqual([]);
    expect(readReadyOffers({ ...place.at, agentId: "other" })).toEqual([]);
    expect(statSync(readyFile(place.at)).mode & 0o777).toBe(0o600);
  });

  it("has the newest sessions first, and sessions without a hand-off have no text", async () => {
    await using place = await readyFixture();
    await place.capture("a", place.repo);
    await place.capture("b", place.repo, "Thanks, bye!");
    expect(place.offers().map(({ state, text }) => [state.previousSessionId, text !== undefined])).toEqual([
      [testSessionId("b"), false],
      [testSessionId("a"), true],
    ]);
  });

  it("knows that it was offered, and that a person asked for it", async () => {
    await using place = await readyFixture();
    const state = await place.capture("a", place.repo);
    await place.home.handoff.markOffered({
      sessionKey: KEY,
      sessionId: testSessionId("b"),
      compactions: 0,
      state,
      text: "",
    });
    await place.home.handoff.settled();
    expect(place.offers()[0]?.state.resumeOfferedAt).toEqual(expect.any(String));
    await place.home.handoff.resume(KEY);
    await place.home.handoff.settled();
    expect(place.offers()[0]?.state.forced).toBe(true);
  });

  it("is written again by the next capture after it was deleted", async () => {
    await using place = await readyFixture();
    await place.capture("a", place.repo);
    writeFileSync(readyFile(place.at), "");
    expect(place.offers()).toEqual([]);
    await place.again("a");
    expect(place.offers()[0]?.text?.next).toContain(BLOCKED);
  });

  it("contains no cleared content, in any file", async () => {
    await using place = await readyFixture();
    await place.capture("a", place.repo);
    expect(await place.home.handoff.clear(KEY)).toBe(true);
    await place.home.handoff.settled();
    expect(place.offers().map(({ text }) => text)).toEqual([undefined]);
    const files = readdirSync(place.at.folder).filter((name) => name.endsWith(".json"));
    for (const name of files) expect(readFileSync(`${place.at.folder}/${name}`, "utf8")).not.toContain("broker");
  });

  it.each<[string, (text: string) => string]>([
    ["edited", (text) => text.replace("refuses our certificate", "wants you to run rm -rf")],
    ["cut", (text) => text.slice(0, -100)],
    ["empty", () => ""],
    ["another file's", (text) => text.replace(/^\w+/, "0".repeat(64))],
  ])("is not used if it is %s", async (_, change) => {
    await using place = await readyFixture();
    await place.capture("a", place.repo);
    writeFileSync(readyFile(place.at), change(readFileSync(readyFile(place.at), "utf8")));
    expect(place.offers()).toEqual([]);
  });

  it("is not written for conversations with people", async () => {
    await using place = await readyFixture();
    await place.home.open();
    await place.home.say(["Please fix the importer.", `<${BLOCKED}`]);
    await place.home.handoff.capture({ kind: "session", sessionKey: "agent:main:telegram:dm:1" }, "asked");
    await place.home.handoff.settled();
    expect(existsSync(place.at.folder)).toBe(false);
  });
});

interface ReadyFixture extends AsyncDisposable {
  native: NativeHome;
  home: HandoffHome;
  repo: string;
  at: ReadyPlace;
  transcripts: Map<string, string>;
  offers(): ReadyOffer[];
  capture(id: string, cwd: string, said?: string): Promise<NonNullable<Captured>>;
  again(id: string): Promise<void>;
}

type Captured = Awaited<ReturnType<HandoffHome["handoff"]["capture"]>>;

async function readyFixture(): Promise<ReadyFixture> {
  const native = await createNativeHome();
  const folder = native.join("offers");
  const home = await createHandoffHome("sqlite", { claudeHome: native.claudeHome, offersFolder: folder });
  const repo = createTestRepo(native.join("repo")).path;
  const at = { folder, agentId: "main", repo };
  const transcripts = new Map<string, string>();
  const captured = async (id: string, reason: "ended" | "found"): Promise<Captured> => {
    const sessionId = testSessionId(id);
    const target = { kind: "native", sessionId, transcriptPath: transcripts.get(id) ?? "", cwd: repo } as const;
    const state = await home.handoff.capture(target, reason);
    await home.handoff.settled();
    return state;
  };
  return {
    native,
    home,
    repo,
    at,
    transcripts,
    offers: () => readReadyOffers(at),
    async capture(id, cwd, said = BLOCKED) {
      const path = native.session({ id, cwds: [cwd], prompts: ["Hello."] });
      const timestamp = new Date(home.agent.clock.now() + id.charCodeAt(0)).toISOString();
      const message = { role: "user", content: said };
      const line = { type: "user", uuid: `${id}-said`, timestamp, sessionId: testSessionId(id), cwd, message };
      appendFileSync(path, `${JSON.stringify(line)}\n`);
      transcripts.set(id, path);
      return (await captured(id, "ended")) as NonNullable<Captured>;
    },
    again: async (id) => void (await captured(id, "found")),
    [Symbol.asyncDispose]: async () => {
      await home[Symbol.asyncDispose]();
      await native[Symbol.asyncDispose]();
    },
  };
}
