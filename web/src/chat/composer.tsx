import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { useController } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import { useTabState } from "../storage.ts";

/** On touch screens Enter starts a new line, and focus would open the keyboard. */
const isTouch = window.matchMedia("(pointer: coarse)").matches;

export function Composer({ sessionKey, isRunning }: { sessionKey: string; isRunning: boolean }) {
  const controller = useController();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text = "", setText] = useTabState(`draft:${sessionKey}`);
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
    setText(undefined);
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
          onChange={({ target }) => setText(target.value === "" ? undefined : target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && (
          <Button
            icon="stop"
            className="round stop"
            label="Stop the answer"
            title="Stop (Esc)"
            onClick={() => controller.chat.stop(sessionKey)}
          />
        )}
        <Button icon="send" type="submit" className="round send" label="Send" title="Send (Enter)" disabled={isEmpty} />
      </div>
      <p className="composer-hint">
        <kbd>Enter</kbd> to send, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line, <kbd>/new</kbd> for a new window
      </p>
    </form>
  );
}
