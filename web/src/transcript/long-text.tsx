/** Shows the beginning of a text that is too long to be read, and the rest when asked. */
import { type ReactNode, useState } from "react";

const SHOWN_CHARACTERS = 12_000;

export function LongText({ text, show }: { text: string; show: (text: string) => ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= SHOWN_CHARACTERS * 1.2) return show(text);
  return (
    <>
      {show(text.slice(0, SHOWN_CHARACTERS).toWellFormed())}
      <button type="button" className="quiet more" onClick={() => setWhole(true)}>
        Show all {text.length.toLocaleString()} characters
      </button>
    </>
  );
}
