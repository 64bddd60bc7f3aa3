/** What was wrong with a transcript, and where. Reported, never thrown: the rest is still served. */
export interface TranscriptProblem {
  reason: string;
  /** Where the line starts. */
  offset?: number;
  /** Counted from 1; missing where the file was not read from its beginning. */
  line?: number;
  /** The file, where it is another one than the caller named: a parent, an archive, a saved tail. */
  file?: string;
}

export type OnProblem = (problem: TranscriptProblem) => void;

/** A file of nothing but garbage must not fill the memory with reports about it. */
const MAX_LISTED = 1000;

export interface ProblemList {
  /** The first thousand. */
  readonly problems: TranscriptProblem[];
  /** All of them. */
  problemCount: number;
}

export function createProblemList(): ProblemList {
  return { problems: [], problemCount: 0 };
}

export function addProblem(list: ProblemList, problem: TranscriptProblem): void {
  list.problemCount++;
  if (list.problems.length < MAX_LISTED) list.problems.push(problem);
}
