/** Which secrets are removed and which text stays. Every secret is made up and built in the code. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactText, redactValue } from "./redact.ts";

/** Writes a secret into a text. */
type Written = (secret: string) => string;

const SHAPES: readonly string[] = [
  ...["dckr_pat_", "figd_", "sntrys_", "ntn_", "pscale_tkn_", "pscale_pw_", "glc_", "fo1_", "fm2_", "sq0atp-"].map(
    (prefix) => prefix + random(40),
  ),
  ...["tskey-auth-", "nvapi-", "pcsk_", "xkeysib-", "lsv2_pt_", "tfp_", "sgp_", "rdme_", "rzp_live_", "phx_"].map(
    (prefix) => prefix + random(40),
  ),
  ...["bkua_", "rubygems_", "dop_v1_", "pul-", "key-", "SK", "dapi", "shpat_", "sk_"].map((prefix) => prefix + hex(32)),
  `glsa_${random(32)}_${hex(8)}`,
  `CCIPAT_${random(22)}_${hex(40)}`,
  `PMAK-${hex(24)}-${hex(34)}`,
  `secret_${random(43)}`,
  `pat${random(14)}.${hex(64)}`,
  `${random(14)}.atlasv1.${random(60)}`,
  `${hex(32)}-us12`,
  `${random(3)}8Q~${random(34)}`,
  `AKCp8${random(68)}`,
  `EAAC${random(60)}`,
  `eyJ${random(20)}.${random(40)}`,
  // From unknown vendors.
  random(32),
  random(48),
  `zzq_${random(36)}`,
  `${random(30)}/${random(30)}+${random(26)}==`,
];

