/**
 * Text as developers write it, taken apart: words, identifiers in every case style, paths, issue
 * numbers, error codes, versions. An identifier gives its parts as words and itself as a whole, so
 * that `resolveTenantSchema` meets `resolve-tenant-schema.ts` and also "the schema of a tenant".
 */
import { isGenericFolder, isGenericName } from "./generic-names.ts";
import { ABBREVIATIONS, CAREFUL_ABBREVIATIONS } from "./lexicon/abbreviations.ts";

export interface Words {
  /** In order, lower case, short forms written out. */
  words: string[];
  /** Whole identifiers, letters and digits only: `resolvetenantschema`. */
  identifiers: Set<string>;
  /** Issue numbers, error codes, versions: `#4512`, `eng-2207`, `2.14.1`. They are the same or they are not. */
  codes: Set<string>;
  /** Paths and file names, as written. */
  paths: string[];
}

/** Longer texts are cut: what a prompt is about stands at its beginning. */
const MAX_TEXT = 600;
/** Longer names in a path are none that anybody chose. */
const MAX_SEGMENT = 80;
const MAX_SEGMENTS = 12;

const PATH = /(?:[\w@.~+$()[\]-]+)?(?:\/[\w@.~+$()[\]*-]+)+\/?|[\w@.+-]+\/(?=[\s,;:)]|$)/g;
const FILE_NAME =
  /(?<![\w/])[\w@+-]+(?:\.[\w+-]+)*\.(?:[cm]?[jt]sx?|vue|svelte|py|ipynb|rb|erb|go|rs|java|kts?|swift|mm?|cc?|cpp|cxx|hh?|hpp|cs|fs|php|ex|exs|erl|hs|lua|r|jl|sql|sh|zsh|ps1|ya?ml|toml|json[lc5]?|xml|html?|s?css|less|md|mdx|rst|txt|tf|hcl|proto|graphql|gql|glsl|frag|vert|wgsl|gradle|lock|cfg|ini|conf|env|csv|dart|scala|clj|zig|nim|v|sv|vhd|ino|dts|prisma|plist)(?![\w/])/gi;
const SPECIAL_FILE =
  /\b(?:Dockerfile|Makefile|Podfile|Gemfile|Rakefile|Jenkinsfile|Procfile|Vagrantfile|CMakeLists)\b/g;
const CODE =
  /#\d+\b|\bGH-\d+\b|\bCVE-\d{4}-\d+\b|\b[A-Z][A-Z0-9]{1,9}-\d+\b|\b(?:TS|CS|E|C|SC|RUSTSEC|S)\d{3,5}\b|\bv?\d+\.\d+(?:\.\d+)+(?:-[\w.]+)?\b|\b0x[\da-f]+\b|\bERR_[A-Z_]+\b|\bE[A-Z\d]{4,}\b/g;
const PLAIN_CODES = /^(?:UTF|SHA|ISO|AES|RSA|COVID|HTTP|MD|ES|PHASE|STEP|PDF|API|GPT|H|RS|USB)-/;

