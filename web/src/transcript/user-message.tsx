import { Markdown } from "../markdown/markdown.tsx";
import { clockTime } from "../parts/time.ts";
import { When } from "../parts/when.tsx";
import type { ShownImage } from "./build-items.ts";
import { LongText } from "./long-text.tsx";

interface Props {
  text: string;
  images?: readonly ShownImage[];
  at?: number;
  isCut?: boolean;
}

export function UserMessage({ text, images = [], at, isCut = false }: Props) {
  return (
    <article className="message user" aria-label="You">
      <div className="bubble">
        {text !== "" && <LongText text={text} show={(shown) => <Markdown text={shown} />} />}
        {images.map(({ source }, index) => (
          <img key={index} className="picture" src={source} alt="Sent with the message" />
        ))}
        {isCut && <p className="mark">Cut here: the message is too long to be shown whole.</p>}
      </div>
      {at !== undefined && (
        <p className="message-time">
          <When at={at} format={clockTime} />
        </p>
      )}
    </article>
  );
}
