/** `2026-11-23T10:00:00.000Z` → `2026-11-23T07:00`, in Chile: as a field for a day and a time holds it. */
export function toLocal(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The reverse; nothing where nothing whole is written. */
export function fromLocal(written: string): string | undefined {
  const date = new Date(written);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
