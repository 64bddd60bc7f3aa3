import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type LeashedProgram, startOnLeash } from "./leash.ts";

/** The program prints the pids of its child processes, then waits. */
const PARENT = `
sleep 301 & echo $!
setsid sh -c 'sleep 302 & echo $!; exec sleep 303' &
setsid sh -c 'trap "" TERM HUP INT; env -i sleep 304 & echo $!; while :; do sleep 305; done' &
echo $!
sleep 306
`;

test("a release ends all groups and sessions, even if they ignore signals", async () => {
  const program = start(PARENT);
  const pids = await started(program, 4);
  const ended = once(program.child, "close");
  await program.release();
  await ended;
  expect(program.child.signalCode).toBe("SIGKILL");
  expect(pids.filter(isAlive)).toEqual([]);
});

test("ends child processes that the program left behind", async () => {
  const program = start("setsid sleep 307 & echo $!; exit 7");
  const [pid] = await started(program, 1);
  await program.release();
  expect(program.child.exitCode).toBe(7);
  expect(isAlive(pid ?? 0)).toBe(false);
});

test("SIGINT and SIGTERM do not reach the watcher", async () => {
  const program = start("trap '' INT TERM; setsid sleep 308 & echo $!; sleep 309; sleep 309");
  const [pid] = await started(program, 1);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(-program.pid, signal);
  await program.release();
  expect(isAlive(pid ?? 0)).toBe(false);
});

test("ends the group even without the watcher", async () => {
  const program = start("sleep 310 & echo $!; sleep 311");
  const [pid] = await started(program, 1);
  const ended = once(program.child, "close");
  process.kill(watcherOf(program.pid), "SIGKILL");
  await delayUntil(() => program.child.stdio[3]?.destroyed === true);
  await program.release();
  await ended;
  expect(isAlive(pid ?? 0)).toBe(false);
});

test("passes arguments unchanged, and no open files", async () => {
  const hostile = "a b\"'$(id)\n`id`;";
  const program = startOnLeash({
    program: "/bin/sh",
    args: ["-c", 'printf "%s|" "$@"; (: <&3) 2>/dev/null || echo closed', "sh", "--", hostile],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  if (program === undefined) throw new Error("not started");
  const chunks: Buffer[] = [];
  program.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(program.child, "exit");
  await program.release();
  expect(Buffer.concat(chunks).toString()).toBe(`--|${hostile}|closed\n`);
});

function start(script: string): LeashedProgram {
  const env = { PATH: process.env["PATH"] ?? "" };
  const program = startOnLeash({ program: "/bin/sh", args: ["-c", script], cwd: "/", env });
  if (program === undefined) throw new Error("not started");
  return program;
}

async function started(program: LeashedProgram, count: number): Promise<number[]> {
  let output = "";
  program.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await delayUntil(() => output.split("\n").length > count);
  return output.trim().split("\n").map(Number);
}

function isAlive(pid: number): boolean {
  const state = execFileSync("ps", ["-A", "-o", "pid=", "-o", "stat="], { encoding: "utf8" });
  return state.split("\n").some((line) => Number(line.trim().split(/\s+/)[0]) === pid && !line.includes("Z"));
}

function watcherOf(pid: number): number {
  const children = execFileSync("ps", ["-o", "pid=", "-o", "args=", "--ppid", String(pid)], { encoding: "utf8" });
  return Number.parseInt(children.split("\n").find((line) => line.includes("holdfast-leash")) ?? "", 10);
}

async function delayUntil(holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 500 && !holds(); attempt++) await delay(10);
  expect(holds()).toBe(true);
}
