/**
 * The file that tells Claude Code how to start Holdfast's MCP server. It may carry the environment of
 * the server, so it lies in a private folder, and goes when the run ends.
 */
import { unlink, writeFile } from "node:fs/promises";
import { fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder } from "../../base/files.ts";
import { mcpConfigPath } from "./lease-files.ts";
import type { McpServerCommand } from "./runner-parts.ts";

/** The server's name in Claude Code: its tools are `mcp__holdfast__<tool>`. */
const MCP_SERVER_NAME = "holdfast";

export async function writeMcpConfig(folder: string, runId: string, server: McpServerCommand): Promise<string> {
  const path = mcpConfigPath(folder, runId);
  await ensurePrivateFolder(folder);
  try {
    await writeFile(path, mcpConfigText(server), { mode: PRIVATE_FILE, flag: "wx" });
  } catch (error) {
    throw fileError(error, "write", path);
  }
  return path;
}

export async function removeMcpConfig(folder: string, runId: string): Promise<void> {
  await unlink(mcpConfigPath(folder, runId)).catch(() => undefined);
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
