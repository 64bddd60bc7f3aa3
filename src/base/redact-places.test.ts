/** Secrets without a recognizable shape, found by their context. All are made up and built here. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactText } from "./redact.ts";

/** Writes secrets into a text. */
type Planted = readonly [secrets: readonly string[], written: (...secrets: string[]) => string];

const SALT = "mAdEuPsAlT1";
const HASH = "Qw3rTyUiOpAsDfGhJkLzXcVbNmQw3rTyUiOpAsDfGh1";

const STORED_HASHES: readonly Planted[] = [
  [[HASH, SALT], (hash, salt) => `root:$6$${salt}$${hash}${hash}:19000:0:99999:7:::`],
  [[HASH], (hash) => `the stored one is $2b$12$${hash}AbCdEfGhIj`],
  [[HASH], (hash) => `$y$j9T$${SALT}$${hash}`],
  [[HASH, SALT], (hash, salt) => `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${hash}`],
  [[HASH.slice(0, 22)], (hash) => `frank:$apr1$m4d3up12$${hash}`],
  [[HASH, SALT], (hash, salt) => `pbkdf2_sha256$600000$${salt}$${hash}=`],
  [[HASH, SALT], (hash, salt) => `SCRAM-SHA-256$4096:${salt}==$${hash}=:${hash}=`],
  [[HASH], (hash) => `userPassword: {SSHA}${hash}==`],
  [["a1b2c3d4e5f60718293a4b5c6d7e8f90"], (hash) => `"app" "md5${hash}"`],
];

const LINES: readonly Planted[] = [
  [["elephantstep"], (secret) => `db.internal:5432:shop:shop_rw:${secret}`],
  [["elephantstep"], (secret) => `it is db.internal:5432:shop:shop_rw:${secret} on staging`],
  [["elephantstep"], (secret) => `db.internal:7000:shop:shop_rw:${secret}\n`],
  [["elephantstep"], (secret) => `*:*:*:replicator:${secret}`],
  [["rose7bud"], (secret) => `[smtp.example.test]:587 mailer:${secret}`],
  [["t1ger-lily"], (secret) => `jdbc:oracle:thin:scott/${secret}@//ora:1521/XE`],
  [["k9Tulip"], (secret) => `WIFI:T:WPA;S:Home;P:${secret};;`],
  [["k9Tulip"], (secret) => `requirepass ${secret}`],
  [["k9Tulip"], (secret) => `bindpw ${secret}`],
  [["justletters"], (secret) => `network={\n  ssid="Home"\n  psk="${secret}"\n}`],
  [["justletters"], (secret) => `ansible_become_pass: ${secret}`],
  [["wJalrXUtnMADE/K7MDENG/bPxRfiCYmadeupKEYz"], (secret) => `aws_secret_access_key = ${secret}`],
  [
    ["0a1b2c3d".repeat(4)],
    (secret) => `-----BEGIN OpenVPN Static key V1-----\n${secret}\n-----END OpenVPN Static key V1-----`,
  ],
];

const CALLS: readonly Planted[] = [
  [["k9-Tulip"], (secret) => `define('DB_PASSWORD', '${secret}');`],
  [["{Q=8xY|made up$kk2 #Zz~>P;7f@Lm:w+R"], (secret) => `define('AUTH_KEY',   '${secret}');`],
  [['k#5v]made*up "Jq9(p<!zX~4T/u8-Bc'], (secret) => `define('NONCE_SALT', '${secret}');`],
  [["k9Tulip"], (secret) => `setenv("DB_PASS", "${secret}", 1)`],
  [["k9Tulip"], (secret) => `os.getenv("APP_PASSWORD", "${secret}")`],
  [["k9Tulip"], (secret) => `CREATE USER 'app'@'%' IDENTIFIED BY '${secret}';`],
  [["k9Tulip"], (secret) => `ALTER USER hr IDENTIFIED BY ${secret};`],
  [["k9Tulip"], (secret) => `CREATE LOGIN svc WITH PASSWORD = N'${secret}';`],
  [["k9Tulip"], (secret) => `sqlplus hr/${secret}@orcl`],
  [["k9 Tul ip"], (secret) => `sshpass -p '${secret}' ssh root@h`],
  [["k9 Tul ip"], (secret) => `curl --user "svc:${secret}" https://x.example`],
  [["k9Tulip"], (secret) => String.raw`net use Z: \\nas\share /user:frank ${secret}`],
  [["k9Tulip"], (secret) => `ConvertTo-SecureString "${secret}" -AsPlainText -Force`],
  [["k9Tulip"], (secret) => `kinit frank <<< '${secret}'`],
  [["k9Tulip"], (secret) => String.raw`printf '%s\n' '${secret}' | gh secret set DEPLOY_TOKEN`],
  [["k9Tulip"], (secret) => String.raw`printf "%s:%s\n" frank ${secret} | sudo chpasswd`],
  [["k9Tulip"], (secret) => `echo "db.internal:5432:shop:shop_rw:${secret}" > ~/.pgpass`],
  [["k9Tulip"], (secret) => `sudo -u app -S systemctl restart app <<< '${secret}'`],
  [["k9Tulip"], (secret) => `su - frank -c id <<< ${secret}`],
  [["k9Tulip"], (secret) => `gh auth login --with-token <<< "${secret}"`],
  [["k9Tulip"], (secret) => `docker login -u me --password-stdin <<< "${secret}"`],
  [["k9Tulip"], (secret) => `openssl rsa -in k.pem -passin stdin <<< "${secret}"`],
  [["k9Tulip"], (secret) => `create user if not exists app identified by ${secret};`],
  [["k9Tulip"], (secret) => `ssh-keygen -t ed25519 -N "${secret}" -f id`],
  [["k9Tulip"], (secret) => `rabbitmqctl add_user app ${secret}`],
];