const PLACES: readonly (readonly [secret: string, written: Written])[] = [
  // Settings, data and code.
  [random(40), (secret) => `CF_API_TOKEN: ${secret}`],
  [`s.${random(24)}`, (secret) => `export VAULT_TOKEN=${secret}`],
  [hex(32), (secret) => `DD_API_KEY=${secret}`],
  ["plainlyaword", (secret) => `CLIENT_SECRET=${secret}`],
  ["k9-Tulip", (secret) => `db:\n  user: app\n  password: ${secret}\n  host: x`],
  ["k9-Tulip", (secret) => `password: |\n  ${secret}\n`],
  ["with 3 spaces", (secret) => `DB_PASSWORD="${secret}"`],
  ["k9-Tulip", (secret) => `{"user":"a","password":"${secret}"}`],
  ["k9-Tulip", (secret) => String.raw`{\"user\":\"a\",\"password\":\"${secret}\"}`],
  ["k9-Tulip", (secret) => `- name: DB_PASSWORD\n  value: ${secret}`],
  ["k9-Tulip", (secret) => `{"name": "DB_PASSWORD", "value": "${secret}"}`],
  ["k9-Tulip", (secret) => `'password' => '${secret}',`],
  ["k9-Tulip", (secret) => `clientSecret = "${secret}"`],
  ["k9-Tulip", (secret) => `client.setPassword("${secret}")`],
  ["k9-Tulip", (secret) => `<password>${secret}</password>`],
  ["k9-Tulip", (secret) => `<add key="DbPassword" value="${secret}"/>`],
  ["k9-Tulip", (secret) => `| user | a |\n| password | ${secret} |`],
  ["k9-Tulip", (secret) => `**Password:** ${secret}`],
  ["k9,Tul;ip", (secret) => `PGPASSWORD=${secret} psql`],
  [
    random(64),
    (secret) => `PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n${random(64)}\n${secret}\nPrivate-MAC: 0`,
  ],
  [random(64), (secret) => `${random(64)}\n${secret}\n-----END RSA PRIVATE KEY-----`],
  // Headers and addresses.
  [random(32), (secret) => `Fastly-Key: ${secret}`],
  [random(42), (secret) => `Authorization: SSWS ${secret}`],
  ["YTpiYw==", (secret) => `Authorization: Basic ${secret}`],
  [random(40), (secret) => `Cookie: theme=dark-mode; session=${secret}; lang=en`],
  [`${random(43)}%3D`, (secret) => `https://a.example.net/c?sv=2022-11-02&sig=${secret}`],
  [hex(64), (secret) => `https://b.example.com/o?X-Amz-Expires=60&X-Amz-Signature=${secret}`],
  ["k9-Tulip", (secret) => `jdbc:postgresql://db/x?user=app&password=${secret}&ssl=true`],
  ["k9/Tu@lip", (secret) => `amqps://mq:${secret}@mq.internal/vh`],
  [hex(24), (secret) => `https://hooks.example.com/catch/12345/${secret}`],
  // Commands.
  ["k9Tulip", (secret) => `curl -s -u admin:${secret} https://x.example`],
  ["k9Tulip", (secret) => `sshpass -p ${secret} ssh root@h`],
  ["k9Tulip", (secret) => `mysql -uroot -p${secret} shop`],
  ["k9Tulip", (secret) => `redis-cli -h cache -a ${secret} ping`],
  ["k9Tulip", (secret) => `docker login -u me -p ${secret} registry.example`],
  ["k9Tulip", (secret) => `mongosh -u me -p ${secret}`],
  ["k9Tulip", (secret) => `sqlcmd -S db -U sa -P ${secret}`],
  ["k9Tulip", (secret) => `openssl rsa -in k.pem -passin pass:${secret}`],
  ["k9Tulip", (secret) => `echo 'bob:${secret}' | chpasswd`],
  ["k9Tulip", (secret) => `machine api.example login bob password ${secret}`],
  ["k9Tulip", (secret) => `keytool -list -storepass ${secret}`],
  ["k9Tulip", (secret) => `vault login --token ${secret}`],
  // Sentences.
  ["k9Tulip!", (secret) => `the root password is now ${secret}`],
  ["tulip-88", (secret) => `password for staging: ${secret}`],
  ["k9Tulip", (secret) => `my pw is ${secret}`],
  ["k9Tulip", (secret) => `use ${secret} as the password`],
  ["k9Tulip", (secret) => `the passphrase for the key is "${secret}"`],
  ["justletters", (secret) => `the admin password is "${secret}"`],
  ["k9Tulip_z", (secret) => `the user is app and its password ${secret} stopped working`],
  ["k9Tulip_z", (secret) => `client secret ${secret}`],
  ["k9Tulip", (secret) => `changed the password from ${secret} to another`],
  ["k9Tulip", (secret) => `changed the password from old4Rose to ${secret}`],
  ["k9Tulip", (secret) => `creds are admin:${secret}`],
  ["k9Tulip!", (secret) => `log in with admin / ${secret}`],
  ["tulip2026", (secret) => `she told me the wifi password, ${secret}`],
  ["492817", (secret) => `your one-time code is ${secret}`],
  ["8841", (secret) => `the PIN is ${secret}`],
  ["JBSW2DPEHPK3PXPA", (secret) => `the TOTP seed is ${secret}`],
  ["k9Tulip", (secret) => `das Passwort lautet ${secret}`],
  ["k9Tulip", (secret) => `das neue Kennwort für den Server ist ${secret}`],
  ["k9Tulip", (secret) => `le mot de passe est ${secret}`],
  ["k9Tulip", (secret) => `la contraseña es ${secret}`],
  ["k9Tulip", (secret) => `a senha é ${secret}`],
  ["k9Tulip", (secret) => `пароль: ${secret}`],
  ["k9Tulip", (secret) => `密码是${secret}`],
  [
    "legal winner thank year wave sausage worth useful legal winner thank yellow",
    (secret) => `my recovery phrase is ${secret}`,
  ],
];

