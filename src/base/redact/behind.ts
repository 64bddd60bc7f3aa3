/** Passwords that are known by what stands right before them. */
import { REDACTED } from "./mark.ts";
import { isPlaceholder } from "./value.ts";

export interface Place {
  /** An expression up to where the password begins. */
  before: string;
  /** What such a text has somewhere, and most others have not: quicker to look for. */
  mark: RegExp;
}

/** To the closing quote if one was opened, also before a name (`"name:password"`); else to the next space. */
const PASSWORD = String.raw`(?:(?<=["'][^"'\s]{0,130})[^"'\n]{2,255}(?=["'])|[^\s"'-][^\s"']{1,255})`;

export function createRedaction({ before, mark }: Place): (text: string) => string {
  let expression: RegExp | undefined;
  return (text) => {
    if (!mark.test(text)) return text;
    expression ??= new RegExp(String.raw`(${before}["']?)(${PASSWORD})`, "g");
    return text.replace(expression, (match: string, kept: string, password: string) =>
      isPlaceholder(password) ? match : kept + REDACTED,
    );
  };
}
