/** Values whose kind is pinned and which differ from run to run. */
import { expect } from "vitest";

export const NUMBER = expect.any(Number) as number;
export const TEXT = expect.any(String) as string;
export const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/) as string;
