/** What redaction promises. `redact-cases.test.ts` has more secrets and ordinary text, by kind. */
import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactText, redactValue } from "./redact.ts";

const KEY = "5f0e93b1c7d24a68".repeat(4);

/** Each secret is between ⟦ and ⟧. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "private keys in hex": [`private key 0x⟦${KEY}⟧`, `My private key:\n0x⟦${KEY}⟧`, `DEPLOYER_PRIVATE_KEY=⟦${KEY}⟧`],
  "variables before a command": ["PGPASSWORD=⟦word⟧ psql -h db -U app", "PGPASSWORD='⟦two words⟧' pg_dump app"],
  "define in PHP": ["define('DB_PASSWORD','⟦lollipop⟧');", 'define( "FTP_PASS", "⟦lemonade⟧" )'],
  "columns of a table": [
    "| host | user | password |\n|---|---|---|\n| db1 | root | ⟦Quagga⟧ |\n| db2 | app | ⟦tapir-hill⟧ |",
    "user,password\nada,⟦cardamom⟧",
    "INSERT INTO users (name, password) VALUES ('ada', '⟦cardamom⟧')",
  ],
  "a label with the value below": ["Password:\n\n⟦thunderbird⟧", "**Password:**\n\n`⟦dandelion⟧`"],
  "the password is": ["the password is ⟦Marzipan-Falcon⟧", "the wifi password is ⟦huckleberry⟧, enjoy"],
  "as the password": ["use ⟦hunter2⟧ as the password", "please use ⟦kestrel⟧ as the root password for now"],
  "sign in as": ["sign in as x with ⟦Penguin!Parade⟧", "log in as root with ⟦Toucan#1⟧ and check the disk"],
  "secret stores": ["gh secret set X --body ⟦raspberry⟧", 'gh secret set API_KEY -b"⟦blackcurrant⟧"'],
  "Mailgun keys": ["key-⟦3ax6xnjp29jd6fds4gc373sgvjxteol0⟧"],
  "invisible characters": ["pass\u200bword: ⟦chrysanthemum⟧", "the p\u200cass\u200dword is ⟦Gardenia-4⟧"],
  "a new password": ["set the password to ⟦kitten⟧", "The root password was changed to ⟦tangerine⟧."],
};

/** What looks the same and is none. */
const ORDINARY: readonly string[] = [
  `transaction 0x${KEY} was mined`,
  'PGPASSWORD="${DB_PASSWORD}" psql -h db',
  "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
  "| user | password | comment |\n|---|---|---|\n| eva | expired | see vault |",
  "Password:\n\nUse at least 12 characters.",
  "the password is case-sensitive",
  "the password is wrong, and the token was lost",
  "use bcrypt as the password hasher",
  "sign in as eva with Google",
  'gh secret set NPM_TOKEN --body "$NPM_TOKEN"',
  "key-components-of-the-new-design-system",
  "👨\u200d👩\u200d👧 the pass\u00adword is wrong",
  "set the password to expire",
  "AKIAIOSFODNN7EXAMPLE",
  'secret: "***REMOVED***"',
  "inputTokens: 190000, max_tokens=4096",
  "commit 3f2a91b76c1de08b5a290d7e1c4f68390a1b2c3d",
  '{"sessionId":"9144d6d5-0559-4de5-94fb-5fe450286816","sessionKey":"agent:main:telegram:dm:1001"}',
  "-home-ada-Projects-Webshop2-packages-checkout3",
  `"integrity": "sha512-${random(43)}/${random(42)}=="`,
  `data:image/png;base64,${random(200)}`,
  `toolu_01${random(22)}`,
  `-----BEGIN CERTIFICATE-----\n${random(64)}\n-----END CERTIFICATE-----`,
  `-----BEGIN PUBLIC KEY-----\n${random(64)}\n-----END PUBLIC KEY-----`,
];

const SHAPES: readonly string[] = [
  "sk-ant-api03- sk-proj- ghp_ github_pat_ glpat- npm_ AIza ya29. xoxb- gsk_ dckr_pat_ figd_ sntrys_ ntn_".split(" "),
  "pscale_tkn_ glc_ fo1_ sq0atp- tskey-auth- lsv2_pt_ squ_ re_12345678_ xnd_live_ duffel_test_ dbtc_ hcaik_".split(" "),
].flatMap((prefixes) => prefixes.map((prefix) => prefix + random(40)));
const HEX_SHAPES = ["dop_v1_", "SK", "dapi", "shpat_", "sk_", "pul-"].map((prefix) => prefix + KEY.slice(32));
const OTHER_SHAPES: readonly string[] = [
  `eyJ${random(20)}.${random(40)}`,
  `123456789:${random(35)}`,
  // From unknown vendors.
  random(32),
  `zzq_${random(36)}`,
  `${random(30)}/${random(30)}+${random(26)}==`,
];

