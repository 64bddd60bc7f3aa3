/** A client sends the token only to a gateway that proves to know it. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { startFakeHoldfast } from "../../test/support/fake-holdfast.ts";
import { connectRpc, createHttpCaller } from "./client.ts";
import { answerChallenge } from "./protocol.ts";

const TOKEN = "t".repeat(43);

async function expectSilence(url: string, token: string): Promise<void> {
  const unproven = { kind: "forbidden", code: "gateway-unproven" };
  await expect(connectRpc({ url, token, client: { name: "test" } })).rejects.toMatchObject(unproven);
  await expect(createHttpCaller({ url, token }).call("health", {})).rejects.toMatchObject(unproven);
}

describe("a program on the gateway's port", () => {
  it("does not get the token, whatever it answers", async () => {
    const proofs: unknown[] = [undefined, null, "", true, { proof: "x" }, "00".repeat(32)];
    for (const proof of proofs) {
      await using squatter = await startFakeHoldfast({ prove: async () => await Promise.resolve(proof) });
      await expectSilence(squatter.url, TOKEN);
      expect(squatter.heard).toHaveLength(2);
      expect(squatter.heard.join("\n")).not.toContain(TOKEN);
    }
  });

  it("cannot have a gateway on another port answer for it", async () => {
    await using home = await createGatewayHome();
    const { url, token } = home.gateway;
    await using squatter = await startFakeHoldfast({
      prove: async (nonce) => {
        const response = await fetch(`${url}/challenge?nonce=${nonce}`);
        return ((await response.json()) as { payload: { proof: string } }).payload.proof;
      },
    });
    await expectSilence(squatter.url, token);
    expect(squatter.heard.join("\n")).not.toContain(token);
  });

  it("cannot replay an earlier answer: each challenge is new", async () => {
    await using squatter = await startFakeHoldfast();
    await expectSilence(squatter.url, TOKEN);
    await expectSilence(squatter.url, TOKEN);
    const nonces = squatter.heard.map((text) => /nonce\W+([0-9a-f]{64})\b/.exec(text)?.[1]);
    expect(new Set(nonces).size).toBe(4);
    expect(nonces).not.toContain(undefined);
  });
});

describe("the gateway", () => {
  it("answers every challenge, however many strangers ask", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 5 } });
    const { url, port, token } = home.gateway;
    const nonce = "ab".repeat(32);
    for (let attempt = 0; attempt < 20; attempt++) {
      const response = await fetch(`${url}/challenge?nonce=${nonce}`);
      expect(await response.json()).toEqual({
        ok: true,
        payload: { proof: await answerChallenge({ token, port, nonce }) },
      });
    }
    const { call } = createHttpCaller(home.gateway);
    expect(await call("health", {})).toMatchObject({ ok: true });
  });

  it("signs only challenges, and none for pages of other sites", async () => {
    await using home = await createGatewayHome();
    const ask = async (query: string, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`${home.gateway.url}/challenge${query}`, { headers })).status;
    for (const query of ["", "?nonce=", "?nonce=abc", `?nonce=${"ab".repeat(65)}`, `?nonce=${"x y ".repeat(10)}`]) {
      expect([query, await ask(query)]).toEqual([query, 400]);
    }
    expect(await ask(`?nonce=${"ab".repeat(32)}`, { Origin: "http://evil.example" })).toBe(403);
  });
});
