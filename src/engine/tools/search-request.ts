/** What the search and the thread that it runs in tell each other. */
export interface SearchRequest {
  workspace: string;
  path: string;
  pattern: string;
  isRegex: boolean;
  ignoreCase: boolean;
  maxMatches: number;
}

export type SearchReport =
  | { type: "match"; path: string; line: number; text: string }
  | { type: "done"; files: number; skipped: number; complete: boolean }
  | {
      type: "failed";
      kind: "usage" | "not-found" | "forbidden";
      code: string;
      message: string;
      hint: string | undefined;
    };
