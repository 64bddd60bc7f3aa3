/**
 * `sessions.json` as other tools expect it: a pretty-printed map of keys to entries. Derived from the store and never
 * read back. Invariants:
 * - It is one state of the store, read under the file's lock, so an older state never replaces a newer one.
 * - Memory is bounded by the largest entry, not by the number of entries.
 */
import { dirname } from "node:path";
import { closing } from "../../base/async.ts";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, fileExists, writeFileDurable } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { newestChange, newestEntryChange, shownByView } from "./changes.ts";
import { type SqliteDatabase, connect } from "./database.ts";
import { readContents, unpackEntry } from "./entry-rows.ts";

/** Large enough for few system calls, small enough not to block the event loop. */
const CHUNK_LENGTH = 256 * 1024;

/**
 * Rewrites the view, unless it is up to date. Resolves to the state that it shows. The caller marks that state: this
 * function only reads, so it never waits for a writer.
 */
export async function writeView(path: string, viewPath: string): Promise<number | undefined> {
  await ensurePrivateFolder(dirname(viewPath));
  return await withFileLock(`${viewPath}.lock`, {}, async () => {
    // A separate connection, because the snapshot lasts as long as the writing.
    const database = connect(path, VIEW_WRITER);
    await using _closing = closing(database);
    const isUpToDate = shownByView(database) >= newestEntryChange(database);
    if (isUpToDate && (await fileExists(viewPath))) return undefined;
    const shown = await database.longSnapshot(async () => {
      const newest = newestChange(database);
      await writeFileDurable(viewPath, viewChunks(database));
      return newest;
    });
    faultPoint("sqlite.view.written");
    return shown;
  });
}

const VIEW_WRITER = "view";

function* viewChunks(database: SqliteDatabase): Generator<string> {
  let chunk = "{";
  let separator = "\n";
  for (const { key, entry } of database.iterate<{ key: string; entry: string }>(
    "SELECT key, json(entry) AS entry FROM entries ORDER BY key",
  )) {
    const whole = unpackEntry({ lean: entry, large: readContents(database, key) });
    // JSON strings contain no line break, so every line break is layout.
    chunk += `${separator}  ${JSON.stringify(key)}: ${JSON.stringify(whole, null, 2).replaceAll("\n", "\n  ")}`;
    separator = ",\n";
    if (chunk.length >= CHUNK_LENGTH) {
      yield chunk;
      chunk = "";
    }
  }
  faultPoint("sqlite.view.collected");
  yield `${chunk}${separator === "\n" ? "" : "\n"}}`;
}
