/** Pieces that several parts of the schema share. Loaded with the schema only. */
import { z } from "zod";

export const agentIdSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "an agent id is made of a-z, 0-9, _ and -, starts with a letter or digit, and has at most 64 characters",
  );

export const textSchema = z.string().trim().min(1).max(4096);

export const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the value itself");
