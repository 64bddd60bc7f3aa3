/**
 * `sessions.json` as other tools expect it: a pretty-printed map of key to whole entry. Derived from
 * the store and never read back. Invariants:
 * - What is written is one state of the store, read under the file's lock. So of two processes the
 *   later one has the newer state, and an older state never replaces a newer one.
 * - Memory is bounded by the largest entry, not by the number of them.
 */
import { dirname } from "node:path";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, fileExists, writeFileDurable } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { newestChange, newestEntryChange } from "./change-rows.ts";
import { readContents, unpackEntry } from "./content-rows.ts";
import { type SqliteDatabase, connect } from "./database.ts";

/** Large enough to make few system calls, small enough not to hold up the event loop for long. */
const CHUNK_LENGTH = 256 * 1024;

/** Rewrites the view unless it shows the newest state already. */
export async function writeView(path: string, viewPath: string): Promise<void> {
  await ensurePrivateFolder(dirname(viewPath));
  await withFileLock(`${viewPath}.lock`, {}, async () => {
    // A connection of its own: the snapshot lasts as long as the writing, while others go on.
    const database = connect(path, VIEW_WRITER);
    try {
      if (isUpToDate(database) && (await fileExists(viewPath))) return;
      const seq = await database.longSnapshot(async () => {
        const newest = newestChange(database);
        await writeFileDurable(viewPath, viewChunks(database));
        return newest;
      });
      faultPoint("sqlite.view.written");
      database.transaction(() => database.run("UPDATE view_state SET seq = ?", seq));
    } finally {
      database.close();
    }
  });
}

const VIEW_WRITER = "view";

function isUpToDate(database: SqliteDatabase): boolean {
  const shown = database.get<{ seq: number }>("SELECT seq FROM view_state")?.seq ?? 0;
  return shown >= newestEntryChange(database);
}

function* viewChunks(database: SqliteDatabase): Generator<string> {
  let chunk = "{";
  let separator = "\n";
  for (const { key, entry } of database.iterate<{ key: string; entry: string }>(
    "SELECT key, json(entry) AS entry FROM entries ORDER BY key",
  )) {
    const whole = unpackEntry({ lean: entry, large: readContents(database, key) });
    chunk += `${separator}  ${JSON.stringify(key)}: ${indent(JSON.stringify(whole, null, 2))}`;
    separator = ",\n";
    if (chunk.length >= CHUNK_LENGTH) {
      yield chunk;
      chunk = "";
    }
  }
  faultPoint("sqlite.view.collected");
  yield `${chunk}${separator === "\n" ? "" : "\n"}}`;
}

/** No string of the JSON contains a line break, so every one belongs to the layout. */
function indent(json: string): string {
  return json.replaceAll("\n", "\n  ");
}
