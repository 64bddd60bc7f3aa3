/**
 * The bridge over stdin and stdout, until the client goes. Stdout carries the protocol and nothing else.
 * Whatever ends the connection (the client closes its end, dies, or sends a signal) ends the process.
 */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { McpParts } from "./bridge-parts.ts";
import { createMcpServer } from "./create-mcp-server.ts";

/** For what is still under way when the client has gone: nobody waits for it any more. */
const GRACE_MS = 1000;

export async function serveStdio(parts: McpParts): Promise<void> {
  const server = createMcpServer(parts);
  const closed = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK knows no other way
    server.server.onclose = resolve;
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the same
  server.server.onerror = (error) => parts.logger.warn("MCP connection", { error });
  const stop = (): void => void server.close();
  for (const event of ["end", "close"]) process.stdin.once(event, stop);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  await server.connect(new StdioServerTransport());
  await closed;
  process.stdin.destroy();
  // It does not keep the process alive; it ends what would.
  setTimeout(() => process.exit(0), GRACE_MS).unref();
  await parts.close();
}