export function takeApart(text: string): Words {
  const found: Words = { words: [], identifiers: new Set(), codes: new Set(), paths: [] };
  let rest = text.slice(0, MAX_TEXT);
  rest = rest.replaceAll(/https?:\/\/\S+/g, (url) => ` ${url.replaceAll(/https?:\/\/[^/]*\/?/g, " ")} `);
  // "w/ Okta" and "n/a" are no paths; "@src/a.ts" mentions one.
  rest = rest.replaceAll(/\b(w|b|n)\/(o\b|c\b|a\b|(?=\s|$))/gi, " ");
  rest = rest.replaceAll(/(?<![\w/])@(?=[\w-]+\/[\w./-]+\.\w+)/g, "");
  rest = rest.replaceAll(PATH, (match) => takePath(match, found));
  rest = rest.replaceAll(FILE_NAME, (match) => takePath(match, found));
  rest = rest.replaceAll(SPECIAL_FILE, (match) => takePath(match, found));
  rest = rest.replaceAll(CODE, (match) => {
    if (PLAIN_CODES.test(match)) return match;
    found.codes.add(match.toLowerCase().replace(/^v(?=\d)/, ""));
    return /^(?:ERR_|E[A-Z]{4})/.test(match) ? ` ${match} ` : " ";
  });
  for (const match of rest.matchAll(/[\p{L}\p{N}_$][\p{L}\p{N}_$]*(?:(?:['’+.-]|::)[\p{L}\p{N}_$]+)*[+#]*|\bw\//gu)) {
    takeWord(match[0], found);
  }
  return found;
}

/** The words of a term of the lexicon, as they come out of a text. */
export function termWords(term: string): string[] {
  if (!/^[a-z -]+$/.test(term)) return takeApart(term).words;
  const words: string[] = [];
  for (const word of term.split(/[ -]/)) if (word !== "") pushWord(word, word, words);
  return words;
}

/** The words of one name in a path. */
export function segmentWords(segment: string): string[] {
  const found: Words = { words: [], identifiers: new Set(), codes: new Set(), paths: [] };
  takeWord(segment.slice(0, MAX_SEGMENT), found);
  return found.words;
}

/** `order-mapper.ts`, `OrderMapper` and `order_mapper` are one name. */
export function squash(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function takePath(match: string, found: Words): string {
  const slashes = match.split("/").length - 1;
  const isPath =
    !match.includes("/") ||
    slashes >= 2 ||
    /\.\w{1,6}$/.test(match) ||
    match.endsWith("/") ||
    /^(?:src|lib|app|apps|packages|test|tests|docs|web|api|server|client|cmd|internal|pkg)\//.test(match);
  if (!isPath) return match.replaceAll("/", " / ");
  found.paths.push(match.replace(/^\.\//, "").replace(/\/$/, ""));
  const name = (match.replace(/\/$/, "").split("/").at(-1) ?? "").replace(/(?<=.)\.[\w.]+$/, "");
  if (isCompound(name)) found.identifiers.add(squash(name));
  return ` ${tellingSegments(match).join(" ")} `;
}

/** A path without what every project has, and without the extension of its file. */
export function tellingSegments(path: string): string[] {
  const segments = path
    .split("/")
    .filter((segment) => segment !== "")
    .slice(-MAX_SEGMENTS);
  const name = (segments.pop() ?? "").replace(/(?<=.)\.[\w.]+$/, "");
  const folders = segments.filter((segment) => !isGenericFolder(segment));
  return isGenericName(name) ? folders : [...folders, name];
}

function takeWord(raw: string, found: Words): void {
  // Most words are plain: what follows is for the others.
  if (/^[a-z]{3,}$/.test(raw)) {
    pushWord(raw, raw, found.words);
    return;
  }
  const word = raw.replace(/[.'’]+$/, "").replace(/['’]s$/, "");
  if (word === "") return;
  if (/[.]|::/.test(word) && !/^\d/.test(word)) {
    const parts = word.split(/\.|::/).filter((part) => part !== "");
    if (parts.length > 1 && parts.every((part) => part.length > 1))
      found.identifiers.add(squash(parts.slice(-2).join("")));
    for (const part of parts) takeWord(part, found);
    return;
  }
  const parts = splitName(word);
  if (isCompound(word) && parts.some((part) => !isEverydayPart(part))) found.identifiers.add(squash(word));
  for (const part of parts) pushWord(part, word, found.words);
}

const EVERYDAY_PARTS = new Set(
  "is has can should get set add remove on to from by id ids name type key value list count index active enabled disabled visible user users null pointer exception illegal state argument runtime type reference error not found out of bounds unsupported operation class cast number format io index access denied assertion timeout module data item items created updated deleted at url max min retries new old handle handler click change submit use effect state config options props default status code".split(
    " ",
  ),
);

/** A name made of nothing but these is in every code base: isActive, created_at, NullPointerException. */
export function isEverydayPart(part: string): boolean {
  return EVERYDAY_PARTS.has(part.toLowerCase());
}

/** Two or more parts in one name, as only code writes it; a hyphenated English word is none. */
function isCompound(name: string): boolean {
  return /[a-z\d][A-Z]|[A-Za-z\d]_[A-Za-z\d]|[A-Z]{2,}[a-z]{2,}/.test(name)
    ? name.length > 5 && !ONE_WORD.test(name)
    : /^[a-z\d]+-[a-z\d]+(?:-[a-z\d]+)+$/.test(name) || (/^[a-z\d]{3,}-[a-z\d]{3,}$/.test(name) && name.length > 9);
}

/** Names that are written with a capital in the middle and are one word all the same. */
const ONE_WORD =
  /^(?:OAuth\d?|GraphQL|GitHub|GitLab|TypeScript|JavaScript|PostgreSQL|MySQL|NoSQL|WebSockets?|WebGL|WebGPU|WebRTC|WebAssembly|YouTube|LinkedIn|PayPal|MongoDB|DynamoDB|InfluxDB|iOS|macOS|iPhones?|iPads?|OpenAPI|OpenAI|FastAPI|DevOps|NextJS|NodeJS|VSCode|IntelliJ|SwiftUI|OpenGL|PyTorch|TensorFlow|RabbitMQ|BullMQ|CircleCI|ArgoCD|DevTools|PRs|APIs|URLs|IDs|PDFs|PNGs|CSVs|GPUs|CPUs|LLMs|JWTs|NPCs|VMs|CVEs|SDKs|UUIDs|README|WhatsApp|OpenTelemetry|CloudFront|CloudFormation|BigQuery|LaunchDarkly|PagerDuty|DataDog|SendGrid|TestFlight|SQLite|LaTeX|FreeRTOS|LoRaWAN|LoRa|WiFi|McAfee|VoIP|TLDR)$/;

function splitName(word: string): string[] {
  if (ONE_WORD.test(word) || word.length <= 4)
    return word
      .toLowerCase()
      .split(/[_$-]+/)
      .filter((part) => part !== "");
  return word
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z]{2,})/g, "$1 $2")
    .split(/[\s_$-]+/)
    .filter((part) => part !== "");
}

function pushWord(part: string, whole: string, words: string[]): void {
  const lower = part.toLowerCase().replaceAll("’", "'");
  const careful = CAREFUL_ABBREVIATIONS.get(lower);
  if (careful !== undefined) {
    const isMeant = words.at(-1) === "the" || (part === whole && part === part.toUpperCase());
    words.push(isMeant ? careful : lower);
    return;
  }
  const written = ABBREVIATIONS.get(lower);
  // POS is not a short "position", but JWT and DB are what they always are.
  const isAcronym = whole.length > 2 && whole === whole.toUpperCase() && written?.[0]?.startsWith(lower) === true;
  if (written === undefined || isAcronym) words.push(lower);
  else words.push(...written);
}
