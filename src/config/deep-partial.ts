/** What a file may leave out: everything, except a name's value in a record. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : string extends keyof T
    ? { [Key in keyof T]: DeepPartial<T[Key]> }
    : T extends object
      ? { [Key in keyof T]?: DeepPartial<Exclude<T[Key], undefined>> }
      : T;
