/** Shared parts of the schema. */
import { z } from "zod";

export const agentIdSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "an agent id consists of a-z, 0-9, _ and -, starts with a letter or digit, and has at most 64 characters",
  );

export const textSchema = z.string().trim().min(1).max(4096);

export const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the value itself");

/** An optional member of a strict object. The description goes into the JSON Schema. */
export function field<T extends z.ZodType>(schema: T, description: string): z.ZodExactOptional<T> {
  return schema.describe(description).exactOptional();
}

export function section<T extends z.ZodRawShape>(
  description: string,
  shape: T,
): z.ZodExactOptional<z.ZodObject<T, z.core.$strict>> {
  return field(z.strictObject(shape), description);
}

/**
 * A section of the file in which every setting with a default is present. Records and lists are replaced as a whole,
 * so their members have no defaults.
 */
export type WithDefaults<T, Defaults> = T extends readonly unknown[]
  ? T
  : string extends keyof T
    ? T
    : T extends object
      ? { [Key in keyof T & keyof Defaults]-?: WithDefaults<Exclude<T[Key], undefined>, Defaults[Key]> } & {
          [Key in Exclude<keyof T, keyof Defaults>]?: T[Key];
        }
      : T;
