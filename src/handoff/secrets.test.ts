/** Secrets from a conversation never reach a file, the store or another conversation. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, createHandoffHome } from "../../test/support/handoff-home.ts";
import { agentLayout } from "../config/layout.ts";

/** Invented secrets, each in a message. Assembled here, so that no scanner reports them. */
const PLANTED: readonly (readonly [secret: string, written?: (secret: string) => string])[] = [
  [`sk-ant-api03-${random(40)}`],
  [`sk-proj-${random(44)}`],
  [`sk-or-v1-${random(48)}`],
  [`ghp_${random(36)}`],
  [`github_pat_${random(50)}`],
  [`glpat-${random(20)}`],
  [`xoxb-1234567890-${random(24)}`],
  [`AIza${random(35)}`],
  [`ya29.${random(60)}`],
  [`npm_${random(36)}`],
  [`hf_${random(34)}`],
  [`gsk_${random(40)}`],
  [`sk_live_${random(24)}`],
  [`SG.${random(22)}.${random(43)}`],
  [`dop_v1_${"0123456789abcdef".repeat(4)}`],
  [`AKIA${"ABCD2345".repeat(2)}`],
  [`${random(30)}/${random(9)}`, (secret) => `the AWS secret access key ${secret}`],
  [`${random(38)}/+`, (secret) => `aws_secret_access_key = ${secret}`],
  ["hunter2-and-more", (secret) => `postgres://app:${secret}@db.internal:5432/shop`],
  ["redispass99", (secret) => `redis://:${secret}@cache:6379/0`],
  ["mongoPass!77", (secret) => `mongodb+srv://root:${secret}@cluster0.example.net/db`],
  ["S3cr3t-Pa55", (secret) => `Server=tcp:db,1433;User ID=sa;Password=${secret};Encrypt=true`],
  [`${random(60)}==`, (secret) => `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${secret}`],
  [random(40), (secret) => `https://${secret}@github.com/acme/shop.git`],
  [`T0000/B0000/${random(24)}`, (secret) => `https://hooks.slack.com/services/${secret}`],
  [`eyJ${random(20)}.${random(40)}.${random(43)}`],
  [`123456789:${random(35)}`],
  [random(40), (secret) => `Authorization: Bearer ${secret}`],
  [random(24), (secret) => `x-api-key: ${secret}`],
  ["tr0ub4dor&3", (secret) => `the password is ${secret}`],
  ["correcthorse9", (secret) => `mysql --password ${secret}`],
  [random(64), (secret) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`],
  [random(64), (secret) => `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n${secret}`],
  // As people and tools tell them.
  ["Walnut-Tree-19", (secret) => `Ada set the database password to ${secret} this morning`],
  ["0nionSoup", (secret) => `the new login for the router: admin / ${secret}`],
  ["gr4pefruit", (secret) => `WIFI_PASS=${secret}`],
  ["Birch.Leaf.7", (secret) => `you can use ${secret} as the admin password`],
  ["p1neConeTea", (secret) => `das Kennwort für den Drucker ist ${secret}`],
  ["Chev4l_Blanc", (secret) => `le mot de passe du serveur est ${secret}`],
  ["739104", (secret) => `the verification code is ${secret}`],
  ["QuietLake42", (secret) => `curl --user deploy:${secret} https://ci.internal/run`],
  ["QuietLake43", (secret) => `mysqldump -u root -p${secret} shop`],
  ["QuietLake44", (secret) => `<property name="password">${secret}</property>`],
  ["QuietLake45", (secret) => `spring.datasource.password=${secret}`],
  ["QuietLake46", (secret) => `- name: SMTP_PASSWORD\n  value: ${secret}`],
  [random(36), (secret) => `acme_live_${secret}`],
  [random(44), (secret) => `the webhook answers only to ${secret}`],
  [random(32), (secret) => `Set-Cookie: sid=${secret}; HttpOnly`],
  // Without a shape of their own.
  ["correct horse battery staple", (secret) => `the passphrase is "${secret}"`],
  ["elephantstep", (secret) => `db.internal:5432:shop:shop_rw:${secret}`],
  [`mAdEuPsAlT$${random(43)}`, (secret) => `$6$${secret}`],
  [random(53), (secret) => `$2b$12$${secret}`],
  [`mAdEuP$${random(43)}`, (secret) => `$argon2id$v=19$m=65536,t=3,p=4$${secret}`],
  ["{Q=8xY|made up$kk2 #Zz~>P;7f@Lm:w+R", (secret) => `define('AUTH_KEY', '${secret}')`],
  ["482 913", (secret) => `the sms code is ${secret}`],
  ["8f3k-2m9x", (secret) => `recovery codes: ${secret}, q7w2-n4vb`],
  ["QX7B2-K9M4P-W3T8R-Y6N1C-D5H0J", (secret) => `the license key ${secret}`],
  ["tulip-k9", (secret) => `| user | password |\n|---|---|\n| app | ${secret} |\n`],
  ["QuietLake47", (secret) => `CREATE USER 'app'@'%' IDENTIFIED BY '${secret}'`],
];

describe("planted secrets", () => {
  it("stay in the transcript", async () => {
    await using home = await createHandoffHome();
    await home.open();
    const texts = PLANTED.map(([secret, written = (text: string) => text]) => written(secret));
    for (let index = 0; index < texts.length; index += 3) {
      await home.say(texts.slice(index, index + 3).flatMap(messagesWith));
      await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
      await home.handoff.settled();
    }
    await home.next();
    const offer = await home.offer();
    expect(offer?.text).toContain("[redacted]");

    const { root } = agentLayout(home.fixture.home, "main").handoff;
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(PLANTED.length / 3);
    const places = new Map(
      files.map(({ parentPath, name }) => join(parentPath, name)).map((path) => [path, readFileSync(path, "utf8")]),
    );
    places.set("the store", JSON.stringify(await home.agent.store.handoffs.get(KEY)));
    places.set("the offer", offer?.text ?? "");
    places.set("the log", home.log.join(""));
    const leaks = PLANTED.flatMap(([secret]) =>
      Array.from(places).flatMap(([place, text]) => (text.includes(secret) ? [`${secret} in ${place}`] : [])),
    );
    expect(leaks).toEqual([]);
    // Nor half of one, cut before it was recognised.
    const halves = PLANTED.filter(([secret]) => secret.length >= 24).flatMap(([secret]) =>
      Array.from(places).flatMap(([place, text]) =>
        text.includes(secret.slice(-16)) ? [`the end of ${secret} in ${place}`] : [],
      ),
    );
    expect(halves).toEqual([]);
  });
});

/** As all kinds of notes. */
function messagesWith(text: string): string[] {
  return [
    `The deployment is blocked: the server refuses ${text}`,
    `<We decided to use ${text} for the build. Next step: rotate ${text}`,
    `Please implement the login with ${text} and commit it to src/login.ts.`,
    `<I'm working on the login with ${text} now; the tests are failing with ${text}`,
  ];
}

/** Letters and digits, always the same ones. */
function random(length: number): string {
  const alphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  let state = length * 7919;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet.charAt(Math.floor(state / 65_536) % alphabet.length);
  }).join("");
}