/** Text that hand-offs need, and text about secrets that contains none. */
const ORDINARY: readonly string[] = [
  "the password is wrong",
  "the password is case-sensitive and the token was lost",
  "reset the token, then try the api key rotation",
  "token: string",
  "passwordHash",
  "pass: 12 tests",
  "auth: OAuth",
  "secret santa",
  "const token = readToken()",
  "password: z.string()",
  "password: z.string().min(8), token: z.string().optional()",
  "const secret = process.env.API_SECRET ?? options.secret;",
  "password: req.body.password,",
  "if (token === undefined) return token?.text;",
  "tokens.map((token) => token.text)",
  "expect(totalTokens).toBe(200)",
  "inputTokens: 190000, max_tokens=4096",
  "the token limit is 200k and the token usage was 45k",
  "DB_PASSWORD=${DB_PASSWORD} and PASSWORD=$PASSWORD and token: <your-token>",
  "password: ********",
  "the password in 1password is wrong",
  "the password form lives in src/auth/login2.tsx",
  "password_file=/run/secrets/db2",
  "the password reset for user42 fails since v2.1.0",
  "the password is hashed with argon2id, the token signed with HS256",
  "the secret was committed in 0a1b2c3d4e",
  "the key is `userId`, the sort key: createdAt",
  "the exit code is 1234 and the country code is 0049",
  "pin node to 24.1.0",
  "docker run -p 8080:80 nginx",
  "mkdir -p src/base2 && cp -a lib2 src",
  "ssh -p 2222 host",
  "mysql -u root -p shop",
  "curl -u $USER:$PASS https://x.example",
  "npm login, then npm publish",
  "http://127.0.0.1:7433/users/@me",
  "https://docs.example.com/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms/edit",
  "https://github.com/acme/shop/settings/hooks/123456",
  "import { capture } from '../../hooks/claude-code/capture-requests2.ts'",
  "id 9144d6d5-0559-4de5-94fb-5fe450286816",
  '{"sessionId":"9144d6d5-0559-4de5-94fb-5fe450286816","sessionKey":"agent:main:telegram:dm:1001"}',
  `commit ${hex(40)}`,
  `sha256:${hex(64)}`,
  `"integrity": "sha512-${random(43)}/${random(42)}=="`,
  `data:image/png;base64,${random(200)}`,
  `https://docs.example.com/d.${random(30)}.${random(34)}:${random(36)}`,
  `./build/${random(30)}.${random(34)}`,
  `toolu_01${random(22)}`,
  "torn-2026-11-15T12-00-00.000Z",
  "createSqliteSessionStoreWithRetriesV2AndBackOff",
  "-home-ada-Projects-Webshop2-packages-checkout3",
  "claude-opus-4-5-20251101",
  'HEARTBEAT_TOKEN = "HEARTBEAT_OK"',
  "the secret garden",
  "a password is needed",
  "sk-ip",
  "password: needed for the login",
  "Das Passwort ist falsch, der Token ist abgelaufen.",
  "le mot de passe est incorrect",
];

