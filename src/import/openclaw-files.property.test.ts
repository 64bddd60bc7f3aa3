/** An import of legacy files loses nothing: transcripts byte for byte, entries with every field, known or not. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { createOpenClawHome } from "../../test/support/openclaw-home.ts";
import { foldersOf } from "../../test/support/stores.ts";

const line = fc.oneof(
  fc.record({
    type: fc.constantFrom("message", "custom", "new_type"),
    id: fc.uuid(),
    parentId: fc.constant(null),
    x: fc.jsonValue(),
  }),
  fc.record({ type: fc.constant("user"), content: fc.string({ unit: anyCharacter }), timestamp: fc.nat() }),
);
const damage = fc.constantFrom("", "{torn", "\0\0", "not JSON\n", "\n");
const transcript = fc.record({ lines: fc.array(line, { maxLength: 8 }), damage, hasHeader: fc.boolean() });
const fieldName = fc.oneof(
  fc.constantFrom("label", "chatType", "responseUsage", "origin", "totalTokens", "queueDrop", "skillsSnapshot"),
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }).map((name) => `x${name}`),
);
const entry = fc.dictionary(fieldName, fc.jsonValue(), { maxKeys: 8 });
const session = fc.record({
  id: fc.uuid({ version: 4 }),
  entry,
  transcript,
  topic: fc.option(fc.string({ minLength: 1, maxLength: 5 })),
});

it.each(STORE_KINDS)(
  "with the store %s",
  async (store) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(session, { selector: ({ id }) => id, maxLength: 3, minLength: 1 }),
        async (sessions) => {
          await using openClaw = await createOpenClawHome({ store });
          const files = new Map<string, string>();
          const entries: Record<string, object> = {};
          for (const [index, { id, entry: fields, transcript: content, topic }] of sessions.entries()) {
            const name =
              topic === null ? `${id}.jsonl` : `${id}-topic-${encodeURIComponent(topic.toWellFormed())}.jsonl`;
            const header = content.hasHeader
              ? [{ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" }]
              : [];
            files.set(
              name,
              [...header, ...content.lines].map((one) => `${JSON.stringify(one)}\n`).join("") + content.damage,
            );
            entries[`agent:main:test:${index}`] = {
              ...fields,
              sessionId: id,
              updatedAt: 1000 + index,
              sessionFile: `/elsewhere/${name}`,
            };
          }
          await mkdir(openClaw.sessions, { recursive: true });
          for (const [name, text] of files) await writeFile(join(openClaw.sessions, name), text);
          await writeFile(join(openClaw.sessions, "sessions.json"), JSON.stringify(entries));
          expect((await openClaw.run()).ok).toBe(true);

          await using agent = await openClaw.open();
          for (const [key, original] of Object.entries(entries)) {
            const {
              openclaw = {},
              importedFrom: _,
              sessionFile,
              ...taken
            } = JSON.parse(JSON.stringify(await agent.store.get(key))) as Record<string, object>;
            const { sessionFile: _elsewhere, ...expected } = original as Record<string, unknown>;
            // Values that an entry of ours cannot hold are kept beside the others.
            expect({ ...taken, ...openclaw }).toEqual(JSON.parse(JSON.stringify(expected)));
            expect(sessionFile === undefined || JSON.stringify(sessionFile).includes(foldersOf(agent).sessions)).toBe(
              true,
            );
          }
          for (const [name, text] of files) {
            const copy = await readFile(join(foldersOf(agent).sessions, name), "utf8");
            expect(copy).toBe(text);
          }
          const { counts } = await openClaw.run();
          expect(Object.values(counts).every(({ taken }) => taken === 0)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  },
  60_000,
);
