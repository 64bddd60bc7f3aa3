/** A home in which somebody has talked: by the real command line the first time, afterwards a copy of that. */
import { cp } from "node:fs/promises";
import { runCli } from "./run-cli.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

/** By what was said. They stay with everything else that the run has made, and go with it. */
const originals = new Map<string, Promise<string>>();

/** A session `work` with two windows. */
const TWO_WINDOWS = ["hello", "/label work", "/new again"];

export async function homeWithConversation(lines: readonly string[] = TWO_WINDOWS): Promise<TemporaryFolder> {
  const input = `${lines.join("\n")}\n`;
  const original = originals.get(input) ?? talk(input);
  originals.set(input, original);
  const home = await temporaryFolder();
  await cp(await original, home.path, { recursive: true });
  return home;
}

async function talk(input: string): Promise<string> {
  const { path: home } = await temporaryFolder();
  const { code, stderr } = await runCli(["chat", "--local"], { home, input });
  if (code !== 0) throw new Error(stderr);
  return home;
}