const COLUMNS: readonly Planted[] = [
  [["tulip-k9", "rose-r7!"], (one, other) => `| user | password |\n|---|---|\n| app | ${one} |\n| mq | \`${other}\` |`],
  [["tulip-k9", "z8-old-77"], (one, other) => `user;password;passphrase\nfrank;${one};${other}`],
  [["tulip-k9"], (secret) => `Name\tPassword\nfrank\t${secret}`],
  [
    ["tulip-k9", "rose-r7!"],
    (one, other) => `INSERT INTO u (name, password) VALUES ('a', '${one}'), ('b', '${other}');`,
  ],
  // In the first column.
  [["tulip-k9", "rose-r7!"], (one, other) => `export:\npassword,user\n${one},frank\n${other},ada`],
  [["tulip-k9"], (secret) => `export:\r\nPassword;User\r\n${secret};frank`],
  [["tulip-k9"], (secret) => `export:\npassword\tuser\n${secret}\tfrank`],
  [["tulip-k9"], (secret) => `accounts:\nPassword | User\n---|---\n${secret} | frank`],
  [["tulip-k9"], (secret) => `INSERT INTO u (password, name) VALUES ('${secret}', 'a');`],
  [["tulip-k9", "rose-r7!"], (one, other) => `INSERT INTO u (password) VALUES ('${one}'), ('${other}');`],
  // Quoted cells with dividers.
  [["tulip-k9"], (secret) => `name,password\n"Doe, John",${secret}`],
  [["tulip, k9x"], (secret) => `name,password\n"Doe, ""Jo"" John","${secret}"`],
  [["tulip, k9x"], (secret) => `INSERT INTO u (name, password) VALUES ('a', '${secret}');`],
  [["tul)ip, k9x", "rose-r7!"], (one, other) => `INSERT INTO u (name, pwd) VALUES ('a', '${one}'), ('b', '${other}');`],
  // With spaces after commas.
  [["tulip-k9", "rose-r7!"], (one, other) => `export:\nname, password\nfrank, ${one}\nada, ${other}`],
];

const WORDS: readonly Planted[] = [
  [["correct horse battery staple"], (secret) => `the passphrase is ${secret}`],
  [["correct horse battery staple"], (secret) => `the passphrase is ${secret} and it opens the disk`],
  [["correct horse battery staple"], (secret) => `I set the passphrase to ${secret}`],
  [["seven green bottles"], (secret) => `unlock it with the passphrase "${secret}"`],
  [["purple monkey dishwasher lamp"], (secret) => `Passphrase: ${secret}`],
  [["gentle otter drinks lemonade"], (secret) => `my master password is ${secret}, keep it`],
  [["kqzt mwpl xnrv bhdj"], (secret) => `gmail app password ${secret}`],
  [
    [
      "1. witch 2. collapse 3. practice 4. feed 5. shame 6. open 7. despair 8. creek 9. road 10. again 11. ice 12. least",
    ],
    (secret) => `my mnemonic:\n${secret}`,
  ],
];

