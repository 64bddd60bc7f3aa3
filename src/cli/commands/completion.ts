/** `holdfast completion`: the script that makes a shell complete commands, options and names. */
import { parseChoice } from "../arguments.ts";
import { COMPLETION_SCRIPTS } from "../completion/scripts.ts";

export async function printCompletion(shell: string): Promise<void> {
  const known = parseChoice("holdfast completion", shell, ["bash", "zsh", "fish"]);
  process.stdout.write(COMPLETION_SCRIPTS[known]);
  await Promise.resolve();
}
