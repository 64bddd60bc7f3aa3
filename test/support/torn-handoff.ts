/** Damage that no Holdfast does: the text of a kept hand-off, changed in the file of the store `sqlite`. */
import { DatabaseSync } from "node:sqlite";

/** `tear` makes the damaged text; left out: the first half is all that is left. */
export function tearHandoff(databasePath: string, key: string, tear = firstHalf): string {
  using database = new DatabaseSync(databasePath);
  const row = database.prepare("SELECT state FROM handoffs WHERE key = ?").get(key);
  if (row === undefined) throw new Error(`${key} has no hand-off`);
  const torn = tear(String(row["state"]));
  database.prepare("UPDATE handoffs SET state = ? WHERE key = ?").run(torn, key);
  return torn;
}

function firstHalf(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}
