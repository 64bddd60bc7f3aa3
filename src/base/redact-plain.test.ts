/** Secrets that are ordinary words, found only by their context, and ordinary text that looks the same. */
import { describe, expect, it } from "vitest";
import { redactText, redactValue } from "./redact.ts";

const HEX = "5f0e93b1c7d24a68".repeat(4);
const BASE36 = "3ax6xnjp29jd6fds4gc373sgvjxteol0";

/** Each secret is between ⟦ and ⟧. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "keys in hex": [
    `private key 0x⟦${HEX}⟧`,
    `private key ⟦${HEX.toUpperCase()}⟧`,
    `My private key:\n0x⟦${HEX}⟧`,
    `the wallet's private key is 0x⟦${HEX}⟧, keep it safe`,
    `privkey 0x⟦${HEX}⟧`,
  ],
  "variables before a command": [
    "PGPASSWORD=⟦marzipan⟧ psql -h db.internal -U app",
    "SSHPASS=⟦gibbon⟧ sshpass -e ssh root@host",
    "REDISPASSWORD=⟦otter⟧ redis-server",
    "RESTIC_PASSWORD=⟦butterscotch⟧ restic snapshots",
  ],
  calls: [
    "define('DB_PASSWORD','⟦giraffe-lamp⟧');",
    "'password' => '⟦gooseberry.tart⟧',",
    'variable "db_password" {\n  default = "⟦hazel-and-oak⟧"\n}',
    '"auth": "⟦YXBwOm1vb25iZWFt⟧"',
    "ENV DB_PASSWORD ⟦gargoyle⟧",
    "Cookie: theme=dark; sessionid=⟦9bfrgey2456kg62a72dyjsdirp28luef⟧; lang=en",
    'url.UserPassword("app", "⟦g4rgoyle⟧")',
    "define('DB_PASSWORD', '⟦lollipop⟧');",
    'define("FTP_PASS","⟦lemonade⟧")',
    'let api_key: &str = "⟦zx81-spectrum-99⟧";',
    'const apiToken: string = "⟦zx81-spectrum-99⟧";',
    "ALTER USER app WITH PASSWORD '⟦Chestnut⟧';",
    "create role app login encrypted password '⟦dahlia⟧'",
    'if (password === "⟦sycamore⟧") open();',
  ],
  tables: [
    "| host | user | password |\n|---|---|---|\n| db1 | root | ⟦Quagga⟧ |\n| db2 | app | ⟦tapir-hill⟧ |",
    "| Login | Kennwort |\n| --- | --- |\n| ada | ⟦Regenbogen⟧ |",
    "| App | Client secret |\n|:-:|:-:|\n| crm | ⟦a8f3-mango-22⟧ |",
    "| Service | API token |\n| :-- | --: |\n| mail | ⟦plum-torch-11⟧ |",
    "user\tpassword\nada\t⟦cardamom⟧",
  ],
  "labels with the value below": [
    "Password:\n\n⟦thunderbird⟧",
    "Username: eva\nPassword:\n\n\n  ⟦silverfish-2⟧",
    "Your new password:\r\n\r\n⟦Moonraker⟧\r\n",
    "**Password:**\n\n`⟦dandelion⟧`",
    "API token:\n```\n⟦sandpiper-88-xyz⟧\n```",
    "user: eva\npass: ⟦lavender⟧",
  ],
  sentences: [
    "the password is ⟦Marzipan-Falcon⟧",
    "the admin password is ⟦VelvetHammer⟧, don't share it",
    "use ⟦hunter2⟧ as the password",
    "please use ⟦kestrel⟧ as the root password for now",
    'use "⟦dormouse⟧" as the password',
    "sign in as x with ⟦Penguin!Parade⟧",
    "log in as root with ⟦Toucan#1⟧ and check the disk",
    "please sign in as ops@x.io using ⟦Sun$flower⟧",
    "set the password to ⟦kitten⟧",
    "I have changed the root password to ⟦Toffee-Apple⟧",
    "Set the admin password to ⟦marmot⟧ for now",
    "The root password was changed to ⟦tangerine⟧.",
    "the password is now ⟦Velvet-Tiger⟧",
    "The password for staging is ⟦copper-kettle-window⟧",
    "login as admin with ⟦Pepper&Salt⟧",
    "my wifi password is ⟦huckleberry⟧",
    "the password for the NAS: ⟦gooseneck⟧",
    "password's ⟦Velveteen⟧",
    "it's the usual password, ⟦Orchid!Lane⟧",
    "They rotated the password, it's now ⟦b4rnacle7⟧",
    "user: admin pass: ⟦horseradish⟧",
    "connect with user `backup` and password `⟦sassafras⟧`",
    "ssh root@10.0.0.8 with password ⟦moonbeam⟧",
    "creds are root:⟦wheelbarrow⟧ on 10.2.3.4",
    "ssh in with pi / ⟦gooseberry-fool⟧",
    "type ⟦Quartz-Lamp-19⟧ when it asks for the passphrase",
    'the passphrase was "⟦a kettle of grey paint⟧"',
    "What's the password?\n⟦Pr1mrose-hill⟧",
  ],
  commands: [
    "gh secret set NPM_TOKEN --body ⟦raspberry⟧",
    'gh secret set API_KEY -b"⟦blackcurrant⟧"',
    "gh secret set KEY --body='⟦logan berry⟧' --repo a/b",
    "az keyvault secret set --vault-name v --name n --value ⟦lobster⟧",
    "aws secretsmanager create-secret --name a --secret-string ⟦penguin⟧",
    "fly secrets set STRIPE=⟦llama⟧",
    "kubectl create secret generic db --from-literal=pw=⟦ibex⟧",
    "wrangler secret put API_KEY <<< ⟦tamarind⟧",
    "echo ⟦mulberry⟧ | docker login -u eva --password-stdin",
    "snowsql --password '⟦two words⟧'",
  ],
  "tokens of vendors": [`key-⟦${BASE36}⟧`, `auth=('api', 'key-⟦${BASE36}⟧')`],
  "invisible characters": [
    "pass\u200bword: ⟦chrysanthemum⟧",
    "the p\u200cass\u200dword is ⟦Gardenia-4⟧",
    "api\u2060_key=⟦edelweiss-9⟧",
    "pass\u00adword=⟦camellia⟧",
    "tok\ufeffen: ⟦azalea-31-q⟧",
    "password\u200b: ⟦begonia⟧",
  ],
};

const ORDINARY: Readonly<Record<string, readonly string[]>> = {
  "keys in hex": [
    "private key rotation is due in March",
    "private key 0x… is what it printed",
    `transaction 0x${HEX} was mined`,
    "wallet address 0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
    `sha256 ${HEX}`,
  ],
  "variables before a command": [
    'PGPASSWORD="${DB_PASSWORD}" psql -h db',
    "PGPASSWORD=$(cat /run/secrets/db) psql",
    "DB_PASSWORD= npm test",
    "AUTH_METHOD=password npm start",
    "PASSWORD_MIN_LENGTH=12 npm start",
    "TOKENIZER=fast npm test",
    "BYPASS=enabled npm start",
  ],
  calls: [
    "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
    "define('PASSWORD_LABEL', 'Password');",
    'password: "Must not be empty"',
    'password: "{{ vault_password }}"',
    "auth: enabled",
    "const token = readToken('telegram', accountId)",
    "function open(private_key: Uint8Array): void",
    "amqp://guest:guest@localhost/",
    "define('MAX_TOKENS', '4096');",
    "const apiKey: string = process.env.API_KEY!;",
    "password: Optional[str] = None",
    "password: !vault |",
    "if (password === confirmPassword) submit();",
    "if (password == expected) return true;",
    "CREATE ROLE app LOGIN PASSWORD NULL;",
    "ALTER TABLE users ADD password 'text'",
  ],
  tables: [
    "| Method | Password | Passkey |\n|---|---|---|\n| speed | slow | fast |",
    "| user | password | comment |\n|---|---|---|\n| eva | expired | see vault |",
    "| Token | Meaning |\n|---|---|\n| IDENT2 | identifier |",
    "| token | value |\n|---|---|\n| color-primary-500 | #fff |",
    "| Environment | Secret |\n|---|---|\n| prod | AWS_SECRET_2 |",
    "| model | input tokens |\n|---|---|\n| opus | 12000 |",
  ],
  "labels with the value below": [
    "Email:\n\nPassword:\n\nLogin\n",
    "Password:\n\nUse at least 12 characters.",
    "Password:\n\nRequired.",
    "Token:\n\nexpired",
    "Token:\n\nsrc/auth/token.ts",
    "New password:\nRetype new password:\npasswd: password updated successfully",
  ],
  sentences: [
    "the password is too short",
    "the password is Case-Sensitive",
    "the password is stored in BitWarden",
    "set the password to expire",
    "the password was changed to comply with the policy",
    "the password was reset to default",
    "the password is end-to-end encrypted",
    "the password is out-of-date",
    "set the password to something stronger",
    "reset your password to continue",
    "change the password to lower case",
    "set the password field to read-only",
    "use hunter as the codename",
    "use bcrypt as the password hasher",
    "use Bitwarden as the password manager",
    "use it as the password",
    "sign in as eva with Google",
    "the password is fine",
    "the password is everywhere",
    "password hashing is CPU-bound",
    "the password page is full-width now",
    "Settings → Password → Advanced",
    "use sudo when it asks for a password",
    "I changed the password. The new one is longer",
    "the user can pass a password around",
    "credentials: same-origin",
    "admin / editor / viewer",
    "log in as eva with OAuth2",
    "sign in as eva with role=admin",
    "log in as eva with eva@example.com",
  ],
  commands: [
    'gh secret set NPM_TOKEN --body "$NPM_TOKEN"',
    "gh secret set NPM_TOKEN < token.txt",
    'gh pr create --title "Fix login" --body "Closes #12"',
    "kubectl create secret generic db --from-file=a=b.txt",
    "vault kv put secret/app password=@file.txt",
    "cat token.txt | gh auth login --with-token",
  ],
  "tokens of vendors": ["key-value pairs", "key-components-of-the-new-design-system"],
  "invisible characters": ["👨\u200d👩\u200d👧 family", "the pass\u00adword is wrong", "می\u200cخواهم"],
};

describe.each(Object.entries(TOLD))("%s", (kind, told) => {
  it.each(told)("finds the secret in %j", (text) => {
    const secrets = Array.from(text.matchAll(/⟦(.+?)⟧/g), ([, secret = ""]) => secret);
    const redacted = redactText(text.replaceAll(/[⟦⟧]/g, ""));
    expect(secrets).not.toEqual([]);
    for (const secret of secrets) expect(redacted).not.toContain(secret);
    expect(redactText(redacted)).toBe(redacted);
  });

  it.each(ORDINARY[kind] ?? [])("leaves %j alone", (text) => {
    expect(redactText(text)).toBe(text);
  });
});

it("keeps invisible characters that hide nothing", () => {
  expect(redactText("password: k9-Tulip, می\u200cخواهم")).toBe("password: [redacted], می\u200cخواهم");
});

it("recognises field names with invisible characters", () => {
  expect(redactValue({ "pass\u200bword": "x" })).toEqual({ "pass\u200bword": "[redacted]" });
});

it.each([
  "Password:\n\n",
  "| password | ",
  "use it as the password ",
  "set the password to be ",
  "sign in as x with ",
  "a\u200b",
  "gh secret set X ",
  "fly secrets set ",
  "secret\n",
])("takes linear time for many of %j", (piece) => {
  const started = process.cpuUsage();
  expect(redactText(piece.repeat(Math.ceil(100_000 / piece.length)))).toMatch(/\S/);
  // Quadratic time would take many seconds.
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000);
});
