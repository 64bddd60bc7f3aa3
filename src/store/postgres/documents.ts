/** Documents as rows, by agent and folder. */
import { basename } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { fileStamp } from "../../base/clock.ts";
import type { Documents } from "../documents.ts";
import type { PostgresNode } from "./node.ts";

export interface PostgresDocumentsOptions {
  node: Pick<PostgresNode, "query">;
  /** Empty for documents of no agent. */
  agentId: string;
  folder: string;
  clock: Clock;
}

export function createPostgresDocuments({ node, agentId, folder, clock }: PostgresDocumentsOptions): Documents {
  const query = async (sql: string, ...values: readonly (string | number | undefined)[]) =>
    await node.query(sql, [agentId, folder, ...values], { isRepeatable: true });
  const find = async (name: string) => {
    const sql = "SELECT text, version FROM holdfast.documents WHERE agent = $1 AND folder = $2 AND name = $3";
    const [row] = await query(sql, basename(name));
    return row && { text: String(row["text"]), version: Number(row["version"]) };
  };
  const put = async (name: string, version: number | undefined, text: string): Promise<boolean> => {
    const sql = "SELECT holdfast.put_document($1, $2, $3, $4, $5) AS done";
    const [row] = await node.query(sql, [agentId, folder, basename(name), version, text]);
    return row?.["done"] === true;
  };

  return {
    async names() {
      const sql = "SELECT name FROM holdfast.documents WHERE agent = $1 AND folder = $2 ORDER BY name";
      return (await query(sql)).map(({ name }) => String(name)).filter((name) => name.endsWith(".json"));
    },
    read: async (name) => (await find(name))?.text,
    async write(name, text) {
      const sql = `INSERT INTO holdfast.documents (agent, folder, name, text) VALUES ($1, $2, $3, $4)
        ON CONFLICT (agent, folder, name) DO UPDATE SET text = EXCLUDED.text, version = nextval('holdfast.versions')`;
      await query(sql, basename(name), text);
    },
    add: async (name, text) => await put(name, undefined, text),
    async update(name, edit) {
      for (;;) {
        const found = await find(name);
        const { value, text } = edit(found?.text);
        if (text === undefined || (await put(name, found?.version, text))) return value;
      }
    },
    async remove(name) {
      await query("DELETE FROM holdfast.documents WHERE agent = $1 AND folder = $2 AND name = $3", basename(name));
    },
    async setAside(name, word) {
      const sql = "UPDATE holdfast.documents SET name = $4 WHERE agent = $1 AND folder = $2 AND name = $3";
      await query(sql, basename(name), `${basename(name)}.${word}-${fileStamp(clock.now())}`);
    },
    locationOf: (name) => `${folder}/${basename(name)} in the database`,
  };
}
