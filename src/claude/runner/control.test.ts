import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { createConnection } from "node:net";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { HoldfastError } from "../../base/errors.ts";
import { startControlServer, type ControlQuestion, askHost } from "./control.ts";

const RUN = "11111111-2222-4333-8444-555555555555";

it("carries questions and answers between processes of the same user", async () => {
  await using folder = await temporaryFolder();
  const asked: ControlQuestion[] = [];
  const server = await startControlServer(folder.join("locks"), async (question) => {
    asked.push(question);
    return { stopped: true };
  });
  expect((await stat(server.path)).mode & 0o777).toBe(0o600);
  expect((await stat(folder.join("locks"))).mode & 0o777).toBe(0o700);
  expect(await askHost(server.path, { op: "kill", runId: RUN })).toEqual({ stopped: true });
  const text = "line one\nline two \u2028 😀".repeat(1000);
  await askHost(server.path, { op: "send", runId: RUN, text });
  expect(asked).toEqual([
    { op: "kill", runId: RUN },
    { op: "send", runId: RUN, text },
  ]);
  await server.close();
  expect(await readdir(folder.join("locks"))).toEqual([]);
  await expect(askHost(server.path, { op: "kill", runId: RUN })).rejects.toMatchObject({ code: "run-not-reached" });
});

it("passes on errors with kind, code and hint", async () => {
  await using folder = await temporaryFolder();
  const server = await startControlServer(folder.path, async () => {
    throw new HoldfastError("conflict", "session-not-persistent", "No.", { hint: "Wait." });
  });
  await expect(askHost(server.path, { op: "kill", runId: RUN })).rejects.toMatchObject({
    kind: "conflict",
    code: "session-not-persistent",
    hint: "Wait.",
  });
  await server.close();
});

it("refuses unknown questions and an endless line", async () => {
  await using folder = await temporaryFolder();
  const server = await startControlServer(folder.path, async () => ({}));
  const say = async (text: string): Promise<string> => {
    const socket = createConnection(server.path).setEncoding("utf8");
    socket.on("error", () => undefined);
    let answer = "";
    socket.on("data", (chunk: string) => (answer += chunk));
    socket.write(text);
    await once(socket, "close");
    return answer;
  };
  expect(await say('{"op":"format-disk","runId":"x"}\n')).toContain("control-question-unknown");
  expect(await say("not json\n")).toContain("control-question-unknown");
  expect(await say("x".repeat(5 * 1024 * 1024))).toContain("control-question-too-long");
  await server.close();
});

it("cancels a question and still waits for its answer", async () => {
  await using folder = await temporaryFolder();
  const server = await startControlServer(folder.path, async (_question, signal) => {
    if (!signal.aborted) await once(signal, "abort");
    return { was: "busy" };
  });
  const controller = new AbortController();
  const asking = askHost(server.path, { op: "interrupt", runId: RUN }, { cancel: controller.signal });
  controller.abort();
  expect(await asking).toEqual({ was: "busy" });
  const never = askHost(server.path, { op: "interrupt", runId: RUN }, { timeoutMs: 50 });
  await expect(never).rejects.toMatchObject({ code: "run-not-reached" });
  await server.close();
});

it("can be closed by the question that it is answering", async () => {
  await using folder = await temporaryFolder();
  const server = await startControlServer(folder.path, async () => {
    await server.close();
    return { stopped: true };
  });
  expect(await askHost(server.path, { op: "kill", runId: RUN })).toEqual({ stopped: true });
});

it("listens elsewhere when the folder's path is too long for a socket", async () => {
  await using folder = await temporaryFolder();
  const server = await startControlServer(folder.join("a".repeat(90)), async () => ({ stopped: true }));
  expect(Buffer.byteLength(server.path)).toBeLessThan(104);
  expect(await askHost(server.path, { op: "kill", runId: RUN })).toEqual({ stopped: true });
  await server.close();
  await expect(stat(server.path)).rejects.toMatchObject({ code: "ENOENT" });
});
