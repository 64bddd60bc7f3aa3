/** A home with a conversation, made by the real command line once and copied afterwards. */
import { cp } from "node:fs/promises";
import { runCli } from "./cli.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";
import { expect } from "vitest";

/** By what was said. They stay with everything else that the run has made, and go with it. */
const originals = new Map<string, Promise<string>>();

/** A session `work` with two windows. */
const TWO_WINDOWS = ["hello", "/label work", "/new again"];

export async function createCliHome(lines: readonly string[] = TWO_WINDOWS): Promise<TemporaryFolder> {
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

export const NUMBER = expect.any(Number) as number;
export const TEXT = expect.any(String) as string;
export const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/) as string;
