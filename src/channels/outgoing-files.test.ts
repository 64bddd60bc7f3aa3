import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { loadOutgoingFile } from "./files.ts";

interface FileServer extends AsyncDisposable {
  port: number;
}

async function startServer(): Promise<FileServer> {
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path === "/here") response.writeHead(302, { location: "/files/chart.png?size=2" }).end();
    else if (path === "/round") response.writeHead(302, { location: "/round" }).end();
    else if (path === "/inside") response.writeHead(302, { location: "http://169.254.169.254/meta-data" }).end();
    else if (path === "/slow") response.writeHead(200).write("x");
    else if (path.startsWith("/files/")) response.writeHead(200, { "content-type": "image/png" }).end("12345");
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const onlyLoopback = (address: string): boolean => address === "127.0.0.1";

it("fetches a file through redirects", async () => {
  await using server = await startServer();
  const url = `http://127.0.0.1:${server.port}/here`;
  const file = await loadOutgoingFile({ kind: "url", url }, { maxBytes: 5, allowsAddress: onlyLoopback });
  expect({ ...file, content: file.content.toString() }).toEqual({
    name: "chart.png",
    content: "12345",
    type: "image/png",
  });
});

it.each([
  ["notes.txt", "text/plain"],
  ["notes.constructor", "application/octet-stream"],
])("%s is %s", async (name, type) => {
  await using folder = await temporaryFolder();
  await writeFile(folder.join(name), "12345");
  const file = await loadOutgoingFile({ kind: "file", path: folder.join(name) }, { maxBytes: 5 });
  expect(file).toMatchObject({ name, type });
});

it.each<[string, string, string]>([
  ["more bytes than allowed", "/files/a.png", "media-too-large"],
  ["what is not there", "/gone", "media-not-found"],
  ["redirects without end", "/round", "media-not-found"],
  ["a redirect to a private address", "/inside", "media-address-private"],
  ["what takes too long", "/slow", "media-download-failed"],
])("refuses %s", async (_, path, code) => {
  await using server = await startServer();
  const media = { kind: "url" as const, url: `http://127.0.0.1:${server.port}${path}` };
  const options = { maxBytes: 4, timeoutMs: 1500, allowsAddress: onlyLoopback };
  await expect(loadOutgoingFile(media, options)).rejects.toMatchObject({ code });
});

it.each([
  "http://127.0.0.1/",
  "http://localhost/",
  "http://[::1]/",
  "http://[::ffff:10.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://0x7f.1/",
  "http://2130706433/",
  "http://10.1.2.3/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data",
  "http://172.31.0.1/",
  "http://192.168.1.1/",
  "https://[fd00::1]/",
  "https://[fe80::1]/",
])("does not fetch %s", async (url) => {
  await expect(loadOutgoingFile({ kind: "url", url }, { maxBytes: 10 })).rejects.toMatchObject({
    code: "media-address-private",
    kind: "forbidden",
  });
});

it.each(["file:///etc/passwd", "data:text/plain,x", "no address"])("rejects %s as an address", async (url) => {
  await expect(loadOutgoingFile({ kind: "url", url }, { maxBytes: 10 })).rejects.toMatchObject({
    code: "media-address",
  });
});

it("reads a file within its limit", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("notes.md");
  await writeFile(path, "12345");
  const file = await loadOutgoingFile({ kind: "file", path }, { maxBytes: 5 });
  expect([file.name, file.type, file.content.toString()]).toEqual(["notes.md", "text/markdown", "12345"]);
  await expect(loadOutgoingFile({ kind: "file", path }, { maxBytes: 4 })).rejects.toMatchObject({
    code: "media-too-large",
  });
});
