/** `holdfast cc archive`: copies sessions that Claude Code is about to delete, and restores copies. */
import { ERROR_KINDS } from "../../../base/errors.ts";
import type { ArchiveReport } from "../../../claude/archive/archive-sessions.ts";
import { type Counts, type Flags, type Texts, invalidOption } from "../../command.ts";
import { plural, print, printJson, talk } from "../../output.ts";
import { type ClaudeOptions, withClaude, progressLine, shortPath } from "./claude-side.ts";
import { shortId } from "../../../base/ids.ts";
import type { ClaudeSide } from "../../../compose/claude.ts";

type ArchiveCommandOptions = ClaudeOptions & Flags<"dryRun" | "redact"> & Counts<"days"> & Texts<"restore" | "to">;

export async function archive(options: ArchiveCommandOptions): Promise<void> {
  checkOptions(options);
  await withClaude(options, async (side) => {
    if (options.restore !== undefined) await restore(side, options.restore, options.to ?? "", options);
    else await copyDue(side, options);
  });
}

function checkOptions({ restore: id, to, dryRun, days, redact }: ArchiveCommandOptions): void {
  if ((id === undefined) !== (to === undefined)) {
    throw invalidOption(
      "--restore and --to belong together",
      "For example: holdfast cc archive --restore 1a2b3c4d --to ./restored",
    );
  }
  if (id !== undefined && (dryRun === true || redact === true || days !== undefined)) {
    throw invalidOption("--restore can only be combined with --to", "Omit --restore to copy sessions.");
  }
}

async function copyDue(side: ClaudeSide, options: ArchiveCommandOptions): Promise<void> {
  const { archiveNativeSessions } = await import("../../../claude/archive/archive-sessions.ts");
  using progress = progressLine();
  const index = await side.index();
  await index.refresh(progress.refresh);
  const { daysBefore, redact } = side.config.archive;
  const report = await archiveNativeSessions({
    claudeHome: side.claudeHome,
    home: side.home,
    index,
    daysBefore: options.days ?? daysBefore,
    redact: options.redact === true || redact,
    dryRun: options.dryRun === true,
    onProgress: (done, due) => progress.show(`Copying sessions: ${done} of ${due}`),
  });
  progress[Symbol.dispose]();
  if (options.json === true) printJson({ schema: 1, dryRun: options.dryRun === true, ...report });
  else printReport(report, options);
  for (const { path, reason } of report.failed) talk(`holdfast: ${path}: ${reason}`);
  if (report.failed.length > 0) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

function printReport(report: ArchiveReport, { dryRun }: ArchiveCommandOptions): void {
  const { sessions, due, copied, unchanged, cleanupPeriodDays } = report;
  for (const id of copied) print(`${dryRun === true ? "would copy" : "copied"} ${id}`);
  talk(
    `${plural(sessions, "session")}, ${due} due: ${copied.length} ${dryRun === true ? "to copy" : "copied"}, ` +
      `${unchanged} unchanged. Claude Code deletes sessions after ${cleanupPeriodDays} days.`,
  );
}

async function restore(side: ClaudeSide, id: string, to: string, options: ArchiveCommandOptions): Promise<void> {
  const { restoreNativeSession } = await import("../../../claude/archive/archive-sessions.ts");
  const { sessionId } = await side.find(id);
  const restored = await restoreNativeSession(sessionId, { home: side.home, claudeHome: side.claudeHome, to });
  if (options.json === true) {
    printJson({ schema: 1, ok: true, ...restored });
    return;
  }
  for (const file of restored.files) print(file);
  const note = restored.redacted ? " Secrets were replaced when it was archived." : "";
  talk(`${shortId(sessionId)} is restored.${note}`);
  talk(`To resume it, copy the files to ${shortPath(restored.nativeFolder)}; Holdfast never writes there.`);
}
