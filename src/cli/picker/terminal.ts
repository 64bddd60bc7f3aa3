/**
 * The terminal in picker mode: raw keys and the alternate screen. It is restored on every exit: a choice, an error, a
 * signal, the end of the process.
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
// Alternate screen, no line wrapping, bracketed paste.
const ENTER = `${ESCAPE}?1049h${ESCAPE}?7l${ESCAPE}?2004h${ESCAPE}2J`;
const LEAVE = `${ESCAPE}?2004l${ESCAPE}?7h${ESCAPE}?25h${ESCAPE}?1049l`;
// Synchronized output: the terminal shows the frame at once.
const BEGIN_FRAME = `${ESCAPE}?2026h`;
const END_FRAME = `${ESCAPE}?2026l`;

/** Without more bytes in this time, an escape byte is the Escape key. */
const ESCAPE_MS = 60;

export function openTerminal(): Terminal {
  const { stdin, stdout } = process;
  let isOpen = true;
  const keyListeners: ((text: string | undefined, key: Key) => void)[] = [];
  const resizeListeners: (() => void)[] = [];
  const onKeypress = (text: string | undefined, key: Key): void => keyListeners.forEach((listen) => listen(text, key));
  const onResize = (): void => resizeListeners.forEach((listen) => listen());
  /** The terminal is gone. */
  const onEnd = (): void => onKeypress(undefined, { name: "escape" });
  /** After a stop (Ctrl-Z) the shell has changed the terminal. */
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
    for (const signal of EXIT_SIGNALS) process.off(signal, onSignal);
    // Synchronous: at exit, buffered output is lost.
    writeSync(stdout.fd, LEAVE);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const onSignal = (signal: (typeof EXIT_SIGNALS)[number]): void => {
    close();
    process.exit(128 + constants.signals[signal]);
  };

  // Node reads only this member; a real readline interface would echo lines.
  emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKeypress);
  stdin.on("end", onEnd);
  stdout.on("resize", onResize);
  process.on("exit", close);
  process.on("SIGCONT", onContinue);
  for (const signal of EXIT_SIGNALS) process.on(signal, onSignal);
  stdout.write(ENTER);
  return {
    size: () => ({ columns: Math.max(20, stdout.columns), rows: Math.max(4, stdout.rows) }),
    draw({ lines, cursor }) {
      if (!isOpen) return;
      // Erase first: after a full line the cursor is still on its last character.
      const body = lines.map((line) => `${ESCAPE}2K${line}`).join("\r\n");
      const place = `${ESCAPE}${cursor.row + 1};${cursor.column + 1}H`;
      stdout.write(`${BEGIN_FRAME}${ESCAPE}?25l${ESCAPE}H${body}${place}${ESCAPE}?25h${END_FRAME}`);
    },
    onKey: (listener) => void keyListeners.push(listener),
    onResize: (listener) => void resizeListeners.push(listener),
    [Symbol.dispose]: close,
  };
}

const EXIT_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
