/** What the arguments of several tools have in common. */
import { z } from "zod";

const MAX_QUERY = 500;

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
export const NO_CONTROL = /^[^\u0000-\u001f\u007f]*$/;

export const searchText = z
  .string()
  .trim()
  .min(1)
  .max(MAX_QUERY)
  .regex(NO_CONTROL, "no control characters")
  .describe("What to look for");
