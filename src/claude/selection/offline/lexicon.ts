/** The lexicon as an index: which topics a run of words belongs to. Read bit by bit, when first asked. */
import { ABBREVIATIONS } from "./lexicon/abbreviations.ts";
import { COMMERCE, COMMUNICATION, FINANCE, ORGANISATION } from "./lexicon/business.ts";
import { isFiller, wordWeight } from "./lexicon/common-words.ts";
import { CRAFT, HABITS, SYMPTOMS } from "./lexicon/craft.ts";
import { DATABASE, DATAFLOW, FILES } from "./lexicon/data.ts";
import { ACCESSIBILITY, DEVICES, INTERFACE, LANGUAGES_OF_PEOPLE } from "./lexicon/frontend.ts";
import { IDENTITY, SECURITY } from "./lexicon/identity.ts";
import { LEARNING, SCIENCE } from "./lexicon/learning.ts";
import { EMBEDDED, GAMES, GRAPHICS, LANGUAGE_TOOLS } from "./lexicon/machines.ts";
import { DELIVERY, OBSERVABILITY, SYSTEMS } from "./lexicon/operations.ts";
import { ACCESS_SCENES } from "./lexicon/scenes/access.ts";
import { COMMERCE_SCENES } from "./lexicon/scenes/commerce.ts";
import { DATA_SCENES } from "./lexicon/scenes/data.ts";
import { DEVICE_SCENES, LANGUAGE_SCENES } from "./lexicon/scenes/machines.ts";
import { PEOPLE_SCENES } from "./lexicon/scenes/people.ts";
import { LEARNING_SCENES, PLAY_SCENES } from "./lexicon/scenes/play.ts";
import { RUNNING_SCENES } from "./lexicon/scenes/running.ts";
import { SCREEN_SCENES } from "./lexicon/scenes/screens.ts";
import { WORKSHOP_SCENES } from "./lexicon/scenes/workshop.ts";
import type { Topics } from "./lexicon/topics.ts";
import { BACKEND, RESILIENCE } from "./lexicon/web.ts";
import { IRREGULAR_STEMS, stem } from "./stem.ts";
import { termWords } from "./words.ts";

export interface Sense {
  topic: number;
  area: number;
  /** 1, or less for a word that merely hints at the topic. */
  strength: number;
}

interface Term {
  senses: Sense[];
  /** How many words of the text the term takes. */
  length: number;
}

interface Lexicon {
  /** The longest term that starts at `from`. */
  lookUp(stems: readonly string[], from: number): Term | undefined;
  /** How much it means that two words belong to a topic: 1 for a handful of words, towards 0 for a whole trade. */
  closeness(topic: number): number;
  kindOf(area: number): AreaKind;
}

const HINT = 0.45;
/** Topics of so many terms are about one thing. */
const HANDFUL = 40;

/**
 * `craft`: work on the code base, an aspect where a task has another subject. `manner`: never a subject.
 */
type AreaKind = "subject" | "craft" | "manner";

const AREAS: readonly (readonly [Topics, AreaKind?])[] = [
  [IDENTITY],
  [SECURITY],
  [BACKEND],
  [RESILIENCE],
  [DATABASE],
  [DATAFLOW],
  [FILES],
  [INTERFACE],
  [ACCESSIBILITY],
  [LANGUAGES_OF_PEOPLE],
  [DEVICES],
  [DELIVERY],
  [OBSERVABILITY],
  [SYSTEMS],
  [LANGUAGE_TOOLS],
  [EMBEDDED],
  [GRAPHICS],
  [GAMES],
  [LEARNING],
  [SCIENCE],
  [COMMERCE],
  [FINANCE],
  [COMMUNICATION],
  [ORGANISATION],
  [ACCESS_SCENES],
  [COMMERCE_SCENES],
  [PEOPLE_SCENES],
  [RUNNING_SCENES],
  [DATA_SCENES],
  [WORKSHOP_SCENES],
  [SCREEN_SCENES],
  [LANGUAGE_SCENES],
  [DEVICE_SCENES],
  [PLAY_SCENES],
  [LEARNING_SCENES],
  [CRAFT, "craft"],
  [HABITS, "manner"],
  [SYMPTOMS, "manner"],
];