describe("redactText", () => {
  it.each([
    [`key sk-ant-${"a1B2".repeat(8)} end`, "key sk-ant-[redacted] end"],
    [`ghp_${"q".repeat(36)}`, "ghp_[redacted]"],
    [`github_pat_${"y".repeat(40)}`, "github_pat_[redacted]"],
    ["AKIAIOSFODNN7EXAMPLE", "AKIA[redacted]"],
    [
      `https://api.telegram.org/bot7123456789:${"Ab-_9".repeat(7)}/getMe`,
      "https://api.telegram.org/bot[redacted]/getMe",
    ],
    [`MTk4${"Ab9_".repeat(5)}.Cl2FMQ.${"xY-7".repeat(7)}`, "[redacted]"],
    [`http://127.0.0.1:7433/#token=${"k".repeat(43)}`, "http://127.0.0.1:7433/#token=[redacted]"],
    ["token = short-word, 1794765898695:ok", "token = short-word, 1794765898695:ok"],
    ["xoxb-1234567890-abcdef", "xoxb-[redacted]"],
    [`Authorization: Bearer ${"t".repeat(30)}`, "Authorization: Bearer [redacted]"],
    ["postgres://user:hunter2secret@db/app", "postgres://user:[redacted]@db/app"],
    ["password = correcthorse", "password = [redacted]"],
    ["redis://:hunter2secret@cache:6379", "redis://:[redacted]@cache:6379"],
    [`https://${"ab1".repeat(10)}@github.com/a/b.git`, "https://[redacted]@github.com/a/b.git"],
    [`aws_secret_access_key = ${"aB3/".repeat(10)}`, "aws_secret_access_key = [redacted]"],
    [`the secret key ${"aB3/".repeat(10)}, which`, "the secret key [redacted], which"],
    ["Server=db;User ID=sa;Password=S3cr3tPa55;Encrypt=true", "Server=db;User ID=sa;Password=[redacted];Encrypt=true"],
    ["the password is hunter2!", "the password is [redacted]"],
    ["the password is wrong, and the token was lost", "the password is wrong, and the token was lost"],
    ["mysql --password hunter2x -h db", "mysql --password [redacted] -h db"],
    [`the secret was committed in ${"0a1b".repeat(10)}`, `the secret was committed in ${"0a1b".repeat(10)}`],
    ['{"api_key":"abcdef123456"}', '{"api_key":"[redacted]"}'],
    [`123456789:${"A".repeat(35)}`, "[redacted]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]"],
  ])("removes %j", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it.each(SHAPES)("finds %j by its shape", (secret) => {
    for (const text of [secret, `the deploy fails with ${secret}, look`, `"${secret}"`, `a\\n${secret}\\nb`]) {
      expect(redactText(text)).not.toContain(secret.slice(-12));
    }
  });

  it.each(PLACES)("finds %j by its context", (secret, written) => {
    for (const before of ["", "We decided to go with this: ", "Error: refused for "]) {
      expect(redactText(before + written(secret))).not.toContain(secret);
    }
  });

  it.each(ORDINARY)("leaves %j alone", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("does not change redacted text", () => {
    const words = [...SHAPES, ...PLACES.map(([secret, written]) => written(secret)), ...ORDINARY];
    const pieces = fc.oneof(
      fc.constantFrom(...words),
      fc.string({ maxLength: 12 }),
      fc.constantFrom(":", "=", '"', "is"),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), fc.constantFrom(" ", "\n"), (parts, between) => {
        const once = redactText(parts.join(between));
        expect(redactText(once)).toBe(once);
      }),
    );
  });

  it("takes linear time for long lines", () => {
    for (const piece of ["a-", "a.", "eyJaaaaaaaa-", "://a:", "password ", "-----BEGIN ", "bearer "]) {
      const text = piece.repeat(Math.ceil(100_000 / piece.length));
      expect(redactInTime(text)).toBe(text);
    }
    const run = "A1b2C3d4E5f6G7h8I9j0K1l2M3";
    for (const divider of [".", ":", ","]) {
      const text = `${run}${divider}`.repeat(4000);
      expect(redactInTime(text)).toBe(`[redacted]${divider}`.repeat(4000));
      expect(redactInTime(`x://a.${text}`)).toContain(`x://a.${run}${divider}`);
    }
  });

  it.each([
    ...Array.from("aA0 \n\t-_./\\\"'`=:@|,;([{<$é日"),
    "aB1",
    "a ",
    "a-",
    "a@b.c:",
    "curl -u ",
    "code is 1",
    "x as the password ",
  ])("takes linear time for many of %j", (piece) => {
    expect(redactInTime(piece.repeat(Math.ceil(100_000 / piece.length))).length).toBeGreaterThan(0);
  });

  it("takes linear time for any mixture of words and signs", () => {
    const words = "password token key is to as with log in admin secrets: cookie: ssh it's the a B 7 → é".split(" ");
    const pieces = fc.constantFrom(...words, ...Array.from("-_.:=/@|,(\"'\n\t "));
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 8 }), (parts) => {
        const piece = parts.join("");
        expect(redactInTime(piece.repeat(Math.ceil(100_000 / piece.length)))).not.toBe("");
      }),
      { numRuns: 30 },
    );
  });

  it.each(["sk-", "eyJ", "bearer ", "password=", "://a:"])("handles a megabyte without a break after %j", (start) => {
    const text = `${start}${"a".repeat(1_000_000)}`;
    expect(redactText(text).length).toBeGreaterThan(text.length - 10_000);
  });

  it("redacts values, and whole fields whose names promise a secret", () => {
    expect(
      redactValue({ a: [`sk-${"a".repeat(20)}`], authToken: "abc", totalTokens: 5, nested: { password: "x" } }),
    ).toEqual({
      a: ["sk-[redacted]"],
      authToken: "[redacted]",
      totalTokens: 5,
      nested: { password: "[redacted]" },
    });
  });
});

/** Linear time takes well under a second for 100 kB, quadratic time many seconds. Waiting for a processor is free. */
function redactInTime(text: string): string {
  const started = process.cpuUsage();
  const redacted = redactText(text);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000);
  return redacted;
}

/** Letters and digits, the same on every run. */
function random(length: number): string {
  return drawn(length, "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789");
}

function hex(length: number): string {
  return drawn(length, "0123456789abcdef");
}

function drawn(length: number, alphabet: string): string {
  let state = length * 7919;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet.charAt(Math.floor(state / 65_536) % alphabet.length);
  }).join("");
}
