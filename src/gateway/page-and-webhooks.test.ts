/** Routes without a token: the page, and webhooks, which have their own secrets. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTelegramHome } from "../../test/support/fake-telegram/telegram-home.ts";
import { message } from "../../test/support/fake-telegram/updates.ts";
import { createGatewayHome, WEBHOOK_SECRET } from "../../test/support/gateway-home.ts";
import { raw } from "../../test/support/gateway-requests.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";

describe("the page", () => {
  it("is served without a token, with a strict policy and the right caching", async () => {
    await using folder = await temporaryFolder();
    await using home = await createGatewayHome({ webRoot: await webRoot(folder) });
    const { url } = home.gateway;
    const index = await fetch(`${url}/`);
    expect(await index.text()).toContain("Holdfast");
    expect(index.headers.get("content-type")).toContain("text/html");
    expect(index.headers.get("cache-control")).toBe("no-store");
    expect(index.headers.get("x-content-type-options")).toBe("nosniff");
    const policy = index.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https:|\*/);
    const script = await fetch(`${url}/assets/app-1a2b3c4d.js`);
    expect(script.headers.get("cache-control")).toContain("immutable");
    expect(script.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("is reloaded after a rebuild", async () => {
    await using folder = await temporaryFolder();
    const root = await webRoot(folder);
    await using home = await createGatewayHome({ webRoot: root });
    const read = async (path: string): Promise<string> => await (await fetch(`${home.gateway.url}${path}`)).text();
    expect(await read("/")).toBe(await read("/"));
    await writeFile(`${root}/index.html`, "built again");
    await writeFile(`${root}/assets/new.js`, "new");
    expect([await read("/"), await read("/assets/new.js")]).toEqual(["built again", "new"]);
    await rm(`${root}/assets/new.js`);
    expect(await read("/assets/new.js")).toContain("no-such-address");
  });

  it("cannot be used to read anything else", async () => {
    await using folder = await temporaryFolder();
    await using home = await createGatewayHome({ webRoot: await webRoot(folder) });
    const paths = [
      "/../secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/%252e%252e/secret.txt",
      "/linked/secret.txt",
      "/assets/..%2f..%2fsecret.txt",
      "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
      "/..%5csecret.txt",
      "//etc/passwd",
      "/%2fetc%2fpasswd",
      "/link.txt",
      "/index.html%00.txt",
      "/%",
      "/assets",
      "/assets/",
    ];
    for (const path of paths) {
      const answer = await rawGet(home.gateway.port, path);
      expect([path, answer.includes("outside"), answer.includes("root:")]).toEqual([path, false, false]);
      expect([path, /^HTTP\/1\.1 (?:404|400)/.test(answer)]).toEqual([path, true]);
    }
  });

  it("reports that it was not built", async () => {
    await using home = await createGatewayHome();
    const response = await fetch(home.gateway.url);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { message: "The page was not built" } },
    ]);
  });
});

describe("the webhook", () => {
  it("passes on body and secret for any host name", async () => {
    await using home = await createGatewayHome();
    const post = async (account: string, secret: string | undefined, headers = {}): Promise<number> => {
      const response = await fetch(`${home.gateway.url}/webhooks/telegram/${account}`, {
        method: "POST",
        headers: { "X-Telegram-Bot-Api-Secret-Token": secret, ...headers },
        body: '{"update_id":1}',
      });
      return response.status;
    };
    expect(await post("default", WEBHOOK_SECRET)).toBe(200);
    expect(home.webhooks).toEqual([{ secretToken: WEBHOOK_SECRET, body: '{"update_id":1}' }]);
    expect(await post("default", "wrong")).toBe(401);
    expect(await post("default", undefined)).toBe(401);
    expect(await post("nobody", WEBHOOK_SECRET)).toBe(404);
    expect(await post("__proto__", WEBHOOK_SECRET)).toBe(404);
    expect(await post("default", WEBHOOK_SECRET, { Origin: "https://evil.example" })).toBe(403);
    expect(home.webhooks).toHaveLength(1);
    const tunnelled = await raw(
      home.gateway.port,
      `POST /webhooks/telegram/default HTTP/1.1\r\nHost: bot.example.org\r\nX-Telegram-Bot-Api-Secret-Token: ${WEBHOOK_SECRET}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(tunnelled).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe("the webhook of a real channel", () => {
  it("answers once the message is stored", async () => {
    await using telegram = await createTelegramHome();
    const webhook = { url: "https://agent.example.org/webhooks/telegram/default", secretToken: "correct-horse" };
    const channel = telegram.open({ mode: "webhook", webhook });
    await channel.start(telegram.host);
    await using home = await createGatewayHome({ telegram: channel });
    const post = async (secret: string): Promise<number> => {
      const update = { update_id: 1, message: message({ text: "hello" }) };
      const response = await fetch(`${home.gateway.url}/webhooks/telegram/default`, {
        method: "POST",
        headers: { "X-Telegram-Bot-Api-Secret-Token": secret },
        body: JSON.stringify(update),
      });
      return response.status;
    };
    expect([await post("wrong"), telegram.host.admitted.length]).toEqual([401, 0]);
    telegram.host.before = () => {
      throw new Error("the disk is full");
    };
    expect(await post(webhook.secretToken)).toBe(503);
    telegram.host.before = () => undefined;
    expect(await post(webhook.secretToken)).toBe(200);
    expect(telegram.host.admitted.at(-1)?.ctx.RawBody).toBe("hello");
  });
});

async function rawGet(port: number, path: string): Promise<string> {
  return await raw(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
}

async function webRoot(folder: { path: string }): Promise<string> {
  const root = join(folder.path, "web");
  await mkdir(join(root, "assets"), { recursive: true });
  await writeFile(join(root, "index.html"), "<!doctype html><title>Holdfast</title>");
  await writeFile(join(root, "assets", "app-1a2b3c4d.js"), "console.log(1)");
  await writeFile(join(folder.path, "secret.txt"), "outside");
  await symlink(join(folder.path, "secret.txt"), join(root, "link.txt"));
  await symlink(folder.path, join(root, "linked"));
  return root;
}