const CODES: readonly Planted[] = [
  [["482 913"], (secret) => `the sms code is ${secret}`],
  [["739 201"], (secret) => `2FA: ${secret}`],
  [["550 193"], (secret) => `dein Bestätigungscode lautet ${secret}`],
  [["44 19 82"], (secret) => `votre code de vérification est ${secret}`],
  [["8f3k-2m9x", "q7w2-n4vb", "z1x8-c5l0"], (...codes) => `recovery codes:\n${codes.join("\n")}`],
  [["4829 1377", "9012 4456"], (one, other) => `Backup codes for mail:\n1. ${one}\n2. ${other}`],
  [["x7k2-mq91", "p3n8-zz04"], (one, other) => `"backup_codes": ["${one}", "${other}"]`],
  [["K7QX-9M2P"], (secret) => `enter the pairing code ${secret} on the screen`],
  [["83920174"], (secret) => `puk ${secret}`],
  [["739105"], (secret) => `phone passcode ${secret}`],
  [["773120"], (secret) => `Your code is ${secret}. Do not share it.`],
  [["482 914"], (secret) => `il codice di verifica è ${secret}`],
  [["12-34-7"], (secret) => `safe combination ${secret}`],
  [["jbsw y3dp ehpk 3pxp made upqq"], (secret) => `enter this setup key: ${secret}`],
  [["QX7B2-K9M4P-W3T8R-Y6N1C-D5H0J"], (secret) => `it is activated with ${secret}`],
  [["482913-119027-550341-092837-776120-334455-218876-640192"], (secret) => `the disk opens with ${secret}`],
  [["4242 4242 4242 4242"], (secret) => `pay with ${secret}`],
];

const SENTENCES: readonly Planted[] = [
  [["BlueWhale!42"], (password) => `the user is admin and pw ${password}, on port 22`],
  [["Geheim#9981x"], (password) => `user kim\npass ${password}\n`],
  [["9f2c4e7a1b3d5f60".repeat(2)], (hex) => `the signing key ${hex} was rotated, but the token ${hex} is refused`],
  [["3f2504e0-4f89-41d3-9a0c-0305e82c3301"], (uuid) => `api key ${uuid} fails with 403`],
  [["letme7in"], (secret) => `the pw on 10.0.0.5 is ${secret}`],
  [["v1ewme9"], (secret) => `vnc password ${secret}`],
  [["sunset!2031"], (secret) => `try logging in with ada@example.test and ${secret}`],
  [["letme7in"], (secret) => `the password to the server is ${secret}`],
  [["Frühling#31"], (secret) => `I changed it to ${secret}, that's the new password`],
  [["k9Tulip8"], (secret) => `SMTP user mailer, pass ${secret}, port 587`],
  [["tulip-k9"], (secret) => `basic auth is frank/${secret} on staging`],
  [["tulip-k9"], (secret) => `WLAN-Schlüssel: ${secret}`],
  [["tulip-k9"], (secret) => `비밀번호는 ${secret} 입니다`],
];

const PLANTED = [...STORED_HASHES, ...LINES, ...CALLS, ...COLUMNS, ...WORDS, ...CODES, ...SENTENCES].map(
  ([secrets, written]) => [written(...secrets), secrets] as const,
);

