/** The protocol counts in seconds since 1970. */
export function epochSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1_000);
}
