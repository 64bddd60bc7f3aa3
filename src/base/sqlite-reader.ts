/** Looking at a database without changing anything, also when it is damaged. */
import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Without a log nothing but the file has to be looked at, and SQLite leaves no files of its own behind. */
export async function openReadOnly(path: string): Promise<DatabaseSync> {
  const url = pathToFileURL(path);
  const logSize = await stat(`${path}-wal`).then(
    ({ size }) => size,
    () => 0,
  );
  if (logSize === 0) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

/** Undefined when every page is in order, else SQLite's first complaint. */
export function quickCheck(database: DatabaseSync): string | undefined {
  const [first] = database.prepare("PRAGMA quick_check(1)").all();
  const answer = String(first?.["quick_check"]);
  return answer === "ok" ? undefined : answer;
}
