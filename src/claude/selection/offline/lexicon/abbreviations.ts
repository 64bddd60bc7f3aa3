/** What developers shorten. Each short form stands for the words after it; several meanings are all tried. */
export const ABBREVIATIONS: ReadonlyMap<string, readonly string[]> = readTable(`
acct account | accts accounts | addr address | admin administrator | adr architecture decision | algo algorithm
alloc allocation | anon anonymous | api api | app application | apps applications | appt appointment | arch architecture
arg argument | args arguments | arr array | async asynchronous | attr attribute | attrs attributes | auth authentication
authn authentication | authz authorization | autoc autocomplete | avg average | bal balance | bday birthday | bg background
bin binary | bld build | bool boolean | brwsr browser | btn button | btns buttons | buf buffer | calc calculation
cals calendars | cats categories | cb callback | cc credit card | cert certificate | certs certificates
cfg configuration | conf configuration | config configuration | configs configuration | chk check | chkout checkout
ckpt checkpoint | cls class | cmd command | cmds commands | cmp compare | cnt count | col column | cols columns | coll collection
comm communication | comms communication | comp component | comps components | concat concatenate | cond condition
conn connection | conns connections | const constant | coords coordinates | cpu cpu | creds credentials | cred credential
ctl control | ctlr controller | ctrl controller | ctx context | curr current | cust customer | custs customers | db database
dbs databases | dbg debug | dec decimal | decl declaration | def definition | del delete | deps dependencies | dep dependency
desc description | dest destination | dev development | devs developers | dev-ex developer experience | dict dictionary
diff difference | dir directory | dirs directories | dist distribution | dl download | dlq dead letter queue | doc documentation
docs documentation | dup duplicate | dups duplicates | dupes duplicates | dx developer experience | elem element
elems elements | emb embedding | emp employee | enc encryption | eng engineering | ent enterprise | env environment | envs environments
envvar environment variable | eq equal | err error | errs errors | est estimate | eval evaluation | evt event | evts events
exc exception | exec execute | exp expiry | expl explain | expr expression | ext extension | fb feedback | fcn function | fe frontend
feat feature | fk foreign key | fld field | flds fields | fmt format | fn function | fns functions | freq frequency | fs filesystem | ft feature
fts full text search | func function | funcs functions | fw firmware | fwd forward | fx effects | gc garbage collection | gh github | gha github actions
gql graphql | gw gateway | hc health check | hdr header | hdrs headers | hist history | hw hardware | idx index | idxs indexes
iface interface | img image | imgs images | impl implement | impls implementations | inc increment | info information | infra infrastructure
init initialize | inst instance | int integer | integ integration | interp interpreter | intl international | inv invoice | invs invoices | iter iteration
js javascript | kb keyboard | kbd keyboard | k8s kubernetes | lang language | langs languages | lat latitude | len length | lib library
libs libraries | lng longitude | loc location | locs locations | lnk link | lvl level | mem memory | mgmt management | mgr manager | mig migration
migs migrations | min minimum | misc miscellaneous | mod module | mods modules | msg message | msgs messages | mw middleware | nav navigation | neg negative
net network | notif notification | notifs notifications | nr number | ns namespace | num number | obj object | objs objects | obs observability | op operation
ops operations | opt option | opts options | opti optimise | ord order | org organization | orgs organizations | orig original | os operating system
parm parameter | param parameter | params parameters | pct percent | perf performance | perm permission | perms permissions | pers personal
pg postgres | pgsql postgres | phys physics | pic picture | pics pictures | pkg package | pkgs packages | pk primary key | pmt payment | pmts payments | pmnt payment | pos position
pp profile picture | pr pull request | prs pull requests | pref preference | prefs preferences | prev previous | prio priority | priv private | proc process | prod production | prof profile
prog progress | proj project | projs projects | prop property | props props | proto protocol | pt point | pub publish | pw password | pwd password | pws passwords | py python
qry query | qs query string | qty quantity | rand random | rb ruby | rcpt receipt | rdb redis | rec record | recs records | recv receive | ref reference | refs references | reg registration | regs regulations
regex regular expression | regexp regular expression | rel release | repo repository | repos repositories | repro reproduce | req request | reqs requests | res response | resp response | resps responses | ret return | rev revision
rl rate limit | rn react native | rng random | rs rust | rt realtime | rx receive | sb sidebar | sched scheduler | sec security | sel selection | sep separator | seq sequence | sess session | sig signature
sigs signatures | spec specification | specs specifications | src source | srv server | srvs servers | srch search | ssn session | stat statistic | stats statistics | std standard | stg staging | stmt statement | str string | strs strings
sub subscription | subs subscriptions | substr substring | svc service | svcs services | sw service worker | sync synchronize | sys system | tbl table | tbls tables | temp temporary | tf terraform | tgt target | thr thread | tmp temporary
tmpl template | tok token | toks tokens | tpl template | tpls templates | tr translation | trans transaction | ts typescript | tx transaction | txn transaction | txns transactions | txs transactions | tz timezone | tzs timezones
ui interface | upd update | upl upload | usr user | usrs users | util utility | utils utilities | ux user experience | val value | vals values | valid validation | var variable | vars variables | vec vector
ver version | vid video | vids videos | vm virtual machine | vms virtual machines | vol volume | vuln vulnerability | vulns vulnerabilities | wf workflow | wip in progress | wkr worker | wnd window | ws websocket | wss websocket | xlat translate
2fa two factor | a11y accessibility | c11n customization | g11n globalization | i18n internationalization | l10n localization | m17n multilingual | o11y observability | p13n personalization | s11n serialization | d11n documentation
aot ahead of time compile | bff backend for frontend | cd continuous delivery | ci continuous integration | cicd continuous integration | crud create read update delete | cta call to action | cv computer vision
dns domain name | dr disaster recovery | ds design system | dst daylight saving | e2e end to end | eod end of day | etl etl | ff feature flag | ffs feature flags | gdpr gdpr privacy | hpa autoscaling | iac infrastructure as code | idp identity provider
iam access control | jwt json web token | lb load balancer | llm language model | llms language model | lru least recently used cache | mfa multi factor | ml machine learning | mq message queue | nlp nlp | npe null pointer
oom out of memory | orm orm | otp one time password | pii personal data | poc proof of concept | pii's personal data | qa testing | qps requests per second rate limit | rag retrieval | rbac role permission
rc release candidate | rce vulnerability | rls row level security | rps requests per second | rum monitoring | sast security | sdk sdk | seo seo | sla alerting | slo alerting | sms text message | sow contract | spa single page application frontend
sql sql | sse server sent events | ssl tls | sso single sign on | ssr server side rendering | ssg static site generation | tls tls | ttl time to live | uat acceptance testing | udf user defined function | vpn vpn | wal write ahead log | wasm webassembly
xss cross site scripting | csrf cross site request forgery | dnd drag and drop | cx customer experience | po purchase order | ar augmented reality | vr virtual reality | hud overlay | fov field of view | lod level of detail
postgresql postgres | mongo mongodb | es elasticsearch | elastic elasticsearch | rmq rabbitmq | tg telegram | gcs object storage | gcp google cloud | cf cloudflare | gpt language model | nextjs next.js | nodejs node.js | golang go | tsconfig typescript configuration
prom prometheus | graf grafana | dd datadog | jenk jenkins | compose docker compose | dkr docker | dk docker | helmchart helm chart | ingr ingress | nginx nginx | pgb pgbouncer | rh react hook | rq react query | tw tailwind | vsc vscode | xcode xcode | proxied proxy
`);

/** Short forms that are ordinary words otherwise: they count only after an article or in capitals. */
export const CAREFUL_ABBREVIATIONS: ReadonlyMap<string, string> = new Map([
  ["be", "backend"],
  ["fe", "frontend"],
]);

function readTable(table: string): Map<string, readonly string[]> {
  const rows = table.split(/[|\n]/).map((row) => row.trim().split(" "));
  return new Map(rows.flatMap(([short = "", ...words]) => (short === "" ? [] : [[short, words] as const])));
}
