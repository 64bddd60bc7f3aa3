/** A word that announces a secret. */
export type CueKind = "password" | "secret" | "weak" | "code" | "login";

export interface Cue {
  kind: CueKind;
  /** The word itself. */
  start: number;
  end: number;
  /** The name that it is a part of, such as `DB_PASSWORD_2` or `--api-key`. */
  nameStart: number;
  nameEnd: number;
}

/** Where a secret stands. */
export interface Span {
  start: number;
  end: number;
}
