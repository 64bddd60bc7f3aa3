/** From what Node makes of the bytes of a terminal to what the picker understands. */
import type { Key } from "node:readline";
import type { PickerKey } from "./picker-state.ts";

type Command = Exclude<PickerKey["name"], "text">;

const NAMED: Record<string, Command> = {
  up: "up",
  down: "down",
  pageup: "page-up",
  pagedown: "page-down",
  home: "first",
  end: "last",
  backspace: "erase",
  return: "enter",
  enter: "enter",
  tab: "scope",
  escape: "leave",
};

const WITH_CONTROL: Record<string, Command> = {
  p: "up",
  n: "down",
  w: "erase-word",
  u: "erase-all",
  f: "fork",
  y: "show-id",
  a: "scope",
  c: "leave",
  d: "leave",
  g: "leave",
};

/** A key press is nothing when it means nothing here. Within a paste no key is a command. */
export function createKeyReader(): (text: string | undefined, key: Key) => PickerKey | undefined {
  let isPasting = false;
  return (text, key) => {
    if (key.name === "paste-start" || key.name === "paste-end") {
      isPasting = key.name === "paste-start";
      return undefined;
    }
    if (isPasting) return typed(text === "\r" || text === "\n" || text === "\t" ? " " : text);
    const command = key.ctrl === true ? WITH_CONTROL[key.name ?? ""] : NAMED[key.name ?? ""];
    if (command !== undefined) return { name: command };
    return key.ctrl === true || key.meta === true ? undefined : typed(text);
  };
}

/** Text only: no control characters, and nothing of an escape sequence that Node did not know. */
function typed(text: string | undefined): PickerKey | undefined {
  return text === undefined || text === "" || !/^[^\p{Cc}\p{Cs}]+$/u.test(text) ? undefined : { name: "text", text };
}
