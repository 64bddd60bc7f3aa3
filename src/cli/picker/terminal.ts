/**
 * The terminal while the picker has it: raw keys, the alternate screen, frames in one write each. It is
 * given back on every way out: a choice, an error, a signal, the end of the process.
 */
import { writeSync } from "node:fs";
import { constants } from "node:os";
import { type Interface, type Key, emitKeypressEvents } from "node:readline";
import type { Frame, Size } from "./draw-picker.ts";

export interface Terminal extends Disposable {
  size(): Size;
  draw(frame: Frame): void;
  onKey(listener: (text: string | undefined, key: Key) => void): void;
  onResize(listener: () => void): void;
}

const ESCAPE = "\u001b[";
// Alternate screen, no wrapping of lines, pastes marked as such.
const ENTER = `${ESCAPE}?1049h${ESCAPE}?7l${ESCAPE}?2004h${ESCAPE}2J`;
const LEAVE = `${ESCAPE}?2004l${ESCAPE}?7h${ESCAPE}?25h${ESCAPE}?1049l`;
// The terminal shows what comes between these at once, if it knows them.
const TOGETHER = `${ESCAPE}?2026h`;
const SHOW = `${ESCAPE}?2026l`;

/** How long to wait for the rest of an escape sequence before it is the key Escape. */
const ESCAPE_MS = 60;

export function openTerminal(): Terminal {
  const { stdin, stdout } = process;
  let isOpen = true;
  const keyListeners: ((text: string | undefined, key: Key) => void)[] = [];
  const resizeListeners: (() => void)[] = [];
  const onKeypress = (text: string | undefined, key: Key): void => keyListeners.forEach((listen) => listen(text, key));
  const onResize = (): void => resizeListeners.forEach((listen) => listen());
  /** Nobody is there any more. */
  const onEnd = (): void => onKeypress(undefined, { name: "escape" });
  /** A shell that stopped us has used the terminal meanwhile. */
  const onContinue = (): void => {
    stdin.setRawMode(true);
    stdout.write(ENTER);
    onResize();
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off("keypress", onKeypress);
    stdin.off("end", onEnd);
    stdout.off("resize", onResize);
    process.off("exit", close);
    process.off("SIGCONT", onContinue);
    for (const signal of DEADLY) process.off(signal, onSignal);
    // At the end of the process nothing that waits is written any more.
    writeSync(stdout.fd, LEAVE);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const onSignal = (signal: (typeof DEADLY)[number]): void => {
    close();
    process.exit(128 + constants.signals[signal]);
  };

  // Node looks at this one member only; an interface of its own would read and echo lines.
  emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKeypress);
  stdin.on("end", onEnd);
  stdout.on("resize", onResize);
  process.on("exit", close);
  process.on("SIGCONT", onContinue);
  for (const signal of DEADLY) process.on(signal, onSignal);
  stdout.write(ENTER);
  return {
    size: () => ({ columns: Math.max(20, stdout.columns), rows: Math.max(4, stdout.rows) }),
    draw({ lines, cursor }) {
      if (!isOpen) return;
      // Erased before it is written: behind a line that is full the cursor stands on its last character.
      const body = lines.map((line) => `${ESCAPE}2K${line}`).join("\r\n");
      const place = `${ESCAPE}${cursor.row + 1};${cursor.column + 1}H`;
      stdout.write(`${TOGETHER}${ESCAPE}?25l${ESCAPE}H${body}${place}${ESCAPE}?25h${SHOW}`);
    },
    onKey: (listener) => void keyListeners.push(listener),
    onResize: (listener) => void resizeListeners.push(listener),
    [Symbol.dispose]: close,
  };
}

const DEADLY = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
