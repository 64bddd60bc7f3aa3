/** What an MCP client has to be told to start the bridge. */
import { programFile } from "../base/package.ts";

export interface ClientConfigOptions {
  agent?: string | undefined;
  repo?: string | undefined;
  session?: string | undefined;
  /** HOLDFAST_HOME, when it is set: a client may start the server without our environment. */
  home?: string | undefined;
}

interface ServerEntry {
  type: "stdio";
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Claude Code then waits for the server before the first turn, and does not hide its tools. */
  alwaysLoad: true;
}

/** Whole paths: a client may have another PATH, or start from another folder. */
export function clientConfig(options: ClientConfigOptions): { mcpServers: { holdfast: ServerEntry } } {
  const given = (["agent", "repo", "session"] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  return {
    mcpServers: {
      holdfast: {
        type: "stdio",
        command: process.execPath,
        args: [programFile(), "mcp", ...given],
        ...(options.home === undefined ? {} : { env: { HOLDFAST_HOME: options.home } }),
        alwaysLoad: true,
      },
    },
  };
}

/** The line that adds it to Claude Code, for a person to copy into a shell. */
export function claudeAddCommand(options: ClientConfigOptions): string {
  const entry = JSON.stringify(clientConfig(options).mcpServers.holdfast);
  return `claude mcp add-json --scope user holdfast '${entry.replaceAll("'", String.raw`'\''`)}'`;
}
