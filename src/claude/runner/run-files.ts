/**
 * The files that a run writes for its process: how to start Holdfast's MCP server, and the system prompt.
 * They may carry what is nobody else's business, so they lie in a private folder, and go when the run ends.
 */
import { unlink, writeFile } from "node:fs/promises";
import { fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder } from "../../base/files.ts";
import { mcpConfigPath, promptPath } from "./lease-files.ts";
import type { McpServerCommand } from "./runner-parts.ts";

/** The server's name in Claude Code: its tools are `mcp__holdfast__<tool>`. */
const MCP_SERVER_NAME = "holdfast";

export async function writeMcpConfig(folder: string, runId: string, server: McpServerCommand): Promise<string> {
  return await writeRunFile(folder, mcpConfigPath(folder, runId), mcpConfigText(server));
}

export async function writePrompt(folder: string, runId: string, prompt: string): Promise<string> {
  return await writeRunFile(folder, promptPath(folder, runId), prompt);
}

export async function removeRunFiles(folder: string, runId: string): Promise<void> {
  for (const path of [mcpConfigPath(folder, runId), promptPath(folder, runId)]) {
    await unlink(path).catch(() => undefined);
  }
}

async function writeRunFile(folder: string, path: string, text: string): Promise<string> {
  await ensurePrivateFolder(folder);
  try {
    await writeFile(path, text, { mode: PRIVATE_FILE, flag: "wx" });
  } catch (error) {
    throw fileError(error, "write", path);
  }
  return path;
}

function mcpConfigText({ command, args, env }: McpServerCommand): string {
  const entry = {
    type: "stdio",
    command,
    args,
    ...(env === undefined ? {} : { env }),
    // Without it a server that starts slowly misses the first turn, and newer versions hide its tools.
    alwaysLoad: true,
  };
  return JSON.stringify({ mcpServers: { [MCP_SERVER_NAME]: entry } });
}

export function mcpToolNames(tools: readonly string[]): string[] {
  return tools.map((tool) => `mcp__${MCP_SERVER_NAME}__${tool}`);
}
