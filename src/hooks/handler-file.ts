/** The file that runs for a hook (its own, or for one of a workspace a private copy of what was turned on), and where. */
import { basename, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { readEnabledHooks } from "./enabled-hooks.ts";
import type { Hook } from "./hook.ts";
import { keepCopy, readHookContent } from "./hook-content.ts";
import { changedSince } from "./load-hooks.ts";

/** Looked at anew for every call: what is turned off or changed meanwhile does not run. */
export async function handlerFileOf(
  { name, source, folder, handlerFile }: Pick<Hook, "name" | "source" | "folder" | "handlerFile">,
  home: string,
): Promise<string> {
  if (handlerFile === undefined) throw notToRun(name, "it has no handler");
  if (source !== "workspace") return handlerFile;
  const [content, enabled] = await Promise.all([readHookContent(folder), readEnabledHooks(home)]);
  const known = enabled.get(folder);
  if (known === undefined) throw notToRun(name, "it was turned off");
  if (known.digest !== content.digest) throw notToRun(name, changedSince(name));
  return join(await keepCopy(home, content), basename(handlerFile));
}

/** Not the hook's own folder: what a hook writes there would change it. */
export async function workingFolder({ workspace, home }: { workspace: string; home: string }): Promise<string> {
  return (await fileExists(workspace)) ? workspace : home;
}

function notToRun(name: string, reason: string): HoldfastError {
  return new HoldfastError("forbidden", "hook-not-run", reason, {
    hint: "`holdfast hooks check` tells about all hooks.",
    data: { hook: name },
  });
}
