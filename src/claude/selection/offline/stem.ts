/**
 * A light stemmer for development English: plurals, verb forms, doers and deeds meet
 * (validate, validated, validator, validation). It need not give words, only the same for relatives.
 */
/** What the rules would get wrong: the stem, and the words that have it. */
export const IRREGULAR_STEMS: ReadonlyMap<string, string> = readTable(`
analysi: analyses analysis analyse analyze | build: built | break: broke broken | catch: caught | child: children
choos: chose | data: data | draw: drew drawn | fall: fell | index: indices indexes indexing indexed | keep: kept
lose: lost loses | loss: loss | matrix: matrices | mouse: mice | pay: paid | run: ran | send: sent | sell: sold
throw: thrown threw | vertex: vertices | go: went | write: wrote written | person: people | man: men | woman: women
color: colour colours colors | catalog: catalogue | center: centre centred | behavior: behaviour | gray: grey
licens: licence license | cancel: cancelled cancelling cancellation | label: labelled labelling | model: modelling
travel: travelled | dialog: dialogue | check: cheque | program: programme | meter: metre | favorit: favourite
neighbor: neighbour | news: news | seri: series | status: status | kubernetes: kubernetes | postgres: postgres
redis: redis | sass: sass | css: css | https: https | aws: aws | ios: ios | process: process | access: access
address: address | express: express | wireless: wireless | canvas: canvas | alias: alias | bus: bus buses
this: this | sns: sns | sqs: sqs | dns: dns | tls: tls | gps: gps | cms: cms | sms: sms | ops: ops | lens: lens
polici: policies policy | thesi: thesis | axis: axes axis | physics: physics | analytics: analytics
metric: metrics | author: author authors authored | number: number numbers numbering | paper: paper
corner: corner corners | letter: letter letters | user: user users | server: server servers
servic: service services | token: token tokens | router: router routers | ship: shipper | shipping: shipping
bill: billing | string: string strings | thing: thing | spring: spring | ring: ring | ping: ping | king: king
price: pricing | speed: speed | feed: feed | seed: seed | need: need | embed: embed | red: red | bed: bed | led: led
use: used | master: master | layer: layer layers | buffer: buffer buffers | docker: docker | folder: folder folders
broker: broker brokers | filter: filter filters filtering filtered
render: render renders rendering renderer rendered | order: order orders ordering ordered | member: member members
banner: banner banners | timer: timer timers | container: container containers | header: header headers
footer: footer | pointer: pointer pointers | tooltip: tooltip
`);

const cache = new Map<string, string>();

export function stem(word: string): string {
  const known = IRREGULAR_STEMS.get(word) ?? cache.get(word);
  if (known !== undefined) return known;
  const result = word.length <= 3 || /\d/.test(word) ? word : strip(word);
  if (cache.size > 20_000) cache.clear();
  cache.set(word, result);
  return result;
}

function strip(word: string): string {
  let stemmed = word.replace(/(?:'s|’s|s')$/, "");
  stemmed = stemmed
    .replace(/(ss|x|ch|sh)es$/, "$1")
    .replace(/ies$/, "y")
    .replace(/([^su])s$/, "$1");
  const known = IRREGULAR_STEMS.get(stemmed);
  if (known !== undefined) return known;
  stemmed = verbForm(stemmed);
  stemmed = stemmed
    .replace(/(i[sz])(?:ation|er)$/, "$1")
    .replace(/iz$/, "is")
    .replace(/(?<=.{4})(?:fulness|ness|fully|ful)$/, "")
    .replace(/(?<=.{4})(?:ably|ibly|able|ible)$/, "")
    .replace(/(?<=.{4})ment$/, "")
    .replace(/(?<=.{3})(?<=[st])ion$/, "")
    .replace(/(?<=.{3}at)or$/, "")
    .replace(/(?<=.{4})(?:al|ally|ly)$/, "")
    .replace(/(?<=.{4})ity$/, "")
    .replace(/(?<=.{4})er$/, "");
  stemmed = undouble(stemmed)
    .replace(/(?<=.{3})e$/, "")
    .replace(/(?<=.{2})y$/, "i");
  return stemmed.replace(/iz$/, "is");
}

function verbForm(word: string): string {
  const shortened = word.replace(/(?:ing|ings|ed)$/, "");
  if (shortened === word || shortened.length < 3 || !/[aeiouy]/.test(shortened)) return word;
  return undouble(shortened);
}

/** stopped, running: the doubled consonant goes, but not in call, pass, off. */
function undouble(word: string): string {
  return word.length > 3 ? word.replace(/([bdgmnprt])\1$/, "$1") : word;
}

function readTable(table: string): Map<string, string> {
  const rows = table.split(/[|\n]/).map((row) => row.split(":"));
  return new Map(
    rows.flatMap(([result = "", words = ""]) =>
      words
        .trim()
        .split(" ")
        .filter((word) => word !== "")
        .map((word) => [word, result.trim()] as const),
    ),
  );
}
