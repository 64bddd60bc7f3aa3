/** The configuration with which an MCP client starts the bridge. */
import { programFile } from "../base/package.ts";

/** `home` is HOLDFAST_HOME, if set: a client may start the server without our environment. */
type ClientConfigOptions = Partial<Record<"agent" | "repo" | "session" | "home", string | undefined>>;

/** Uses absolute paths: a client may have another PATH or working folder. */
export function clientConfig(options: ClientConfigOptions) {
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
        env: options.home === undefined ? undefined : { HOLDFAST_HOME: options.home },
        // Makes Claude Code wait for the server before the first turn and keep its tools visible.
        alwaysLoad: true,
      },
    },
  };
}

/** The shell command that adds the server to Claude Code. */
export function claudeAddCommand(options: ClientConfigOptions): string {
  const entry = JSON.stringify(clientConfig(options).mcpServers.holdfast);
  return `claude mcp add-json --scope user holdfast '${entry.replaceAll("'", String.raw`'\''`)}'`;
}