/** Repeated, each of them would keep an unbounded expression busy. */
const HOSTILE: readonly string[] = [
  "a|a-|)]}|a\u200b|eyJaaaaaaaa-|A1b2C3d4E5f6G7h8I9j0K1l2M3.|://a:|cookie: a=|gh secret set X ",
  "password |password is |Password:\n\n|secret\n|\nsecrets:\na: b|password,a\n|use it as the password ",
  "-----BEGIN PRIVATE KEY-----\n|sign in as x with |pin is 1234 |seed: able |totp abcd |connect('a', 'b', |a / |[redacted] to ",
  "what password?\nbob: |enter the password |the token a: |\tTRUE\t/\tTRUE\t0\t|p a s s |password  user  \n",
  `password${" ".repeat(40)}|${"0f".repeat(16)}" // my |seed phrase\n1. able\n2. |asks for a password so just type |door code a, |« a »|a@b:|auth=|password: "a" + |cat a_key\n`,
  "password, it's |password. Type |passphrase is a |enter ab-c when |user a, password |log in with a / |use it |the code for a ",
].flatMap((pieces) => pieces.split("|"));

describe("redactText", () => {
  it.each([
    [`key sk-ant-${"a1B2".repeat(8)} end`, "key sk-ant-[redacted] end"],
    ["AKIAIOSFODNN7QZWTRUV", "AKIA[redacted]"],
    [
      `https://api.telegram.org/bot7123456789:${"Ab-_9".repeat(7)}/getMe`,
      "https://api.telegram.org/bot[redacted]/getMe",
    ],
    [`http://127.0.0.1:7433/#token=${"k".repeat(43)}`, "http://127.0.0.1:7433/#token=[redacted]"],
    [`Authorization: Bearer ${"t".repeat(30)}`, "Authorization: Bearer [redacted]"],
    ["Cookie: theme=dark; sid=9bfrgey2456kg62a72dyjsdi", "Cookie: [redacted]"],
    ["postgres://user:hunter2secret@db/app", "postgres://user:[redacted]@db/app"],
    [`https://${"ab1".repeat(10)}@github.com/a/b.git`, "https://[redacted]@github.com/a/b.git"],
    ["Server=db;User ID=sa;Password=S3cr3tPa55;Encrypt=true", "Server=db;User ID=sa;Password=[redacted];Encrypt=true"],
    ["the password is hunter2!", "the password is [redacted]"],
    ["mysql --password hunter2x -h db", "mysql --password [redacted] -h db"],
    ['{"api_key":"abcdef123456"}', '{"api_key":"[redacted]"}'],
    [String.raw`{\"password\":\"k9-Tulip\"}`, String.raw`{\"password\":\"[redacted]\"}`],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]"],
    [`-----BEGIN RSA PRIVATE KEY-----\n${random(64)}`, "-----BEGIN RSA PRIVATE KEY-----\n[redacted]"],
  ])("removes %j", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  describe.each(Object.entries(TOLD))("%s", (_, told) => {
    it.each(told)("finds the secret in %j", (text) => {
      for (const before of ["", "We decided to go with this: ", "see below\n"]) {
        const redacted = redactText(before + text.replaceAll(/[⟦⟧]/g, ""));
        for (const [, secret = ""] of text.matchAll(/⟦(.+?)⟧/g)) expect(redacted).not.toContain(secret);
      }
    });
  });

  it.each([...SHAPES, ...HEX_SHAPES, ...OTHER_SHAPES])("finds %j by its shape", (secret) => {
    for (const text of [secret, `the deploy fails with ${secret}, look`, `"${secret}"`, `a\\n${secret}\\nb`]) {
      expect(redactText(text)).not.toContain(secret.slice(-12));
    }
  });

  it.each(ORDINARY)("leaves %j alone", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("keeps invisible characters that hide nothing", () => {
    expect(redactText("password: k9-Tulip, می\u200cخواهم")).toBe("password: [redacted], می\u200cخواهم");
  });

  it.each(["password: ", "the pwd is "])("looks through an invisible character anywhere in %j", (label) => {
    for (const at of label.split("").keys()) {
      const start = `می\u200cخواهم ${label.slice(0, at)}\u200b${label.slice(at)}`;
      expect(redactText(`${start}Velvet.Otter`).replaceAll("\u200b", "")).toBe(`می\u200cخواهم ${label}[redacted]`);
    }
  });

  it("takes typographic quotes for quotes and keeps them", () => {
    expect(redactText("the nas’s password is “kitten”, „she“ said")).toBe(
      "the nas’s password is “[redacted]”, „she“ said",
    );
    expect(redactText("mot de passe : « Grenouille-22 » – ok")).toBe("mot de passe : « [redacted] » – ok");
    expect(redactText("パスワード：「Sakura2020!」です")).toBe("パスワード：「[redacted]」です");
  });

  it("does not change redacted text", () => {
    const told = Object.values(TOLD).flat();
    const pieces = fc.oneof(
      fc.constantFrom(...SHAPES, ...told.map((text) => text.replaceAll(/[⟦⟧]/g, "")), ...ORDINARY),
      fc.string({ maxLength: 12 }),
      fc.constantFrom(":", "=", '"', "is", "|", ","),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), fc.constantFrom(" ", "\n"), (parts, between) => {
        const once = redactText(parts.join(between));
        expect(redactText(once)).toBe(once);
      }),
    );
  });

  it("redacts long tables to the end", () => {
    const rows = "b,c1d2e,f3g4h\n".repeat(10_000);
    const safe = "b,[redacted],[redacted]\n".repeat(10_000);
    expect(redactText(`a,password,pwd\n${rows}`)).toBe(`a,password,pwd\n${safe}`);
  });

  it.each(HOSTILE)("takes linear time for much of %j", (piece) => {
    expect(redactInTime(piece.repeat(Math.ceil(100_000 / piece.length)))).toMatch(/\S/);
  });

  it("takes linear time for any mixture of words and signs", () => {
    const words = "password token key is to as with log in admin secrets: cookie: ssh it's the a B 7 → é".split(" ");
    const pieces = fc.constantFrom(...words, ...Array.from("-_.:=/@|,(\"'\n\t "));
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 8 }), (parts) => {
        const piece = parts.join("");
        expect(redactInTime(piece.repeat(Math.ceil(50_000 / piece.length)))).not.toBe("");
      }),
      { numRuns: 10 },
    );
  });

  it.each(["eyJ", "bearer ", "password="])("handles a long word after %j", (start) => {
    const text = `${start}${"a".repeat(200_000)}`;
    expect(redactInTime(text).length).toBeGreaterThan(text.length - 10_000);
  });
});

