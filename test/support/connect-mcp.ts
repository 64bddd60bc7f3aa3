/** The SDK's own client at the other end of a real `holdfast mcp`: `await using mcp = await connectMcp({…})`. */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

export interface McpConnection extends AsyncDisposable {
  client: Client;
}

export interface ConnectMcpOptions {
  cwd: string;
  env: Record<string, string | undefined>;
  /** What `holdfast` is given. Left out: `mcp`. */
  args?: readonly string[];
  /** A program that runs it, with its arguments. */
  under?: readonly string[];
}

export async function connectMcp({
  cwd,
  env,
  args: given = ["mcp"],
  under = [],
}: ConnectMcpOptions): Promise<McpConnection> {
  const [command = process.execPath, ...args] = [...under, process.execPath, BIN, ...given];
  const known = Object.entries({ ...process.env, ...env }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const transport = new StdioClientTransport({
    command,
    args,
    cwd,
    env: Object.fromEntries(known) as Record<string, string>,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: async () => await client.close() };
}
