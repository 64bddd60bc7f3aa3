/** One session by its id or the start of it, wherever it is known from. */
import { HoldfastError } from "../../base/errors.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { type DiscoverOptions, discoverOne } from "./discover.ts";
import { readKnownSessions } from "./known-sessions.ts";

const MIN_PREFIX = 4;
const MAX_CANDIDATES = 10;

/** Throws when no session fits, or several do. */
export async function findDiscovered(idOrPrefix: string, options: DiscoverOptions): Promise<DiscoveredSession> {
  const prefix = idOrPrefix.trim().toLowerCase();
  if (prefix.length < MIN_PREFIX) throw tooShort(idOrPrefix);
  const { index } = options;
  const [known] = await Promise.all([
    readKnownSessions(options),
    options.refresh === false ? undefined : index.refresh(options.refresh),
  ]);
  const others = [...known.registered.keys(), ...known.running.keys(), ...known.archive.keys()];
  const fitting = new Set([
    ...index.findByPrefix(prefix, MAX_CANDIDATES + 1),
    ...others.filter((id) => id.toLowerCase().startsWith(prefix)),
  ]);
  const exact = [...fitting].filter((id) => id.toLowerCase() === prefix);
  const [id, second] = exact.length > 0 ? exact : fitting;
  if (id === undefined) throw notFound(idOrPrefix);
  if (second !== undefined) throw ambiguous(idOrPrefix, [...fitting]);
  return discoverOne(id, known, options);
}

function tooShort(prefix: string): HoldfastError {
  return new HoldfastError("usage", "prefix-too-short", `"${prefix}" is too short to name a session`, {
    hint: `Give the session id or at least its first ${MIN_PREFIX} characters.`,
  });
}

function notFound(prefix: string): HoldfastError {
  return new HoldfastError("not-found", "native-session-not-found", `No Claude Code session fits "${prefix}"`, {
    hint: "`holdfast cc list --all` shows every session.",
  });
}

function ambiguous(prefix: string, ids: readonly string[]): HoldfastError {
  const shown = ids.toSorted().slice(0, MAX_CANDIDATES);
  const more = ids.length > shown.length ? ", …" : "";
  return new HoldfastError(
    "usage",
    "ambiguous-prefix",
    `"${prefix}" fits several sessions: ${shown.join(", ")}${more}`,
    {
      hint: "Give more of the id.",
      data: { candidates: shown },
    },
  );
}
