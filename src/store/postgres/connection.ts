/**
 * The connections of one process to its database. Every statement is a transaction of its own, so a paused process
 * never holds one open, and a transaction pooler may be in between.
 *
 * PostgreSQL's text cannot contain NUL, and half a surrogate pair is not UTF-8. Texts are therefore escaped on their way
 * in and restored on their way out.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type ClientConfig, Pool, type PoolClient, types } from "pg";
import { TOO_LATE, within } from "../../base/async.ts";
import type { ClusterMetrics } from "../cluster.ts";
import {
  invalidUrl,
  isConflict,
  isConnectionLost,
  noPasswordFile,
  noRootCertificate,
  outcomeUnknown,
  storeError,
  unknownTlsMode,
  unreadableCertificate,
} from "./postgres-errors.ts";

export interface PostgresSettings {
  url: string;
  /** Without a pooler. Default: `url`. */
  directUrl?: string | undefined;
  /** Contains the password. Default: the one in the URL. */
  passwordFile?: string | undefined;
  /** Default: 8. */
  poolSize?: number | undefined;
}

/** Columns of type `json` are cast by their readers. */
export type Row = Record<string, string | number | boolean | Buffer | null>;

/** `json` is sent as JSON, with its strings escaped like other texts. */
export type Value = string | number | boolean | Uint8Array | readonly number[] | { json: unknown } | null | undefined;

export interface QueryOptions {
  /** True if a repetition is harmless, as for reads. Default: false. */
  isRepeatable?: boolean | undefined;
  /** Called when the statement was sent and its answer lost. Optional. */
  onLost?: (() => void) | undefined;
  /** False for a statement that its caller repeats soon anyway. Default: true. */
  isRetried?: boolean | undefined;
  /** How long one attempt may take. Default: 10 s, much longer than any statement takes. */
  answerMs?: number | undefined;
}

export type Connection = Awaited<ReturnType<typeof openConnection>>;

const POOL_SIZE = 8;
const CONNECT_MS = 5000;
const ANSWER_MS = 10_000;
const LOOK_MS = 500;
/** After so long without any answer, statements fail at once instead of being repeated. */
const OUTAGE_MS = 4000;
/** Then a statement waits so long at most. */
const OUTAGE_ANSWER_MS = 3000;
/** Waits between attempts; a server restarts within them. */
const RETRY_DELAYS_MS = [20, 50, 100, 200, 400, 800, 1600];

export async function openConnection(settings: PostgresSettings) {
  const location = shownUrl(settings.url, "store.url");
  const pooled = await clientConfig(settings.url, "store.url", settings.passwordFile);
  const direct =
    settings.directUrl === undefined
      ? pooled
      : await clientConfig(settings.directUrl, "store.directUrl", settings.passwordFile);
  const pool = new Pool({
    ...pooled,
    max: settings.poolSize ?? POOL_SIZE,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced by the next query.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));

  /** Runs a task on one connection, which is closed if the task breaks it. */
  const withClient = async <T>(task: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await task(client);
    } catch (error) {
      if (isConnectionLost(error)) broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  };
  /** By the monotonic clock. Beats fail and succeed several times a second, so it is never far from the truth. */
  let lostSince: number | undefined;
  const isOut = (): boolean => lostSince !== undefined && performance.now() - lostSince > OUTAGE_MS;
  /** Waits for an answer, and no longer when other statements have shown that the database is gone. */
  const patiently = async <T>(ms: number, answering: Promise<T>): Promise<T | typeof TOO_LATE> => {
    const wasOut = isOut();
    for (let left = ms; ; left -= LOOK_MS) {
      const answer = await within(Math.min(left, LOOK_MS), answering);
      if (answer !== TOO_LATE || left <= LOOK_MS || (isOut() && !wasOut)) return answer;
    }
  };
  const attempt = async (
    sql: string,
    values: unknown[],
    answerMs: number,
  ): Promise<{ rows: Row[] } | { failed: unknown; sent: boolean }> => {
    let sent = false;
    try {
      const rows = await withClient(async (client) => {
        sent = true;
        const answer = await patiently(answerMs, client.query<Row>(sql, values));
        if (answer === TOO_LATE) throw Object.assign(new Error("no answer in time"), { code: "HF-TIMEOUT" });
        return answer.rows;
      });
      return { rows };
    } catch (failed) {
      return { failed, sent };
    }
  };

  return {
    location,
    direct,
    withClient,
    query: async (
      sql: string,
      values: readonly Value[],
      { isRepeatable = false, isRetried = true, answerMs = ANSWER_MS, onLost }: QueryOptions = {},
    ): Promise<Row[]> => {
      const sent = values.map(toParameter);
      for (let tries = 0; ; tries++) {
        const answer = await attempt(sql, sent, isOut() ? Math.min(answerMs, OUTAGE_ANSWER_MS) : answerMs);
        if ("rows" in answer) {
          lostSince = undefined;
          return answer.rows;
        }
        const { failed } = answer;
        const isLost = isConnectionLost(failed);
        if (isLost && answer.sent) onLost?.();
        lostSince = isLost ? (lostSince ?? performance.now()) : undefined;
        if (isLost && answer.sent && !isRepeatable) throw outcomeUnknown(location, failed);
        const wait = RETRY_DELAYS_MS[tries];
        if (wait === undefined || !isRetried || isOut() || !(isLost || isConflict(failed)))
          throw storeError(failed, location);
        await delay(wait * (0.5 + Math.random()));
      }
    },
    metrics: (): ClusterMetrics => ({
      connections: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
      unreachableMs: isOut() && lostSince !== undefined ? Math.round(performance.now() - lostSince) : undefined,
    }),
    close: async (): Promise<void> => await pool.end(),
  };
}

