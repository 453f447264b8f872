/** The values of a statement's `$1…$n`, in the order in which they were added. */
export class Parameters {
  readonly values: unknown[];

  constructor(first: readonly unknown[] = []) {
    this.values = [...first];
  }

  /** Adds a value; returns its place, cast to a type: `$3::timestamptz`. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
