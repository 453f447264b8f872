const LABEL = 'bounces';

/** The name below a sender domain that leads to the platform's host of return paths. */
export function returnHostOf(domain: string): string {
  return `${LABEL}.${domain}`;
}