describe("redactValue", () => {
  it("redacts strings, and whole fields whose names promise a secret", () => {
    expect(
      redactValue({ a: [`sk-${"a".repeat(20)}`], authToken: "abc", totalTokens: 5, nested: { password: "x" } }),
    ).toEqual({ a: ["sk-[redacted]"], authToken: "[redacted]", totalTokens: 5, nested: { password: "[redacted]" } });
  });

  it("redacts the value that belongs to a name", () => {
    expect(redactValue({ name: "DB_PASSWORD", value: "x" })).toEqual({ name: "DB_PASSWORD", value: "[redacted]" });
  });

  it("recognises field names with invisible characters", () => {
    expect(redactValue({ "pass\u200bword": "x" })).toEqual({ "pass\u200bword": "[redacted]" });
  });
});

/** Linear time takes less than a second for these texts, quadratic time minutes. Waiting for a processor is free. */
function redactInTime(text: string): string {
  const started = process.cpuUsage();
  const redacted = redactText(text);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(5000);
  return redacted;
}

/** Letters and digits, the same on every run. */
function random(length: number): string {
  const alphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  let state = length * 7919;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet.charAt(Math.floor(state / 65_536) % alphabet.length);
  }).join("");
}

it("works in expressions that V8 does not optimize", () => {
  // V8 stops optimizing once a process has many expressions, and then mishandles modifiers such as `(?i:…)`.
  const texts = ["password: CHANGEME", "The password is Base64-encoded.", "PASSWORD: Tulip-Tango7"];
  const program = `import { redactText } from ${JSON.stringify(new URL("redact.ts", import.meta.url).href)};
    console.log(JSON.stringify(${JSON.stringify(texts)}.map(redactText)));`;
  const options = ["--no-regexp-optimization", "--input-type=module", "--eval", program];
  const printed = execFileSync(process.execPath, options, { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([...texts.slice(0, 2), "PASSWORD: [redacted]"]);
});
