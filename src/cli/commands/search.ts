/** `holdfast search`: sessions and memory files with these words, best first, with their best passages. */
import { resolve } from "node:path";
import { silentLogger } from "../../base/log.ts";
import { shortId } from "../../base/ids.ts";
import { printableLine } from "../../base/text.ts";
import { type PersonSearch, openPersonSearch } from "../../compose/search.ts";
import type { FoundPassage, FoundSession, PersonQuery, PersonResult } from "../../memory/person-search.ts";
import type { RefreshReport } from "../../memory/refresh.ts";
import { assertAgentId, loadSetup } from "../context.ts";
import { formatAge, plural, printHeading, printJson, printStyled, style, talk } from "../output.ts";
import { progressLine, shortPath } from "./cc/claude-side.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { type Flags, type Texts, parseSince } from "../command.ts";

type SearchOptions = Flags<"json"> &
  Texts<"repo" | "agent" | "since" | "file"> &
  Pick<PersonQuery, "in" | "role" | "limit">;

export async function search(words: readonly string[], options: SearchOptions): Promise<void> {
  assertAgentId(options.agent);
  const query = toQuery(words, options);
  const setup = await loadSetup();
  const logger = setup.config.log.level === "debug" ? undefined : silentLogger;
  const opened = await openPersonSearch({ ...setup, logger });
  try {
    const { files } = await bringUpToDate(opened);
    if (setup.config.search.embeddings !== undefined) await encodeSessions(opened);
    const result = await opened.query(query);
    if (options.json === true) printJson(result);
    else printResult(result, options, files);
  } finally {
    opened.close();
  }
}

function toQuery(words: readonly string[], options: SearchOptions): PersonQuery {
  // The shell has removed the quotes of a phrase.
  const text = words.map((word) => (/\s/.test(word) && !word.includes('"') && words.length > 1 ? `"${word}"` : word));
  if (text.join("").trim() === "") {
    throw new HoldfastError("usage", "empty-query", "No words to search for", {
      hint: "For example: holdfast search retry queue",
    });
  }
  return {
    text: text.join(" "),
    in: options.in,
    repo: options.repo === undefined ? undefined : resolve(options.repo),
    agentId: options.agent,
    since: options.since === undefined ? undefined : parseSince("--since", options.since, Date.now()),
    role: options.role,
    file: options.file,
    limit: options.limit,
  };
}

const REFRESH_MS = 150;

/** Changes since the last search are read at once. The first index is built to its end. */
async function bringUpToDate(opened: PersonSearch): Promise<RefreshReport> {
  const first = await opened.refresh({ budgetMs: REFRESH_MS });
  const isFirst = (first.filesRead + first.pendingFiles) * 2 > first.files;
  if (first.complete || !isFirst) return first;
  using progress = progressLine();
  return await opened.refresh(progress.refresh);
}

const ENCODING_MS = 5000;

/** A running gateway does it in the background. */
async function encodeSessions({ index }: PersonSearch): Promise<void> {
  try {
    const { encoder, sessions, pending, tokens, costUsd } = await index.encode({ budgetMs: ENCODING_MS });
    if (pending === 0) return;
    const spent = `${plural(tokens, "token")}${costUsd === 0 ? "" : `, $${costUsd.toFixed(4)}`}`;
    talk(`${encoder}: ${sessions} sessions encoded (${spent} so far), ${pending} left. Search again for more.`);
  } catch (error) {
    talk(`Searching by words only: ${errorMessage(error)}`);
  }
}

function printResult(result: PersonResult, options: SearchOptions, files: number): void {
  for (const found of result.results) printFound(found);
  if (result.results.length === 0) {
    printStyled(`Nothing found in ${placesText(options)} (${plural(files, "file")} searched).`);
    printStyled(style("dim", widenText(options)));
  } else if (result.total > result.results.length) {
    printStyled(style("dim", `${result.total - result.results.length} more; --limit ${result.total} shows all.`));
  }
  if (result.note !== undefined && result.matched !== "none") talk(result.note);
  else if (!result.complete) talk(`${plural(result.pendingFiles, "file")} not searchable yet. Search again for more.`);
}

function printFound(found: FoundSession): void {
  const { title, at, repo, branch, archived } = found;
  const age = at === undefined ? "" : formatAge(Math.max(0, Date.now() - Date.parse(at)));
  const facts = [originText(found), age, repo && shortPath(repo), branch, archived && "archived"];
  printHeading(title === "" ? "(no title)" : title, facts);
  for (const passage of found.passages) printStyled(`  ${speaker(passage)}${marked(passage.text)}`);
  printStyled(style("cyan", `  ${openText(found)}`));
  printStyled("");
}

function originText({ in: place, agentId }: FoundSession): string {
  if (place === "memory") return `memory of ${agentId ?? "an agent"}`;
  if (place === "chats") return `chat of ${agentId ?? "an agent"}`;
  return agentId === undefined ? "Claude Code" : `Claude Code, agent ${agentId}`;
}

const SPEAKERS = { user: "you: ", agent: "agent: ", tool: "tool: " } as const;

function speaker({ role }: FoundPassage): string {
  return role === undefined ? "" : style("dim", SPEAKERS[role]);
}

function marked(text: string): string {
  return text.replace(/\*\*(.+?)\*\*/g, (_, words: string) =>
    style("yellow", process.stdout.isTTY ? words : `**${words}**`),
  );
}

/** Short ids are enough for a person. */
function openText({ open, path, passages, sessionId }: FoundSession): string {
  const command = (words: readonly string[]): string =>
    ["holdfast", ...words.map((word) => (word === sessionId && open.resume !== undefined ? shortId(word) : word))].join(
      " ",
    );
  if (open.show === undefined) return `${shortPath(path)}:${passages[0]?.line ?? 1}`;
  return [command(open.show), ...(open.resume === undefined ? [] : [command(open.resume)])].join("   ");
}

function placesText({ in: place, agent, repo, since, role, file }: SearchOptions): string {
  const where = { chats: "chats", claude: "Claude Code sessions", memory: "memory files" } as const;
  const what = place === undefined ? "chats, Claude Code sessions and memory files" : where[place];
  const limits = [
    agent === undefined ? undefined : `of agent ${agent}`,
    repo === undefined ? undefined : `in ${repo}`,
    since === undefined ? undefined : `since ${since}`,
    role === undefined ? undefined : `said by ${role === "user" ? "people" : "agents"}`,
    file === undefined ? undefined : `that changed ${file}`,
  ].filter((limit) => limit !== undefined);
  return printableLine([what, ...limits].join(" "));
}

function widenText(options: SearchOptions): string {
  const given = (["repo", "agent", "in", "since", "role", "file"] as const).filter(
    (name) => options[name] !== undefined,
  );
  if (given.length === 0) return "Try fewer or other words, or the beginning of a word: retr*";
  return `Try other words, or leave out ${given.map((name) => `--${name}`).join(", ")}.`;
}