/** Text that looks like secrets. */
const ORDINARY: readonly string[] = [
  "they pass Stage2 and Build-42 now, pass https://example.org/A1?b=c on, pass fooBar2(x) the list",
  `the token check was added in ${"9f2c4e7a1b".repeat(4)}`,
  "the key 3f2504e0-4f89-41d3-9a0c-0305e82c3301 is in the map",
  "replace $1$2 with $2$1, it costs $6$ per unit",
  "hashes start with $argon2id$ or $2b$12$, the LDAP ones with {SSHA}",
  "localhost:5432:shop is the database",
  "src/app.ts:1234:const:foo:bar",
  "2026-11-15T12:00:00Z agent:main:telegram:dm:1001",
  "docker run -p 127.0.0.1:5432:5432 postgres:16",
  'sessionKey: "agent:main:telegram:dm:1"',
  "define('DB_HOST', 'localhost'); define('AUTH_KEY', getenv('AUTH_KEY'));",
  'headers.set("authorization", token); t("password", "username")',
  "the session is identified by session4Id",
  'each is identified by "name" and "branch"',
  "CREATE USER app IDENTIFIED BY :password",
  "INSERT INTO users (name, password) VALUES ($1, $2)",
  "| name | token | bits |\n|---|---|---|\n| unsigned | UINT16_LE | 16 |",
  "name, token, count\nparser, tokenizer2, lexer3",
  "the passphrase is asked for every time the key is opened",
  "the passphrase is stored encrypted locally",
  "passphrase: required string, minimum length twelve",
  "die Passphrase ist nicht mehr gültig",
  "the password is minimum eight characters long",
  "the password was leaked in the March breach",
  "reset the password on staging server last night",
  "the app password form must work well",
  "the recovery phrase screen has twelve words in a grid",
  "the error code is 482 913, ticket 482-913 is open, call 555-0199-2231",
  "backup codes work, tested on 2026-11-15",
  "the auth code is messy, 1200 lines; the lock code is 300 lines long",
  '"error_codes": ["8f3k-2m9x"]',
  "order 4711-0815-2231-9999 and invoice 1234 5678 9012 3456",
  "part 12345-67890-12345-67890-12345, build ABCDE-12345",
  "your code is 123456 lines long, the password flow came in v2.1.0-rc1",
  "scp me@host.example.com:backup2 . && ssh me@host.example.com",
  "the user can pass options2 to it",
  "password to the production database is in vault",
  "we use OAuth2, that is the token flow",
  "psk: NodeJS.ArrayBufferView;",
  "first_pass: done",
  'sudo bash <<< "apt-get install nginx"',
  "docker exec -i pg psql <<< 'SELECT 1;'",
  "gh issue create -F - <<< 'body text here'",
  "openssl sha1 <<< hello; gpg --clearsign <<< hello",
  "su - postgres <<< 'psql -c list'",
  "file.ts:1024:error:TS2304:Cannot find",
  "main.go:1234:warning:unused:variable",
  "server:1234:warning:unused:variable foo",
  "git@github.com:me2repo",
  "[a]:443 host:value",
  "user stories identified by research2",
  "t('password', 'Passwort1'); i18n.t('password', 'Passwort1')",
  "lock code path is 300-400 lines",
  "reset code 4711 rows",
  "device codes 1000 2000 3000",
  "password, name and age\nfoo2bar, name and age",
  "login(password, name)\nlogin(pass2word, name)",
  "  password,\n  user2name,\n  other3name,",
];

describe("redactText", () => {
  it.each(PLANTED)("finds the secrets in %j", (written, secrets) => {
    for (const before of ["", "We decided to go with this: ", "see below\n"]) {
      const safe = redactText(before + written);
      for (const secret of secrets) expect(safe).not.toContain(secret);
    }
  });

  it("redacts short passwords in settings lines", () => {
    expect(redactText("username: admin\npassword: admin\n")).toBe("username: admin\npassword: [redacted]\n");
    expect(redactText("the password: admin only")).toBe("the password: admin only");
  });

  it("keeps the type of a hash", () => {
    expect(redactText(`root:$6$${SALT}$${HASH}:1`)).toBe("root:$6$[redacted]");
  });

  it.each(ORDINARY)("leaves %j alone", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("finds a secret whose label is part of an earlier match", () => {
    const text = "enter the pairing code K7QX-9M2P on the screen 2FA: 739 201";
    expect(redactText(text)).toBe("enter the pairing code [redacted] on the screen 2FA: [redacted]");
  });

  it("does not change redacted text", () => {
    const pieces = fc.oneof(
      fc.constantFrom(...PLANTED.map(([written]) => written), ...ORDINARY),
      fc.constantFrom(":", "|", ",", "is", "codes:"),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 5 }), fc.constantFrom(" ", "\n"), (parts, between) => {
        const once = redactText(parts.join(between));
        expect(redactText(once)).toBe(once);
      }),
    );
  });

  it("takes linear time for long lines", () => {
    // Quadratic time would take many seconds.
    const pieces = [
      "$6$a",
      "a:5432:b:",
      "| token ",
      "a,password\n",
      "password,a\n",
      "1234-",
      "passphrase is apple tree ",
      "(password) VALUES ('a1b2')",
      'a,password\n"b,c",d1e2f\n',
      "sudo -S a <<< ",
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(100_000 / piece.length));
      const started = process.cpuUsage();
      expect(redactText(text).length).toBeGreaterThan(0);
      expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000);
    }
  });

  it("redacts long tables to the end", () => {
    const rows = "b,c1d2e,f3g4h\n".repeat(10_000);
    const safe = "b,[redacted],[redacted]\n".repeat(10_000);
    expect(redactText(`a,password,pwd\n${rows}`)).toBe(`a,password,pwd\n${safe}`);
  });
});