/** The URL for people and logs: without its password. */
export function shownUrl(url: string, setting: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    // The reason would repeat the password.
    throw invalidUrl(setting, undefined);
  }
}

async function clientConfig(url: string, setting: string, passwordFile: string | undefined): Promise<ClientConfig> {
  shownUrl(url, setting);
  const complete = new URL(url);
  await prepareTls(complete, setting);
  // `pg` prefers the parts of the URL to other options.
  if (passwordFile !== undefined) complete.password = encodeURIComponent(await readPassword(passwordFile));
  return {
    connectionString: complete.href,
    application_name: "holdfast",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 2000,
    types: { getTypeParser: typeParser },
  };
}

async function readPassword(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trimEnd();
  } catch (error) {
    throw noPasswordFile(path, error);
  }
}

const TLS_MODES = ["disable", "require", "verify-ca", "verify-full"];

/** The modes mean what they mean to `psql`. `pg` would read the files later, without saying which setting is wrong. */
async function prepareTls({ searchParams }: URL, setting: string): Promise<void> {
  const mode = searchParams.get("sslmode");
  const root = searchParams.get("sslrootcert");
  if (mode === null && root === null) return;
  if (mode === null || !TLS_MODES.includes(mode)) throw unknownTlsMode(setting, mode, TLS_MODES);
  if (mode === "verify-ca" && root === null) throw noRootCertificate(setting);
  searchParams.set("uselibpqcompat", "true");
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const file = searchParams.get(name);
    if (file === null) continue;
    await readFile(file).catch((error: unknown) => {
      throw unreadableCertificate(setting, name, file, error);
    });
  }
}

const INT8 = 20;
const TEXT = 25;
const JSON_TYPE = 114;

const typeParser = ((type: number, format: "text" | "binary") => {
  if (type === INT8) return Number;
  if (type === TEXT) return fromText;
  if (type === JSON_TYPE) return fromJson;
  return types.getTypeParser(type, format);
}) as typeof types.getTypeParser;

/** Begins an escape. No character, and allowed in UTF-8. */
const ESCAPE = "\uFFFF";

function toParameter(value: Value): unknown {
  if (typeof value === "string") return toText(value);
  if (typeof value !== "object" || value === null || !("json" in value)) return value;
  return JSON.stringify(value.json, (_name, inner: unknown) => (typeof inner === "string" ? toText(inner) : inner));
}

function toText(text: string): string {
  return text.toWellFormed().replace(/[\0\uFFFF]/g, (found) => `${ESCAPE}${found === "\0" ? "0" : "1"}`);
}

function fromText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(/\uFFFF([01])/g, (_escape, which) => (which === "0" ? "\0" : ESCAPE));
}

function fromJson(text: string): unknown {
  if (!text.includes(ESCAPE)) return JSON.parse(text);
  return JSON.parse(text, (_name, inner: unknown) => (typeof inner === "string" ? fromText(inner) : inner));
}
