/** The gateways of a cluster as processes: each with a home and a way to the database that a test can cut. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ChannelStatus } from "../../src/channels/channel.ts";
import type { FakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { type TestServer, urlOf } from "../support/postgres.ts";
import { type TcpProxy, startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/time.ts";

export interface ClusterChildTask {
  home: string;
  clockOffsetMs: number;
}

export type NodeReport =
  | { what: "listening"; url: string; token: string }
  | { what: "turn"; key: string; isRunning: boolean }
  | ({ what: "channel" } & Pick<ChannelStatus, "state" | "text">);

/** A stretch of time (ms) in which a node ran a turn of a key, or was connected as the account. */
export interface Stretch {
  node: string;
  subject: string;
  from: number;
  /** Undefined: until now. */
  to?: number | undefined;
}

export interface ClusterNode {
  name: string;
  proxy: TcpProxy;
  url: string;
  token: string;
  /** Times in which the process was paused, and a moment longer: its timers need to run. */
  pauses: Stretch[];
  isUp(): boolean;
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
  pause(): void;
  wake(): void;
}

const CHILD = fileURLToPath(new URL("./cluster-child.ts", import.meta.url));
const WAKING_MS = 500;
export const TELEGRAM = "telegram";

export interface NodeOptions {
  name: string;
  folder: string;
  server: TestServer;
  database: string;
  telegram: FakeTelegram;
  clockOffsetMs: number;
  /** Filled with what the nodes did. */
  history: Stretch[];
}

export async function createClusterNode(options: NodeOptions): Promise<ClusterNode> {
  const { name, folder, server, telegram, clockOffsetMs, history } = options;
  const proxy = await startTcpProxy({ port: server.port });
  const home = join(folder, name);
  await mkdir(home, { mode: 0o700 });
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  const config = {
    store: { kind: "postgres", url: urlOf({ ...server, port: proxy.port }, options.database) },
    agents: { main: { engine: "watched" } },
    channels: { telegram: { default: account } },
    turns: { queue: { mode: "followup", cap: 1000 } },
    gateway: { requestsPerMinute: 60_000 },
    log: { level: process.env["CLUSTER_LOG"] ?? "silent" },
  };
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  let child: ChildProcess | undefined;

  const endAll = (at: number): void => {
    for (const stretch of history) if (stretch.node === name) stretch.to ??= at;
  };
  const note = (subject: string, isOn: boolean, at: number): void => {
    const open = history.find((one) => one.node === name && one.subject === subject && one.to === undefined);
    if (isOn && open === undefined) history.push({ node: name, subject, from: at });
    if (!isOn && open !== undefined) open.to = at;
  };
  const hear = (line: NodeReport & { at: number }): void => {
    if (line.what === "turn") note(line.key, line.isRunning, line.at);
    else if (line.what === "channel") note(TELEGRAM, line.state === "connected" || line.state === "retrying", line.at);
    else Object.assign(node, { url: line.url, token: line.token });
  };

  const node: ClusterNode = {
    name,
    proxy,
    url: "",
    token: "",
    pauses: [],
    isUp: () => child !== undefined,
    start: async () => {
      node.url = "";
      const task: ClusterChildTask = { home, clockOffsetMs };
      const started = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, TELEGRAM_BOT_TOKEN: telegram.token },
      });
      child = started;
      createInterface({ input: started.stdout }).on("line", (line) => hear(JSON.parse(line)));
      started.once("exit", () => {
        endAll(Date.now());
        if (child === started) child = undefined;
      });
      await until(() => node.url !== "" || child === undefined, `${name} to listen`, 60_000);
      if (child === undefined) throw new Error(`${name} could not start`);
    },
    kill: async () => {
      if (child === undefined) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    stop: async () => {
      if (child === undefined) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
    pause: () => {
      child?.kill("SIGSTOP");
      node.pauses.push({ node: name, subject: "paused", from: Date.now() });
    },
    wake: () => {
      const pause = node.pauses.at(-1);
      if (pause !== undefined) pause.to = Date.now() + WAKING_MS;
      child?.kill("SIGCONT");
    },
  };
  return node;
}
