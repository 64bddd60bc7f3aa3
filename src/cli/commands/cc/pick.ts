/** `holdfast cc`: the picker on a terminal, the list elsewhere. */
import { ERROR_KINDS } from "../../../base/errors.ts";
import type { RefreshProgress } from "../../../claude/index/native-index.ts";
import type { ClaudeSide, DiscoverChoice } from "../../../compose-claude.ts";
import type { PickerPage, PickerSource } from "../../picker/run-picker.ts";
import { print } from "../../output.ts";
import { isFolder, withClaude } from "./claude-side.ts";
import { type ListOptions, type ListQuery, assertFolder, listNative, toQuery } from "./list.ts";
import { shortPath } from "./session-view.ts";

export async function pickSession(options: ListOptions): Promise<void> {
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY && options.json !== true;
  if (!isInteractive) return await listNative(options);
  const query = toQuery(options);
  await withClaude(options, async (side) => {
    const [{ openTerminal }, { runPicker }] = await Promise.all([
      import("../../picker/terminal.ts"),
      import("../../picker/run-picker.ts"),
    ]);
    if (query.repoPath !== undefined && !isFolder(query.repoPath)) await assertKnown(side, query.repoPath);
    const terminal = openTerminal();
    const picked = await runPicker(terminal, sourcesFor(side, query, options)).finally(() =>
      terminal[Symbol.dispose](),
    );
    if (picked.action === "leave") process.exitCode = ERROR_KINDS.interrupted.exitCode;
    else if (picked.action === "show-id") print(picked.session.sessionId);
    else {
      const { attachSession } = await import("./attach.ts");
      await attachSession(side, picked.session, picked.action === "fork" ? { fork: true } : {});
    }
  });
}

async function assertKnown(side: ClaudeSide, repoPath: string): Promise<void> {
  const { total } = await side.discover(repoPath, { limit: 1 });
  if (total === 0) assertFolder(repoPath);
}

/** The repo first; where it has no sessions and nobody named it, all of them. */
function sourcesFor(
  side: ClaudeSide,
  { repoPath, choice }: ListQuery,
  options: ListOptions,
): [PickerSource, ...PickerSource[]] {
  const { limit: _, ...filters } = choice;
  const wanted = options.limit === undefined ? filters : { ...filters, limit: options.limit };
  const everywhere = toSource(side, undefined, wanted, false);
  return repoPath === undefined
    ? [everywhere]
    : [toSource(side, repoPath, wanted, options.repo === undefined), everywhere];
}

/** Enough for a first look; everything comes a moment later. */
const FIRST_LOOK = 200;

function toSource(
  side: ClaudeSide,
  repoPath: string | undefined,
  choice: ListQuery["choice"],
  mayGiveWay: boolean,
): PickerSource {
  const read = async (more: DiscoverChoice): Promise<PickerPage> => {
    const { sessions, repoPath: root } = await side.discover(repoPath, { ...choice, ...more });
    return { sessions, name: root === undefined ? "all repos" : shortPath(root) };
  };
  return {
    isAll: repoPath === undefined,
    mayGiveWay,
    known: async () => await read({ limit: Math.min(choice.limit ?? FIRST_LOOK, FIRST_LOOK), refresh: false }),
    refreshed: async (onProgress) => {
      const tell = ({ filesDone, filesTotal }: RefreshProgress): void =>
        onProgress(`Reading transcripts: ${filesDone} of ${filesTotal}`);
      return await read({ refresh: { onProgress: tell } });
    },
  };
}
