/** Everything that is wrong with the configuration, told at once. */
import { HoldfastError } from "../base/errors.ts";

export interface ConfigProblem {
  /** File, environment variable or flag, as the reader knows it. */
  source: string;
  /** The full path, if it is a file. */
  file?: string;
  message: string;
}

export function invalidConfig(problems: readonly ConfigProblem[], cause?: unknown): HoldfastError {
  const message = problems.map((problem) => `${problem.source}: ${problem.message}`).join("\n");
  return new HoldfastError("usage", "invalid-config", message, {
    hint: "`holdfast config schema` shows every key; nothing was changed.",
    data: { problems },
    cause,
  });
}
