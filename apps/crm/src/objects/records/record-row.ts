/** A record as a page reads it. */
export interface RecordRow {
  readonly id: string;
  readonly values: Record<string, unknown>;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
}
