import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useController } from "../page-context.ts";
import { SendIcon, StopIcon } from "../parts/icons.tsx";
import { tabStorage } from "../storage.ts";

/** On touch screens Enter starts a new line, and focus would open the keyboard. */
const isTouch = window.matchMedia("(pointer: coarse)").matches;

export function Composer({ sessionKey, isRunning }: { sessionKey: string; isRunning: boolean }) {
  const controller = useController();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(sessionKey);
  const isEmpty = text.trim() === "";

  useLayoutEffect(() => {
    const { current } = field;
    if (current === null) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight}px`;
  }, [text]);
  useEffect(() => {
    if (!isTouch) field.current?.focus();
  }, []);

  const send = (): void => {
    if (isEmpty) return;
    controller.chat.send(sessionKey, text.trim());
    setText("");
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isPlainEnter = event.key === "Enter" && !event.shiftKey && !event.altKey;
    // During IME composition Enter selects a character.
    if (!isPlainEnter || event.nativeEvent.isComposing || (isTouch && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="composer-box">
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder="Message, or / for a command"
          aria-label="Message"
          dir="auto"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && (
          <button
            type="button"
            className="round stop"
            aria-label="Stop the answer"
            title="Stop (Esc)"
            onClick={() => controller.chat.stop(sessionKey)}
          >
            <StopIcon />
          </button>
        )}
        <button type="submit" className="round send" aria-label="Send" title="Send (Enter)" disabled={isEmpty}>
          <SendIcon />
        </button>
      </div>
      <p className="composer-hint">
        <kbd>Enter</kbd> to send, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line, <kbd>/new</kbd> for a new window
      </p>
    </form>
  );
}

/** The draft of each session survives a reload. */
function useDraft(sessionKey: string): [string, (text: string) => void] {
  const name = `draft:${sessionKey}`;
  const [text, setText] = useState(() => tabStorage.read(name) ?? "");
  const change = (next: string): void => {
    setText(next);
    tabStorage.write(name, next === "" ? undefined : next);
  };
  return [text, change];
}