export const AREA_COUNT = AREAS.length;

let built: Lexicon | undefined;

export function lexicon(): Lexicon {
  built ??= open();
  return built;
}

/** Terms whose first words begin alike. They are read when a text first asks for such a word: most texts need few. */
interface Drawer {
  unread: { written: string; topic: number; area: number }[];
  senses: Map<string, Sense[]>;
  /** How many words the longest term has that starts with a word. Most words start no long one. */
  longest: Map<string, number>;
}

function open(): Lexicon {
  const drawers = new Map<string, Drawer>();
  const closeness: number[] = [];
  for (const [area, [topics]] of AREAS.entries()) {
    for (const list of Object.values(topics)) {
      const terms = list.split(",");
      const topic = closeness.push(Math.min(1, Math.sqrt(HANDFUL / terms.length))) - 1;
      for (const term of terms) {
        const written = term.trim();
        const label = drawerOf(written);
        const drawer: Drawer = drawers.get(label) ?? { unread: [], senses: new Map(), longest: new Map() };
        drawer.unread.push({ written, topic, area });
        drawers.set(label, drawer);
      }
    }
  }
  return {
    lookUp: (stems, from) => {
      const first = stems[from] ?? "";
      const drawer = drawers.get(first.slice(0, 2));
      if (drawer === undefined) return undefined;
      readDrawer(drawer);
      for (let length = Math.min(drawer.longest.get(first) ?? 0, stems.length - from); length > 0; length--) {
        const found = drawer.senses.get(length === 1 ? first : stems.slice(from, from + length).join(" "));
        if (found !== undefined) return { senses: found, length };
      }
      return undefined;
    },
    closeness: (topic) => closeness[topic] ?? 0,
    kindOf: (area) => AREAS[area]?.[1] ?? "subject",
  };
}

/** The first letters of a term's first word, once it is written out and stemmed. */
function drawerOf(term: string): string {
  const from = term.startsWith("~") ? 1 : 0;
  const space = term.indexOf(" ");
  const hyphen = term.indexOf("-");
  const to = Math.min(space < 0 ? term.length : space, hyphen < 0 ? term.length : hyphen);
  const word = term.slice(from, to);
  oddStarts ??= readOddStarts();
  return oddStarts.get(word) ?? word.slice(0, 2).toLowerCase();
}

let oddStarts: ReadonlyMap<string, string> | undefined;

/** Stems begin as their words do, but for short forms and irregular words. */
function readOddStarts(): Map<string, string> {
  const starts = new Map<string, string>();
  for (const [short, words] of ABBREVIATIONS) starts.set(short, stem(words[0] ?? short).slice(0, 2));
  for (const [word, stemmed] of IRREGULAR_STEMS)
    if (!stemmed.startsWith(word.slice(0, 2))) starts.set(word, stemmed.slice(0, 2));
  for (const word of ["dies", "lies", "pies", "ties"]) starts.set(word, stem(word).slice(0, 2));
  return starts;
}

function readDrawer(drawer: Drawer): void {
  if (drawer.unread.length === 0) return;
  for (const { written, topic, area } of drawer.unread.splice(0)) addTerm(drawer, written, { topic, area });
}

function addTerm({ senses, longest }: Drawer, written: string, place: { topic: number; area: number }): void {
  const isHint = written.startsWith("~");
  const words = termWords(isHint ? written.slice(1) : written).filter((word) => !isFiller(word));
  const stems = words.map(stem);
  const [first] = stems;
  if (first === undefined) return;
  const key = stems.join(" ");
  const known = senses.get(key);
  const strength = isHint || (words.length === 1 && wordWeight(words[0] ?? "") < 0.2) ? HINT : 1;
  const same = known?.find((sense) => sense.topic === place.topic);
  if (known === undefined) senses.set(key, [{ ...place, strength }]);
  else if (same === undefined) known.push({ ...place, strength });
  else same.strength = Math.max(same.strength, strength);
  longest.set(first, Math.max(longest.get(first) ?? 0, stems.length));
}
